package blameaccuracy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// commitAll commits all that there is; false if that is nothing.
func (w *world) commitAll() bool {
	w.Git("add", "-A")
	if w.TryGit("diff", "--cached", "--quiet").Code == 0 {
		return false
	}
	w.note("commit of all")
	clear(w.moved)
	w.Git("commit", "-q", "-m", fmt.Sprintf("All of it %d", len(w.log)))
	return true
}

// commitSome commits some files, or some hunks as git add -p does.
func (w *world) commitSome() {
	w.Git("add", "-N", ".")
	changed := strings.Fields(w.Git("diff", "--name-only", "--no-renames", "HEAD", "--", "*.src"))
	if len(changed) == 0 {
		return
	}
	w.note("commit of a part of %s", strings.Join(changed, " "))
	w.Git("reset", "-q")
	together := w.chance(50) // a move is committed whole
	for _, path := range changed {
		switch {
		case !w.moved[path] && w.chance(60):
			w.stage(path)
		case w.moved[path] && together:
			w.note("  %s, of a move", path)
			w.Git("add", "-A", "--", path)
		}
	}
	if together {
		clear(w.moved)
	}
	if w.TryGit("diff", "--cached", "--quiet").Code == 0 {
		return
	}
	w.Git("commit", "-q", "-m", fmt.Sprintf("A part of it %d", len(w.log)))
	w.markCommits("HEAD~1..HEAD", CommittedInPart)
}

// stage stages a file, or some of its hunks.
func (w *world) stage(path string) {
	patch := w.Git("diff", "-U0", "--no-renames", "--", path)
	head, rest, ok := strings.Cut(patch, "\n@@ ")
	if !ok || w.chance(50) || strings.Contains(head, "deleted file") || strings.Contains(head, "new file") {
		w.Git("add", "-A", "--", path)
		w.note("  %s", path)
		return
	}
	var chosen []string
	hunks := strings.Split(rest, "\n@@ ")
	for _, hunk := range hunks {
		if w.chance(50) {
			chosen = append(chosen, hunk)
		}
	}
	w.note("  %d of %d hunks of %s", len(chosen), len(hunks), path)
	if len(chosen) > 0 {
		w.GitInput(head+"\n@@ "+strings.Join(chosen, "\n@@ ")+"\n", "apply", "--cached", "--unidiff-zero", "-")
	}
}

// amend adds more to the last commit.
func (w *world) amend() {
	if !w.commitAll() {
		return
	}
	w.work()
	w.Git("add", "-A")
	clear(w.moved)
	w.note("amend")
	w.Git("commit", "-q", "--amend", "--no-edit", "--allow-empty")
	w.markCommits("HEAD~1..HEAD", Amended)
}

// reword gives the last commit another message.
func (w *world) reword() {
	if !w.commitAll() {
		return
	}
	w.note("reword")
	w.Git("commit", "-q", "--amend", "-m", fmt.Sprintf("In other words %d", len(w.log)))
	w.markCommits("HEAD~1..HEAD", Reworded)
}

// topic makes a branch with so many commits, and leaves the worktree on it.
func (w *world) topic(commits int) (name string) {
	w.commitAll()
	name = fmt.Sprintf("topic%d", len(w.log))
	w.note("branch %s", name)
	w.Git("checkout", "-q", "-b", name)
	for range commits {
		w.work()
		w.commitAll()
	}
	return name
}

// meanwhile lets the person commit something on main.
func (w *world) meanwhile() {
	w.Git("checkout", "-q", "main")
	w.pass()
	if w.chance(60) {
		w.note("meanwhile on main:")
		w.create(w.person())
		w.commitAll()
	}
	w.pass()
}

// try runs a git operation that may stop at a conflict; then it is given up.
func (w *world) try(args ...string) bool {
	w.note("git %s", strings.Join(args, " "))
	if w.TryGit(args...).Code == 0 {
		return true
	}
	w.note("given up")
	for _, what := range []string{"rebase", "cherry-pick", "revert"} {
		w.TryGit(what, "--abort")
	}
	w.Git("reset", "-q", "--hard")
	return false
}

// squash makes one commit of a branch.
func (w *world) squash() {
	name := w.topic(2)
	w.meanwhile()
	if !w.try("merge", "-q", "--squash", name) || w.TryGit("diff", "--cached", "--quiet").Code == 0 {
		return
	}
	if w.chance(50) {
		w.Git("commit", "-q", "--no-edit")
	} else {
		w.Git("commit", "-q", "-m", "Squashed "+name)
	}
	w.markCommits("HEAD~1..HEAD", SquashedByMerge)
}

// fixup folds the last commit into the one before.
func (w *world) fixup() {
	name := w.topic(2)
	w.Git("checkout", "-q", "main")
	if w.Git("rev-list", "--count", "main.."+name) != "2" {
		w.try("merge", "-q", "--ff-only", name)
		return
	}
	w.Git("merge", "-q", "--ff-only", name)
	if w.try("-c", "sequence.editor=sed -i 2s/^pick/fixup/", "rebase", "-q", "-i", "HEAD~2") {
		w.markCommits("HEAD~1..HEAD", SquashedByRebase)
	}
}

// rebase puts a branch on top of main.
func (w *world) rebase() {
	name := w.topic(2)
	w.meanwhile()
	w.Git("checkout", "-q", name)
	done := w.try("rebase", "-q", "main")
	w.Git("checkout", "-q", "main")
	if done {
		w.Git("merge", "-q", "--ff-only", name)
		if count := w.Git("rev-list", "--count", "ORIG_HEAD..main"); count != "0" {
			w.markCommits("ORIG_HEAD..main", Rebased)
		}
	}
}

// cherryPick takes the last commit of a branch.
func (w *world) cherryPick() {
	name := w.topic(1)
	w.meanwhile()
	if w.Git("rev-list", "--count", "main.."+name) == "1" && w.try("cherry-pick", name) {
		w.markCommits("HEAD~1..HEAD", Picked)
	}
}

// revert takes the last commit back. Lines that it brings back are the person's, who
// committed them.
func (w *world) revert() {
	w.commitAll()
	before := w.present()
	if !w.try("revert", "--no-edit", "HEAD") {
		return
	}
	for _, line := range slices.Sorted(maps.Keys(w.present())) {
		if !before[line] {
			w.facts[line] = &fact{kinds: []Kind{BroughtBack}}
		}
	}
}

// present are the lines of the worktree.
func (w *world) present() map[string]bool {
	lines := map[string]bool{}
	for _, path := range w.tracked() {
		for _, line := range w.counted(w.text(path)) {
			lines[strings.TrimSpace(line)] = true
		}
	}
	return lines
}
