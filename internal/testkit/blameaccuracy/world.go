// Package blameaccuracy plays histories whose authors are known by construction, with the
// hooks of the built program in real repositories, and compares them with what `entire
// blame` prints. It shares no code with the program. docs/blame-accuracy.md has the method
// and the figures.
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

// writer is who wrote a line; the zero one is the person.
type writer struct {
	session  string // its id
	prompt   string // of the turn
	subagent string // its id, if an edit tool of a subagent wrote the line
}

// fact is what is known of a line.
type fact struct {
	writer

	kinds []Kind // how it was written, and what happened to it since
	// mover is who moved the line to another file last, nil if nobody did.
	mover *writer
}

// world is a repository on its way through a history.
type world struct {
	*testkit.Repo

	random *rand.Rand
	agents []*agent
	facts  map[string]*fact // by the text of the line, without white space around it
	files  int              // how many were made
	turns  int
	log    []string // what was done
	// moved are the files between which something was moved since they were committed.
	moved map[string]bool
}

// agent is a session.
type agent struct {
	*testkit.Session

	name, prompt string
	open         bool // a turn is under way
}

// note adds to the log.
func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// chance reports true in so many of a hundred cases.
func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent } //nolint:mnd // percent

// line makes a line whose text no other line ever has. It is long enough for git to follow
// three of them to another file.
func (w *world) line(by writer, kinds ...Kind) string {
	n := len(w.facts)
	text := fmt.Sprintf("value%d = compute(first%d, second%d)", n, n%7, n) //nolint:mnd // some variety
	w.facts[text] = &fact{writer: by, kinds: kinds}
	return text
}

// lines makes up to most lines, at least one; of some of them blanks and brackets, which
// aren't counted, follow.
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

// tracked lists the files of the worktree that the history is about.
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

// file chooses one with some lines.
func (w *world) file() string {
	const least = 4
	paths := slices.DeleteFunc(w.tracked(), func(p string) bool { return len(w.text(p)) < least })
	return paths[w.random.IntN(len(paths))]
}

// newFile names a file that was never there.
func (w *world) newFile() string {
	w.files++
	if w.chance(30) {
		return fmt.Sprintf("sub/part%d.src", w.files)
	}
	return fmt.Sprintf("part%d.src", w.files)
}

// counted returns the lines of a text whose author is known.
func (w *world) counted(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return w.facts[strings.TrimSpace(l)] == nil })
}

// pass lets the clock go on, so that what a person does is in no call of a tool.
func (w *world) pass() {
	const slack = 60 * time.Millisecond
	testkit.Pass(w.TB, w.Env.Get("TMPDIR"), slack)
}
