package servermerge

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// Kind is a way in which a server merges pull requests.
type Kind struct {
	Name string
	// Linked is set if the merged commits name the checkpoints, or are those of the branch.
	Linked bool

	play func(w *world)
}

// Kinds returns all kinds, in the order of the table.
func Kinds() []Kind {
	return []Kind{
		{"fast-forward", true, (*world).fastForward},
		{"merge commit", true, (*world).mergeCommit},
		{"rebase and merge", true, (*world).rebaseMerge},
		{"squash, the messages of the commits in the body", true, func(w *world) { w.squashOne(w.messages) }},
		{"squash, only a title", false, func(w *world) { w.squashOne(nil) }},
		{"squash, another body", false, func(w *world) { w.squashOne(w.description) }},
		{"squash onto a main that has moved", false, (*world).squashOntoMoved},
		{"squash of a branch that merged main", false, (*world).squashMerged},
		{"squash, edited in the server's editor", false, (*world).squashEdited},
		{"landed again after a revert", false, (*world).landAgain},
		{"cherry-pick without ids", false, (*world).pickWithout},
		{"one squash after another", false, (*world).several},
		{"squash of a branch that was squashed before", false, (*world).squashTwice},
		{"merge queue", false, (*world).queue},
		{"stacked branches, merged in order", false, (*world).stack},
		{"two pull requests that touch one file, squashed", false, (*world).twoInOneFile},
		{"squash of a fork", false, (*world).squashFork},
		{"`git am` of a patch mail", false, (*world).patchMail},
		{"subtree", false, (*world).subtree},
		{"files renamed in the merge", false, (*world).renamed},
	}
}

// onServer runs git in the server's clone. Its clock is two seconds ahead, so that no commit of the
// server seems to be as old as the first record.
func (w *world) onServer(args ...string) testkit.Result {
	const ahead = 2 * time.Second
	now := time.Now().Add(ahead).Format(time.RFC3339)
	repo := *w.forge
	repo.Env = repo.Env.With("GIT_AUTHOR_DATE="+now, "GIT_COMMITTER_DATE="+now)
	return repo.TryGit(args...)
}

// serve is onServer for a call that must succeed.
func (w *world) serve(args ...string) string {
	result := w.onServer(args...)
	if result.Code != 0 {
		w.forge.TB.Fatalf("git %q on the server: %s%s\n%s", args, result.Stdout, result.Stderr, strings.Join(w.log, "\n"))
	}
	return strings.TrimSuffix(result.Stdout, "\n")
}

// checkout updates the server's clone, and checks out main.
func (w *world) checkout() {
	w.serve("fetch", "-q", "--prune", "origin")
	w.serve("checkout", "-q", "-f", "-B", "main", "origin/main")
}

// land pushes the server's main, and deletes the branches of pull requests.
func (w *world) land(requests ...request) {
	w.serve("push", "-q", "origin", "main")
	for _, r := range requests {
		w.onServer("push", "-q", "origin", "--delete", r.branch)
	}
}

// commit commits the index of the server's clone as the author of the pull request.
func (w *world) commit(r request, body string) {
	message := fmt.Sprintf("%s (#%d)\n\n%s", r.title, r.number, body)
	w.serve("commit", "-q", "--allow-empty", "--author", w.author.Git("log", "-1", "--format=%an <%ae>", w.base), "-m", message)
	w.note("%s is landed as %s", r.branch, w.serve("rev-parse", "--short", "HEAD"))
}

// squash squashes a commit into the index of the server's clone. Where both sides changed the same
// lines those of the branch are taken.
func (w *world) squash(rev string) {
	if w.onServer("merge", "-q", "--squash", rev).Code == 0 {
		return
	}
	w.serve("reset", "-q", "--hard")
	if w.onServer("merge", "-q", "--squash", "-Xtheirs", rev).Code != 0 {
		resolve(w.forge, rev)
	}
}

// resolve ends the conflicts of a merge that aren't between lines, such as two new names of one file,
// with the files of a commit.
func resolve(repo *testkit.Repo, rev string) {
	for path := range strings.FieldsSeq(repo.Git("diff", "--name-only", "--diff-filter=U")) {
		if repo.TryGit("checkout", "-q", rev, "--", path).Code != 0 {
			repo.Git("rm", "-q", "-f", "--", path)
		}
	}
}

// update merges main into the branch that is checked out in the author's clone. Where both sides
// changed the same lines those of the branch are taken.
func (w *world) update() {
	w.author.Git("fetch", "-q", "origin")
	if w.author.TryGit("merge", "-q", "-m", "Merge main", "origin/main").Code == 0 {
		return
	}
	w.author.Git("merge", "--abort")
	if w.author.TryGit("merge", "-q", "-Xours", "-m", "Merge main", "origin/main").Code != 0 {
		resolve(w.author, "HEAD")
		w.author.Git("commit", "-q", "-m", "Merge main")
	}
}

// landSquashed squashes a pull request onto main.
func (w *world) landSquashed(r request, body string) {
	w.checkout()
	w.squash("origin/" + r.branch)
	w.commit(r, body)
	w.land(r)
}

// moveMain adds a commit of a colleague to main, with a new file and other edits.
func (w *world) moveMain(edits ...change) {
	w.checkout()
	w.note("a colleague on main:")
	w.colleague().create(w.newFile(""))
	for _, c := range edits {
		w.colleague().edit(c)
	}
	w.commits++
	w.serve("add", "-A")
	w.serve("commit", "-q", "--author", "Bob Colleague <bob@example.com>", "-m", fmt.Sprintf("Commit %d, by a colleague", w.commits))
	w.serve("push", "-q", "origin", "main")
}

func (w *world) fastForward() {
	r := w.open("main", change{})
	w.checkout()
	w.serve("merge", "-q", "--ff-only", "origin/"+r.branch)
	w.land(r)
}

func (w *world) mergeCommit() {
	r := w.open("main", change{})
	if w.chance(50) {
		w.moveMain()
	}
	w.checkout()
	message := fmt.Sprintf("Merge pull request #%d from %s\n\n%s", r.number, r.branch, r.title)
	if w.onServer("merge", "-q", "--no-ff", "-m", message, "origin/"+r.branch).Code != 0 {
		w.serve("merge", "--abort")
		w.serve("merge", "-q", "--no-ff", "-Xtheirs", "-m", message, "origin/"+r.branch)
	}
	w.land(r)
}

func (w *world) rebaseMerge() {
	r := w.open("main", change{})
	w.moveMain(change{})
	w.checkout()
	w.serve("checkout", "-q", "-B", "work", "origin/"+r.branch)
	if w.onServer("rebase", "-q", "main").Code != 0 {
		w.serve("rebase", "--abort")
		w.serve("rebase", "-q", "-Xtheirs", "main")
	}
	w.serve("checkout", "-q", "main")
	w.serve("merge", "-q", "--ff-only", "work")
	w.land(r)
}

// squashOne squashes one pull request. body makes the body of its message.
func (w *world) squashOne(body func(request) string) {
	r := w.open("main", change{})
	text := ""
	if body != nil {
		text = body(r)
	}
	w.landSquashed(r, text)
}

func (w *world) squashOntoMoved() {
	r := w.open("main", change{})
	for range 1 + w.random.IntN(2) {
		w.moveMain(change{})
	}
	w.landSquashed(r, "")
}

func (w *world) squashMerged() {
	r := w.open("main", change{})
	w.moveMain(change{})
	w.update()
	if w.chance(70) {
		w.work(r, change{})
	}
	w.push(r)
	w.landSquashed(r, "")
}

// squashEdited has lines that were typed in the server's editor: in a commit of the branch, or when
// the squash was made.
func (w *world) squashEdited() {
	r := w.open("main", change{})
	w.checkout()
	inBranch := w.chance(50)
	if inBranch {
		w.serve("checkout", "-q", "-B", "work", "origin/"+r.branch)
		w.note("in the server's editor:")
		w.colleague().edit(change{})
		w.serve("add", "-A")
		w.serve("commit", "-q", "--allow-empty", "-m", "Apply suggestions from code review")
		w.serve("push", "-q", "origin", "work:"+r.branch)
		w.checkout()
	}
	w.squash("origin/" + r.branch)
	if !inBranch || w.chance(30) {
		w.note("in the server's editor:")
		w.colleague().edit(change{})
		w.serve("add", "-A")
	}
	w.commit(r, "")
	w.land(r)
}

// landAgain squashes a pull request, reverts it, and lands it once more: by another revert, or by a
// new pull request.
func (w *world) landAgain() {
	r := w.open("main", change{})
	w.landSquashed(r, "")
	if w.chance(40) {
		w.moveMain()
	}
	w.checkout()
	landed := w.serve("log", "--format=%H", "-1", "--grep", fmt.Sprintf("(#%d)", r.number))
	w.serve("revert", "--no-edit", landed)
	w.restored[w.serve("rev-parse", "HEAD")] = true
	w.land()
	if w.chance(50) {
		w.serve("revert", "--no-edit", "HEAD")
		w.land()
		return
	}
	w.author.Git("fetch", "-q", "origin")
	again := w.start("origin/main")
	if w.author.TryGit("cherry-pick", "main.."+r.branch).Code != 0 {
		w.author.Git("cherry-pick", "--abort")
		w.author.Git("cherry-pick", "-Xtheirs", "main.."+r.branch)
	}
	w.work(again, change{})
	w.push(again)
	w.landSquashed(again, "")
}

// pickWithout picks the commits of a branch one by one, with messages that name no checkpoint.
func (w *world) pickWithout() {
	r := w.open("main", change{})
	if w.chance(50) {
		w.moveMain()
	}
	w.checkout()
	for commit := range strings.FieldsSeq(w.serve("rev-list", "--reverse", r.from+"..origin/"+r.branch)) {
		if w.onServer("cherry-pick", "-n", commit).Code != 0 {
			w.serve("reset", "-q", "--hard")
			w.serve("cherry-pick", "-n", "-Xtheirs", commit)
		}
		w.serve("commit", "-q", "--allow-empty", "--author", w.serve("log", "-1", "--format=%an <%ae>", commit), "-m", w.serve("log", "-1", "--format=%s", commit))
	}
	w.land(r)
}

// several squashes pull requests, each of which is branched from the main that has the one before.
func (w *world) several() {
	for range 3 {
		w.author.Git("fetch", "-q", "origin")
		w.landSquashed(w.open("origin/main", change{}), "")
	}
}

// squashTwice squashes a branch, and once more after other commits on it.
func (w *world) squashTwice() {
	r := w.open("main", change{})
	w.landSquashed(r, "")
	if w.chance(50) {
		w.update()
	}
	w.work(r, change{})
	w.push(r)
	w.landSquashed(r, "")
}

// queue squashes pull requests of two authors on top of each other on a branch of the server, which
// then becomes main.
func (w *world) queue() {
	first := w.open("main", change{})
	author, sessions := w.author, w.sessions
	w.author = w.clone("second")
	w.author.Write(".entire/settings.local.json", `{"strategy_options": {"push_remote": "origin"}}`)
	w.sessions = w.begun(w.author)
	requests := []request{first, w.open("main", change{dir: "other"})}
	w.author, w.sessions = author, sessions
	if w.chance(50) {
		w.moveMain()
	}
	w.checkout()
	for _, r := range requests {
		w.serve("checkout", "-q", "-b", fmt.Sprintf("queue/main/pr-%d", r.number))
		w.squash("origin/" + r.branch)
		w.commit(r, "")
		w.serve("push", "-q", "origin", "HEAD")
	}
	last := w.serve("rev-parse", "--abbrev-ref", "HEAD")
	w.serve("checkout", "-q", "main")
	w.serve("merge", "-q", "--ff-only", last)
	w.land(requests...)
	for _, r := range requests {
		w.serve("push", "-q", "origin", "--delete", fmt.Sprintf("queue/main/pr-%d", r.number))
	}
}

// stack squashes a branch, and then one that was made on top of it.
func (w *world) stack() {
	lower := w.open("main", change{})
	upper := w.open(lower.branch, change{})
	w.landSquashed(lower, "")
	w.author.Git("checkout", "-q", upper.branch)
	if w.chance(50) {
		w.author.Git("fetch", "-q", "origin")
		w.author.Git("rebase", "-q", "--onto", "origin/main", lower.branch)
	} else {
		w.update()
	}
	if w.chance(30) {
		w.work(upper, change{})
	}
	w.push(upper)
	w.landSquashed(upper, "")
}

func (w *world) twoInOneFile() {
	const long = 16
	var path string
	for _, p := range tracked(w.author, "main") {
		if path == "" || len(text(w.author, p)) > len(text(w.author, path)) {
			path = p
		}
	}
	if len(text(w.author, path)) < long {
		w.author.TB.Fatalf("%s is too short", path)
	}
	first := w.open("main", change{files: []string{path}, half: 1})
	second := w.open("main", change{files: []string{path}, half: 2})
	w.landSquashed(first, "")
	w.landSquashed(second, "")
}

// squashFork squashes a branch that only a fork has.
func (w *world) squashFork() {
	fork := w.author.Path("../fork.git")
	w.author.Git("clone", "-q", "--bare", "--no-local", w.server.Dir, fork)
	w.author.Git("remote", "add", "fork", fork)
	r := w.start("main")
	w.work(r, change{})
	w.author.Git("push", "-q", "fork", r.branch)
	w.checkout()
	w.serve("fetch", "-q", fork, r.branch)
	w.squash("FETCH_HEAD")
	w.commit(r, "")
	w.land()
}

// patchMail applies the commits of a branch from mails, which may have lost the ids.
func (w *world) patchMail() {
	r := w.start("main")
	w.work(r, change{})
	w.push(r)
	mails := w.author.Git("format-patch", "--stdout", "main.."+r.branch) + "\n"
	if w.chance(70) {
		kept := make([]string, 0, strings.Count(mails, "\n"))
		for line := range strings.Lines(mails) {
			if !strings.HasPrefix(line, "Entire-Checkpoint:") {
				kept = append(kept, line)
			}
		}
		mails = strings.Join(kept, "")
	}
	w.checkout()
	path := w.forge.Path("../mails")
	w.forge.Write(path, mails)
	w.serve("am", "-q", path)
	w.land(r)
}

// subtree puts the folder of a branch at another place on main, with a commit of its own, as git
// subtree does. Later commits of the branch are applied there.
func (w *world) subtree() {
	const dir, place = "component", "lib/"
	r := w.start("main")
	w.session(change{dir: dir})
	w.work(r, change{dir: dir})
	w.push(r)
	w.checkout()
	was := w.serve("rev-parse", "origin/"+r.branch+":"+dir)
	w.serve("read-tree", "--prefix="+place, "-u", was)
	w.commit(r, "")
	w.serve("push", "-q", "origin", "main")
	if w.chance(50) {
		w.work(r, change{dir: dir})
		w.push(r)
		w.checkout()
		diff := w.forge.Path("../diff")
		w.forge.Write(diff, w.serve("diff", "--binary", was, "origin/"+r.branch+":"+dir)+"\n")
		w.serve("apply", "--index", "--directory="+place, diff)
		w.commit(r, "")
	}
	w.land(r)
}

// renamed squashes a branch whose files have another name on main, or get one in the squash.
func (w *world) renamed() {
	r := w.open("main", change{})
	rename := func(path string) {
		to := w.newFile("renamed")
		w.note("the server renames %s to %s", path, to)
		w.forge.Write(w.forge.Path(to), "")
		w.serve("mv", "-f", path, to)
	}
	onMain := w.chance(50)
	if onMain {
		w.checkout()
		for _, path := range tracked(w.forge, "HEAD")[:2] {
			rename(path)
		}
		w.serve("commit", "-q", "--author", "Bob Colleague <bob@example.com>", "-m", "Rename files")
		w.serve("push", "-q", "origin", "main")
	}
	w.checkout()
	w.squash("origin/" + r.branch)
	if !onMain || w.chance(30) {
		changed := strings.Fields(w.serve("diff", "--cached", "--name-only", "--diff-filter=AM", "HEAD", "--", "*.src"))
		for i, path := range changed {
			if i == 0 || w.chance(30) {
				rename(path)
			}
		}
	}
	w.commit(r, "")
	w.land(r)
}
