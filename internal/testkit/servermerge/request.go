package servermerge

import (
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// request is a pull request.
type request struct {
	number int
	branch string
	title  string
	from   string // the commit that it was branched from
}

// branchOf returns the branch of the pull request with a number.
func branchOf(number int) string { return fmt.Sprintf("topic%d", number) }

// open makes a branch of some commits from a commit, and pushes it.
func (w *world) open(from string, c change) request {
	r := w.start(from)
	w.work(r, c)
	w.push(r)
	return r
}

// start makes a branch from a commit, without commits.
func (w *world) start(from string) request {
	w.requests++
	r := request{number: w.requests, branch: branchOf(w.requests), title: fmt.Sprintf("Change %d of history %d", w.requests, w.seed)}
	w.note("branch %s", r.branch)
	w.author.Git("checkout", "-q", "-b", r.branch, from)
	r.from = w.author.Git("rev-parse", "HEAD")
	return r
}

// work adds commits to a branch: those of sessions, also with lines of a person, and those of a
// person alone.
func (w *world) work(r request, c change) {
	w.author.Git("checkout", "-q", r.branch)
	w.session(c)
	for range w.random.IntN(3) {
		switch what := w.random.IntN(10); {
		case what < 3:
			w.note("a person's commit:")
			w.person().edit(c)
			w.commitAll("")
		case what < 4 && c.half == 0:
			w.move(c)
		default:
			w.session(c)
		}
	}
}

// move adds a commit of a person or a session that moves lines between files.
func (w *world) move(c change) {
	if w.chance(50) {
		w.note("a person's commit:")
		w.person().move(c)
	} else {
		c.move, c.most = true, 1
		w.turn(c)
	}
	w.commitAll("")
}

// session adds a commit of a session, by a person or by the session's agent.
func (w *world) session(c change) {
	c.most = 3
	if w.chance(20) {
		w.turn(c, func(s *testkit.Session) {
			w.commits++
			s.Bash(fmt.Sprintf("git add -A && git commit -q -m 'Commit %d, by the agent'", w.commits))
		})
		return
	}
	last := w.turn(c)
	if w.chance(20) {
		last = w.turn(c)
	}
	if w.chance(30) {
		h := w.person()
		h.by.session = last.ID
		h.edit(c)
	}
	w.commitAll("")
}

// commitAll commits everything in the author's clone, if there is something.
func (w *world) commitAll(message string) {
	w.author.Git("add", "-A")
	if w.author.TryGit("diff", "--cached", "--quiet").Code == 0 {
		return
	}
	w.commits++
	if message == "" {
		message = fmt.Sprintf("Commit %d", w.commits)
		if w.chance(30) {
			message += "\n\nA text about the commit."
		}
	}
	w.note("commit %d", w.commits)
	w.author.Git("commit", "-q", "-m", message)
}

// push pushes a branch, and with it the checkpoints.
func (w *world) push(r request) {
	w.author.Git("push", "-q", "--force", "origin", r.branch)
}

// messages returns the text that a server proposes for a squash: the messages of all commits.
func (w *world) messages(r request) string {
	var b strings.Builder
	for message := range strings.SplitSeq(w.author.Git("log", "--reverse", "--no-merges", "--format=%B%x00", "main.."+r.branch), "\x00") {
		if message = strings.TrimSpace(message); message != "" {
			fmt.Fprintf(&b, "* %s\n\n", message)
		}
	}
	return strings.TrimSpace(b.String())
}

// description returns a text that an author writes about a pull request.
func (w *world) description(r request) string {
	text := fmt.Sprintf("This is what the change does:\n\n- values of %d\n- nothing else\n", r.number)
	if w.chance(50) {
		text += "\nCo-authored-by: Bob Colleague <bob@example.com>\n"
	}
	return text
}
