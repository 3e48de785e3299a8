package importaccuracy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// writer is the writer of a line; the zero value is a person.
type writer struct {
	session, prompt string
	// isTied is set if the session files don't show which of two sessions wrote the line.
	isTied bool
}

// isBy reports whether the line is a session's. A session may have a copy that can't be distinguished.
func (w *world) isBy(by writer, session string) bool {
	return by.session == session || session != "" && w.copies[by.session] == session
}

func (w writer) String() string {
	if w.session == "" {
		return "a person"
	}
	return fmt.Sprintf("session %.8s %q", w.session, w.prompt)
}

// world is a repository without the program, while a history is played in it. Time passes only as
// the history says.
type world struct {
	tb     testkit.TB
	repo   *testkit.Repo
	env    testkit.Env // without the time
	random *rand.Rand
	seed   uint64

	now      time.Time
	zone     string // of the person's commits: +0200
	sessions []*testkit.Session
	retired  []*testkit.Session // those that work no more
	// copies are the sessions whose files begin with the lines of another one, by the other one, if both
	// continue.
	copies  map[string]string
	writers map[string]writer // by the trimmed text of the line
	files   int
	turns   int
	commits int
	// carriage is set if lines of files end in CRLF.
	carriage bool
	// from are former places of the repository.
	from []string
	log  []string
}

// note appends to the log.
func (w *world) note(format string, args ...any) {
	w.log = append(w.log, w.now.UTC().Format("01-02 15:04:05 ")+fmt.Sprintf(format, args...))
}

// chance returns true with a probability of percent.
func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent } //nolint:mnd // percent

// pass lets up to most time pass, at least a second.
func (w *world) pass(most time.Duration) {
	w.now = w.now.Add(time.Second + time.Duration(w.random.Int64N(int64(most))))
	env := w.env.With("GIT_COMMITTER_DATE="+w.date(), "GIT_AUTHOR_DATE="+w.date())
	w.repo.Env = env
	for _, s := range w.sessions {
		s.Repo.Env = env
	}
}

func (w *world) date() string { return fmt.Sprintf("%d %s", w.now.Unix(), w.zone) }

// open starts a session in a folder.
func (w *world) open(dir string) *testkit.Session {
	s := testkit.NewSession(w.repo.At(dir), fmt.Sprintf("session %d of %s", len(w.sessions)+len(w.retired), w.repo.Dir), "")
	s.Deaf = true
	s.Transcript.Now = func() time.Time { return w.now }
	w.sessions = append(w.sessions, s)
	return s
}

// begin makes some files of a person, two months ago, and two sessions.
func (w *world) begin() {
	w.now = time.Now().AddDate(0, -2, 0).Truncate(time.Second)
	w.pass(time.Hour)
	for range 3 {
		w.person().create(w.newFile(""))
	}
	w.repo.Write("README.md", "A project.\n")
	w.commit("The first files")
	w.pass(24 * time.Hour) //nolint:mnd // a day
	for range 2 {
		w.open(w.repo.Dir)
	}
}

// retire ends the first n sessions.
func (w *world) retire(n int) {
	w.retired = append(w.retired, w.sessions[:n]...)
	w.sessions = w.sessions[n:]
}

// session chooses one of the sessions.
func (w *world) session() *testkit.Session { return w.sessions[w.random.IntN(len(w.sessions))] }

// newLine makes a line with a unique text.
func (w *world) newLine(by writer) string {
	n := len(w.writers)
	text := fmt.Sprintf(`value%d = compute("first%d", "second%d")`, n, n%7, n) //nolint:mnd // some variety
	w.writers[text] = by
	return text
}

// lines makes lines. Some are followed by a blank line or a bracket, which have no known writer.
func (w *world) lines(least, most int, by writer) (made []string) {
	for range least + w.random.IntN(most-least+1) {
		made = append(made, strings.Repeat("    ", w.random.IntN(3))+w.newLine(by))
		switch w.random.IntN(8) {
		case 0:
			made = append(made, "")
		case 1:
			made = append(made, "}")
		}
	}
	return made
}

// newFile returns a name that no file has had.
func (w *world) newFile(dir string) string {
	w.files++
	return filepath.Join(dir, fmt.Sprintf("part%d.src", w.files))
}

// text returns the lines of a file, without their ends.
func (w *world) text(path string) []string {
	content := strings.ReplaceAll(w.repo.Read(path), "\r\n", "\n")
	if content = strings.TrimSuffix(content, "\n"); content == "" {
		return nil
	}
	return strings.Split(content, "\n")
}

func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// paths lists the files of the worktree below a folder, as paths in the repository.
func (w *world) paths(dir string) []string {
	var paths []string
	err := filepath.WalkDir(filepath.Join(w.repo.Dir, dir), func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".src") {
			rel, _ := filepath.Rel(w.repo.Dir, path)
			paths = append(paths, rel)
		}
		return err
	})
	if err != nil {
		w.tb.Fatalf("list files: %v", err)
	}
	slices.Sort(paths)
	return paths
}

// file chooses a file with some lines.
func (w *world) file(dir string) string {
	const least = 4
	paths := slices.DeleteFunc(w.paths(dir), func(path string) bool { return len(w.text(path)) < least })
	if len(paths) == 0 {
		return ""
	}
	return paths[w.random.IntN(len(paths))]
}

// turn plays a turn of a session.
func (w *world) turn(s *testkit.Session, work func(h hand)) {
	const pause = 30 * time.Minute
	w.pass(pause)
	w.turns++
	prompt := fmt.Sprintf("Request %d: change what computes value %d", w.turns, w.random.IntN(1000)) //nolint:mnd // some variety
	w.note("session %.8s: %s", s.ID, prompt)
	s.Prompt(prompt)
	work(hand{w: w, session: s, by: writer{session: s.ID, prompt: prompt}})
	w.pass(time.Minute)
	s.Say("It is done.")
	s.Stop()
}

// edits plays a turn of some random edits.
func (w *world) edits(s *testkit.Session) {
	w.turn(s, func(h hand) { h.some() })
}

// person returns the person, with an editor.
func (w *world) person() hand { return hand{w: w} }

// commit commits everything, as the person, if there is something.
func (w *world) commit(subject string) {
	w.pass(20 * time.Minute) //nolint:mnd // some time
	w.repo.Git("add", "-A")
	w.commitStaged(subject)
}

// commitStaged commits what is in the index.
func (w *world) commitStaged(subject string) {
	if w.repo.TryGit("diff", "--cached", "--quiet").Code == 0 {
		return
	}
	w.commits++
	if subject == "" {
		subject = fmt.Sprintf("Commit %d of the person", w.commits)
	}
	w.repo.Git("commit", "-q", "-m", subject)
	w.note("%s", w.repo.Git("log", "-1", "--format=commit %h %s"))
}

// commitBy lets the agent commit everything in its turn.
func (w *world) commitBy(s *testkit.Session) {
	w.pass(time.Minute)
	w.commits++
	w.note("the agent commits %d", w.commits)
	top := ""
	if rel, err := filepath.Rel(s.Cwd, w.repo.Dir); err == nil && rel != "." {
		top = " " + rel
	}
	command := fmt.Sprintf("git add -A%s && git commit -m 'Commit %d of the agent'", top, w.commits)
	if w.chance(30) {
		command = fmt.Sprintf("git add -A%s && git commit -q -m \"$(cat <<'EOF'\nCommit %d of the agent\n\nWith a text.\n\nCo-Authored-By: Claude <noreply@anthropic.com>\nEOF\n)\"", top, w.commits)
	}
	s.Bash(command)
}

// forgetOld removes everything that only unreachable commits have.
func (w *world) forgetOld() {
	w.repo.Git("reflog", "expire", "--expire=now", "--all")
	w.repo.Git("gc", "-q", "--prune=now")
	w.note("the unreachable commits are deleted")
}
