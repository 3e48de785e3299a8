// Package blameaccuracy plays histories with authors known by construction, with the hooks of the
// built program in real repositories, and compares them with the output of `entire blame`. It
// shares no code with the program. docs/blame-accuracy.md has the method and the figures.
package blameaccuracy

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// writer is the writer of a line; the zero value is the person.
type writer struct {
	session  string // its id
	prompt   string // of the turn
	subagent string // its id, if an edit tool of a subagent wrote the line
}

// fact is the known history of a line.
type fact struct {
	writer

	kinds []Kind // how the line was written and changed later
	// mover moved the line to another file last; nil if it has none.
	mover *writer
}

// world is a repository while a history is played in it.
type world struct {
	*testkit.Repo

	random *rand.Rand
	agents []*agent
	facts  map[string]*fact // by the trimmed text of the line
	files  int              // number of created files
	turns  int
	// sessions is the number of sessions so far.
	sessions int
	log      []string // events so far
	// moved are the files with uncommitted moves between them.
	moved map[string]bool
	seed  uint64
	// alone is set if one session works at a time, and the person not in its files in its turn.
	alone bool
	// disturbed is set if turns also end without a stop, others write in turns, and time passes
	// between steps.
	disturbed bool
	// theirs are the files that agents changed in the present turn, mine those that the person did.
	theirs, mine map[string]bool
}

// agent is a session.
type agent struct {
	*testkit.Session

	name, prompt string
	open         bool // a turn is active
	dead         bool // its client was killed
}

// note appends to the log.
func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// chance returns true with a probability of percent.
func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent } //nolint:mnd // percent

// line makes a line with a unique text. It is long enough that git can follow three of them to
// another file.
func (w *world) line(by writer, kinds ...Kind) string {
	n := len(w.facts)
	text := fmt.Sprintf("value%d = compute(first%d, second%d)", n, n%7, n) //nolint:mnd // some variety
	w.facts[text] = &fact{writer: by, kinds: kinds}
	return text
}

// lines makes 1 to most lines. Some are followed by a blank line or a bracket, which aren't
// counted.
func (w *world) lines(most int, by writer, kinds ...Kind) []string {
	var made []string
	for range 1 + w.random.IntN(most) {
		made = append(made, w.line(by, kinds...))
		switch w.random.IntN(8) {
		case 0:
			made = append(made, "")
		case 1:
			made = append(made, "}")
		}
	}
	return made
}

// mark adds a kind to lines.
func (w *world) mark(lines []string, kind Kind) {
	for _, line := range lines {
		if f := w.facts[strings.TrimSpace(line)]; f != nil && !slices.Contains(f.kinds, kind) {
			f.kinds = append(f.kinds, kind)
		}
	}
}

// text returns the lines of a file.
func (w *world) text(path string) []string {
	content := strings.TrimSuffix(w.Read(path), "\n")
	if content == "" {
		return nil
	}
	return strings.Split(content, "\n")
}

// tracked lists the files of the history in the worktree.
func (w *world) tracked() []string {
	var paths []string
	for _, pattern := range []string{"*.src", "*/*.src"} {
		found, err := filepath.Glob(w.Path(pattern))
		if err != nil {
			w.TB.Fatalf("list files: %v", err)
		}
		for _, path := range found {
			rel, err := filepath.Rel(w.Dir, path)
			if err != nil {
				w.TB.Fatalf("list files: %v", err)
			}
			paths = append(paths, rel)
		}
	}
	slices.Sort(paths)
	return paths
}

// file chooses a file with some lines.
func (w *world) file() string {
	return hand{w: w}.file()
}

// file chooses a file with some lines that the writer need not avoid, "" if there is none.
func (h hand) file() string {
	const least = 4
	paths := slices.DeleteFunc(h.w.tracked(), func(p string) bool { return h.avoids[p] || len(h.w.counted(h.w.text(p))) < least })
	if len(paths) == 0 {
		return ""
	}
	return paths[h.w.random.IntN(len(paths))]
}

// newFile returns a name that no file has had.
func (w *world) newFile() string {
	w.files++
	if w.chance(30) {
		return fmt.Sprintf("sub/part%d.src", w.files)
	}
	return fmt.Sprintf("part%d.src", w.files)
}

// counted returns the lines that have a known author.
func (w *world) counted(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return w.facts[strings.TrimSpace(l)] == nil })
}

// pass lets the clock advance, so that an edit of the person is not within a tool call.
func (w *world) pass() {
	const slack = 60 * time.Millisecond
	testkit.Pass(w.TB, w.Env.Get("TMPDIR"), slack)
}
