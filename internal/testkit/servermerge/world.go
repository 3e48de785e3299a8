// Package servermerge plays pull requests of recorded sessions that a server without hooks merges,
// and compares the authors of the lines with what the program prints in the author's clone, in the
// same clone without the branch and its objects, and in a colleague's. The author of each line is
// known by construction, and no line occurs twice. The package shares no code with the program, and
// the model never reads its output. docs/rewriting.md has the figures.
package servermerge

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// role is the part that the writer of a line has in the record.
type role int

const (
	// early is a person whose commit is older than the first record.
	early role = iota
	// recorded is a person whose commit was made with the program's hooks.
	recorded
	// unseen is a person whose commit no hook saw: a colleague who doesn't use the program, or the
	// server's editor.
	unseen
	agent
)

// writer is the writer of a line.
type writer struct {
	role
	// session and prompt are those of an agent. A person has the session of whose commit the line is
	// a part.
	session, prompt string
}

func (w writer) String() string {
	switch w.role {
	case early:
		return "a person before the first record"
	case recorded:
		return "a person with hooks"
	case unseen:
		return "a person without hooks"
	default:
		return "session " + w.session[:min(8, len(w.session))] + " " + w.prompt
	}
}

// world is a server with a project, and the clones of its users, while a history is played.
type world struct {
	random *rand.Rand
	seed   uint64

	// author is the clone in which sessions work. server is a bare repository. forge is a clone
	// without hooks, in which the server merges.
	author, server, forge *testkit.Repo

	sessions []*testkit.Session
	prompt   string // the request of the running turn
	writers  map[string]writer
	base     string // main before the pull requests
	files    int    // number of created files
	commits  int
	requests int // number of pull requests
	// restored are the commits that undo another one. Lines that they bring back may be anybody's.
	restored map[string]bool
	log      []string
}

// note appends to the log.
func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// chance returns true with a probability of percent.
func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent } //nolint:mnd // percent

// begin prepares the server and the clones: some files that are older than the first record, and a
// first record on main.
func (w *world) begin() {
	long := time.Now().AddDate(0, 0, -10).Format(time.RFC3339)
	old := *w.author
	old.Env = old.Env.With("GIT_COMMITTER_DATE="+long, "GIT_AUTHOR_DATE="+long)
	old.Git("config", "core.hooksPath", "/dev/null")
	for range 3 {
		w.write(w.author, w.newFile(""), w.lines(16, 22, writer{}))
	}
	old.Git("add", "-A")
	old.Git("commit", "-q", "--amend", "--reset-author", "-m", "The files before the first record")
	old.Git("config", "--unset", "core.hooksPath")

	w.server = w.author.At("../server.git")
	w.author.Git("init", "-q", "--bare", "-b", "main", w.server.Dir)
	w.author.Git("remote", "add", "origin", w.server.Dir)
	w.author.Write(".entire/settings.local.json", `{"strategy_options": {"push_remote": "origin"}}`)
	w.sessions = w.begun(w.author)
	w.turn(change{most: 2})
	w.commitAll("The first record")
	w.author.Git("push", "-q", "-u", "origin", "main")
	w.base = w.author.Git("rev-parse", "main")

	w.forge = w.author.At("../forge")
	w.author.Git("clone", "-q", "--no-local", w.server.Dir, w.forge.Dir)
	for _, setting := range [][2]string{
		{"core.hooksPath", "/dev/null"}, {"user.name", "Forge"}, {"user.email", "noreply@forge.example"}, {"gc.auto", "0"},
	} {
		w.forge.Git("config", setting[0], setting[1])
	}
}

// begun starts two sessions in a clone.
func (w *world) begun(clone *testkit.Repo) (sessions []*testkit.Session) {
	for n := range 2 {
		s := testkit.NewSession(clone, fmt.Sprintf("%s session %d of history %d", clone.Dir, n, w.seed), "")
		s.Start("startup")
		sessions = append(sessions, s)
	}
	return sessions
}

// newLine makes a line with a unique text.
func (w *world) newLine(by writer) string {
	n := len(w.writers)
	text := fmt.Sprintf("value%d = compute(first%d, second%d)", n, n%7, n) //nolint:mnd // some variety
	w.writers[text] = by
	return text
}

// variant makes a line from another one, most of which it repeats.
func (w *world) variant(line string, by writer) string {
	text := fmt.Sprintf("%s + %d", strings.TrimSpace(line), len(w.writers))
	w.writers[text] = by
	return text
}

// lines makes from least to most lines. Some are followed by a blank line or a bracket, which have
// no known author.
func (w *world) lines(least, most int, by writer) (made []string) {
	for range least + w.random.IntN(most-least+1) {
		made = append(made, w.newLine(by))
		switch w.random.IntN(10) {
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

// text returns the lines of a file.
func text(repo *testkit.Repo, path string) []string {
	content := strings.TrimSuffix(repo.Read(path), "\n")
	if content == "" {
		return nil
	}
	return strings.Split(content, "\n")
}

// write writes a file as a person does.
func (w *world) write(repo *testkit.Repo, path string, lines []string) { repo.Write(path, join(lines)) }

func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// tracked lists the files of the history that a commit has.
func tracked(repo *testkit.Repo, rev string) []string {
	all := strings.Split(repo.Git("ls-tree", "-r", "--name-only", rev), "\n")
	return slices.DeleteFunc(all, func(path string) bool { return !strings.HasSuffix(path, ".src") })
}

// counted reports whether a line has a known author.
func (w *world) counted(line string) bool {
	_, known := w.writers[strings.TrimSpace(line)]
	return known
}
