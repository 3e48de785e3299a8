package importaccuracy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// Kind is a way in which sessions work and their work gets into the history.
type Kind struct {
	Name string
	play func(*world)
}

const day = 24 * time.Hour

// Kinds returns the kinds of histories, in the order of the table.
func Kinds() []Kind {
	return []Kind{
		{Name: "committed by the person", play: (*world).byPerson},
		{Name: "committed by the agent", play: (*world).byAgent},
		{Name: "several sessions in one commit", play: (*world).several},
		{Name: "one session in several commits", play: (*world).oneInMany},
		{Name: "amended", play: (*world).amended},
		{Name: "rebased onto other work", play: (*world).rebased},
		{Name: "squashed by a server", play: (*world).squashed},
		{Name: "cherry-picked", play: (*world).picked},
		{Name: "committed in part", play: (*world).inPart},
		{Name: "with lines of a person", play: (*world).mixed},
		{Name: "formatted before the commit", play: func(w *world) { w.formatted(false) }},
		{Name: "formatted later", play: func(w *world) { w.formatted(true) }},
		{Name: "files renamed, blocks moved", play: (*world).moved},
		{Name: "whole files written again", play: (*world).whole},
		{Name: "undone", play: (*world).undone},
		{Name: "refused and failed edits", play: (*world).refused},
		{Name: "shell commands", play: (*world).shell},
		{Name: "subagents", play: (*world).subagents},
		{Name: "the same lines by two sessions", play: (*world).tied},
		{Name: "continued in another file", play: (*world).continued},
		{Name: "other time zones", play: (*world).zones},
		{Name: "CRLF", play: (*world).carriageReturns},
		{Name: "in a subfolder", play: (*world).subfolder},
		{Name: "in a worktree", play: (*world).worktree},
		{Name: "in a folder that moved", play: (*world).folderMoved},
		{Name: "copied from another repository", play: (*world).elsewhere},
	}
}

// Play plays a history of a kind in a repository with one commit, without the program, imports the
// sessions, and compares.
func Play(repo *testkit.Repo, kind Kind, seed uint64) Result {
	w := newWorld(repo, kind.Name, seed)
	w.begin()
	kind.play(w)
	w.endSessions()
	c := comparison{world: w, result: Result{Name: kind.Name}}
	c.compare()
	c.result.Log = w.log
	return c.result
}

func (w *world) byPerson() {
	for range 4 {
		s := w.session()
		w.edits(s)
		if w.chance(40) {
			w.edits(s)
		}
		if w.chance(30) {
			w.pass(3 * day)
		}
		w.commit("")
	}
}

func (w *world) byAgent() {
	for range 4 {
		s := w.session()
		if w.chance(30) {
			w.edits(s)
		}
		w.turn(s, func(h hand) {
			h.some()
			w.commitBy(s)
			if w.chance(20) {
				h.some()
				w.commitBy(s)
			}
		})
	}
	w.commit("")
}

func (w *world) several() {
	w.open(w.repo.Dir)
	for range 2 {
		for _, s := range w.sessions {
			if w.chance(80) {
				w.edits(s)
			}
		}
		w.commit("")
	}
}

func (w *world) oneInMany() {
	s := w.session()
	for range 5 {
		w.edits(s)
		w.commit("")
		if w.chance(30) {
			w.pass(2 * day)
		}
	}
}

func (w *world) amended() {
	for range 3 {
		s := w.session()
		byAgent := w.chance(60)
		w.turn(s, func(h hand) {
			h.some()
			if byAgent {
				w.commitBy(s)
			}
		})
		if !byAgent {
			w.commit("")
		}
		switch w.random.IntN(3) {
		case 0:
			w.edits(w.session())
		case 1:
			w.person().some()
		}
		w.pass(time.Hour)
		w.repo.Git("add", "-A")
		w.repo.Git("commit", "-q", "--amend", "-m", fmt.Sprintf("In other words %d", w.commits))
		w.note("amend")
	}
	if w.chance(50) {
		w.forgetOld()
	}
}

// topic plays commits of sessions and a person on a new branch.
func (w *world) topic(name string) {
	w.repo.Git("checkout", "-q", "-b", name)
	for range 2 + w.random.IntN(2) {
		s := w.session()
		if w.chance(50) {
			w.turn(s, func(h hand) {
				h.some()
				w.commitBy(s)
			})
			continue
		}
		w.edits(s)
		if w.chance(30) {
			w.person().edit()
		}
		w.commit("")
	}
}

// onMain adds a commit of a person to main, with a new file.
func (w *world) onMain() {
	w.repo.Git("checkout", "-q", "main")
	w.person().create(w.newFile("other"))
	w.commit("")
}

func (w *world) rebased() {
	w.topic("topic")
	w.onMain()
	w.pass(day)
	w.repo.Git("checkout", "-q", "topic")
	w.repo.Git("rebase", "-q", "main")
	w.repo.Git("checkout", "-q", "main")
	w.repo.Git("merge", "-q", "--ff-only", "topic")
	w.repo.Git("branch", "-q", "-D", "topic")
	if w.chance(50) {
		w.forgetOld()
	}
}

func (w *world) squashed() {
	for n := range 2 {
		name := fmt.Sprintf("topic%d", n)
		w.topic(name)
		w.onMain()
		w.pass(2 * day)
		w.repo.Git("merge", "-q", "--squash", name)
		server := *w.repo
		server.Env = server.Env.With("GIT_COMMITTER_NAME=Forge", "GIT_COMMITTER_EMAIL=noreply@forge.example")
		server.Git("commit", "-q", "-m", fmt.Sprintf("Change of %s (#%d)\n\n* Commit 1\n\n* Commit 2", name, n))
		w.note("squashed")
		w.repo.Git("branch", "-q", "-D", name)
	}
	if w.chance(70) {
		w.forgetOld()
	}
}

func (w *world) picked() {
	w.topic("topic")
	w.onMain()
	w.pass(day)
	w.repo.Git("cherry-pick", "main..topic")
	w.note("cherry-picked")
	if w.chance(50) {
		w.repo.Git("branch", "-q", "-D", "topic")
		w.forgetOld()
	}
}

// inPart commits some files or the first change of each file, and the rest later.
func (w *world) inPart() {
	for range 2 {
		w.edits(w.session())
		w.edits(w.session())
		w.edits(w.session())
		w.pass(time.Hour)
		changed := strings.Fields(w.repo.Git("diff", "--name-only"))
		if len(changed) > 0 {
			if w.chance(50) {
				w.repo.Git("add", changed[0])
			} else {
				w.stageFirstHunk(changed[0])
			}
			w.commitStaged("")
		}
		w.pass(2 * day)
		w.commit("")
	}
}

// stageFirstHunk stages the first change of a file.
func (w *world) stageFirstHunk(path string) {
	diff := w.repo.Git("diff", "-U0", "--", path) + "\n"
	parts := strings.Split(diff, "\n@@ ")
	w.repo.GitInput(strings.TrimSuffix(parts[0]+"\n@@ "+parts[1], "\n")+"\n", "apply", "--cached", "--unidiff-zero", "-")
}

func (w *world) mixed() {
	for range 4 {
		w.edits(w.session())
		w.pass(time.Hour)
		w.person().some()
		if w.chance(30) {
			w.edits(w.session())
		}
		w.commit("")
		if w.chance(40) {
			w.person().some()
			w.commit("")
		}
	}
}

// formatted lets a formatter change the white space and the quotes of all files.
func (w *world) formatted(later bool) {
	for range 3 {
		w.edits(w.session())
		if later {
			w.commit("")
			w.pass(2 * day)
		}
		for _, path := range w.paths("") {
			lines := w.text(path)
			for i, line := range lines {
				by, isKnown := w.writers[strings.TrimSpace(line)]
				lines[i] = "\t" + strings.ReplaceAll(strings.TrimSpace(line), `"`, "'")
				if strings.TrimSpace(line) == "" {
					lines[i] = ""
				}
				if isKnown {
					w.writers[strings.TrimSpace(lines[i])] = by
				}
			}
			w.repo.Write(path, join(lines))
		}
		w.note("formatted")
		w.commit("Format the files")
	}
}

func (w *world) moved() {
	for n := range 3 {
		w.edits(w.session())
		w.edits(w.session())
		if w.chance(50) {
			w.commit("")
		}
		path := w.file("")
		to := fmt.Sprintf("moved/part%d.src", n)
		command := "mkdir -p moved && git mv -f " + path + " " + to
		if w.repo.TryGit("ls-files", "--error-unmatch", path).Code != 0 {
			command = "mkdir -p moved && mv " + path + " " + to
		}
		if w.chance(50) {
			w.turn(w.session(), func(h hand) { h.run(command) })
		} else {
			w.pass(time.Hour)
			w.repo.Sh(command)
		}
		w.note("%s", command)
		w.commit("")
		w.edits(w.session())
		w.commit("")
	}
}

func (w *world) whole() {
	for range 5 {
		w.turn(w.session(), func(h hand) {
			h.whole, h.shell = true, w.chance(20)
			h.some()
		})
		if w.chance(40) {
			w.person().edit()
		}
		if w.chance(60) {
			w.commit("")
		}
	}
	w.commit("")
}

// undone restores files after a session's edit, by the session or the person. Some of the lines are
// written later by another session.
func (w *world) undone() {
	for range 3 {
		first, second := w.sessions[0], w.sessions[1]
		path := w.file("")
		old := w.text(path)
		at := w.random.IntN(len(old))
		var lines []string
		w.turn(first, func(h hand) {
			lines = w.lines(3, 5, h.by)
			h.replace(path, at, at, lines)
		})
		if w.chance(50) {
			w.turn(first, func(h hand) { h.replace(path, at, at+len(lines), nil) })
		} else {
			w.pass(time.Hour)
			w.repo.Git("checkout", "-q", "--", path)
			w.note("the person restores %s", path)
		}
		w.person().edit()
		w.commit("")
		if w.chance(50) {
			w.pass(3 * day)
			w.turn(second, func(h hand) {
				for _, line := range lines {
					if _, isKnown := w.writers[strings.TrimSpace(line)]; isKnown {
						w.writers[strings.TrimSpace(line)] = h.by
					}
				}
				h.replace(w.file(""), 0, 0, lines)
			})
		} else {
			w.edits(second)
		}
		w.commit("")
	}
}

// refused has edits that the person refuses and then types otherwise, and edits that fail.
func (w *world) refused() {
	for range 3 {
		w.turn(w.session(), func(h hand) {
			path := w.file("")
			old := w.text(path)
			lines := w.lines(3, 4, writer{})
			h.session.Refuse(h.w.repo.Path(path), join(old[:1]), join(append(lines, old[0])))
			if w.chance(70) {
				w.pass(time.Minute)
				w.person().replace(path, 0, 0, lines)
			}
			h.some()
		})
		w.commit("")
	}
}

func (w *world) shell() {
	for range 5 {
		w.turn(w.session(), func(h hand) {
			h.shell = true
			h.some()
			if w.chance(20) {
				w.commitBy(h.session)
			}
		})
		w.commit("")
	}
}

func (w *world) subagents() {
	for n := range 3 {
		w.turn(w.session(), func(h hand) {
			helper := h.session.Subagent(fmt.Sprintf("helper %d", n), "Help with it", "")
			own := h
			own.session = helper.Session
			own.some()
			helper.Stop()
			helper.Done()
			if w.chance(40) {
				h.some()
			}
		})
		w.commit("")
	}
}

// tied lets a session write the whole of a file that another session has just written.
func (w *world) tied() {
	for range 3 {
		path := w.newFile("")
		var content string
		w.turn(w.sessions[0], func(h hand) {
			h.by.isTied = true
			lines := w.lines(5, 9, h.by)
			content = join(lines)
			h.replace(path, 0, 0, lines)
		})
		w.turn(w.sessions[1], func(h hand) { h.session.Write(w.repo.Path(path), content) })
		w.commit("")
		w.edits(w.session())
		w.commit("")
	}
}

// continued copies the lines of a session into the file of a new one, which continues it. The first
// one may continue, too.
func (w *world) continued() {
	first := w.session()
	w.edits(first)
	w.edits(first)
	if w.chance(50) {
		w.commit("")
	}
	w.pass(day)
	second := w.open(w.repo.Dir)
	for _, line := range first.Transcript.Lines() {
		second.Transcript.Raw(strings.ReplaceAll(line, `"sessionId":"`+first.ID+`"`, `"sessionId":"`+second.ID+`"`) + "\n")
	}
	w.note("session %.8s continues %.8s", second.ID, first.ID)
	w.edits(second)
	w.commit("")
	w.edits(second)
	if w.chance(30) {
		w.copies[first.ID] = second.ID
		w.edits(first)
	}
	w.commit("")
}

func (w *world) zones() {
	for range 4 {
		w.zone = []string{"+1400", "-1100", "+0530", "+0000"}[w.random.IntN(4)]
		w.edits(w.session())
		w.commit("")
	}
}

func (w *world) carriageReturns() {
	w.carriage = true
	for _, path := range w.paths("") {
		w.repo.Write(path, strings.ReplaceAll(w.repo.Read(path), "\n", "\r\n"))
	}
	w.commit("Other ends of lines")
	w.byPerson()
	w.byAgent()
}

func (w *world) subfolder() {
	w.person().create(w.newFile("sub"))
	w.commit("")
	s := w.open(filepath.Join(w.repo.Dir, "sub"))
	for range 4 {
		byAgent := w.chance(40)
		w.turn(s, func(h hand) {
			h.shell = w.chance(40)
			h.dir = []string{"", "sub"}[w.random.IntN(2)]
			h.some()
			if byAgent {
				w.commitBy(s)
			}
		})
		w.commit("")
	}
}

// worktree plays sessions in a linked worktree, which is removed.
func (w *world) worktree() {
	main := w.repo
	dir := filepath.Join(filepath.Dir(main.Dir), "linked")
	main.Git("worktree", "add", "-q", "-b", "topic", dir)
	w.repo = main.At(dir)
	s := w.open(dir)
	for range 3 {
		byAgent := w.chance(50)
		w.turn(s, func(h hand) {
			h.shell = w.chance(30)
			h.some()
			if byAgent {
				w.commitBy(s)
			}
		})
		w.commit("")
	}
	w.repo = main
	w.pass(time.Hour)
	if w.chance(50) {
		w.repo.Git("merge", "-q", "--ff-only", "topic")
	} else {
		w.repo.Git("merge", "-q", "--squash", "topic")
		w.repo.Git("commit", "-q", "-m", "The whole topic")
	}
	if w.chance(60) {
		w.repo.Git("worktree", "remove", "--force", dir)
		w.from = append(w.from, dir)
		w.note("the worktree is removed")
	}
}

func (w *world) folderMoved() {
	w.byPerson()
	w.byAgent()
	to := filepath.Join(filepath.Dir(w.repo.Dir), "new place", "project")
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		w.tb.Fatalf("make a folder: %v", err)
	}
	if err := os.Rename(w.repo.Dir, to); err != nil {
		w.tb.Fatalf("move the repository: %v", err)
	}
	w.note("the folder moves")
	w.from = append(w.from, w.repo.Dir)
	w.repo.Dir = to
	w.retire(2) //nolint:mnd // those of the former place
	w.open(to)
	w.byPerson()
}

// elsewhere copies files into the repository that a session wrote in another one.
func (w *world) elsewhere() {
	main := w.repo
	other := main.At("../template")
	main.Git("clone", "-q", main.Dir, other.Dir)
	w.repo = other
	s := w.open(other.Dir)
	path := w.newFile("")
	w.turn(s, func(h hand) {
		h.by = writer{} // a person brings them
		h.create(path)
		h.some()
	})
	files := w.paths("")
	texts := make([]string, len(files))
	for i, file := range files {
		texts[i] = other.Read(file)
	}
	w.repo = main
	w.retired, w.sessions = append(w.retired, s), w.sessions[:2]
	for i, file := range files {
		main.Write(file, texts[i])
	}
	w.commit("")
	w.byPerson()
}
