package tracking

import (
	"bytes"
	"errors"
	"path"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// MostRenames is the maximum number of files created by a commit, and of pending ones, that
// are compared to find renames.
const MostRenames = 64

// LineSource is a pending file that may be in a commit under another name.
type LineSource struct {
	Path string
	// Base is its blob in the parent, GoneBlob for a new file.
	Base git.OID
	Left git.OID
	// Gone reports whether it is no longer in the worktree: it was moved, not copied.
	Gone bool
}

// SourceLines is an index of sources by line.
type SourceLines struct {
	sources []LineSource
	index   map[string][]lineCount
}

// lineCount is the number of times that a source has a line.
type lineCount struct{ source, count int }

// NewSourceLines reads the sources. One that can't be read has no lines.
func NewSourceLines(sources []LineSource, read func(git.OID) ([]byte, error)) (*SourceLines, error) {
	l := &SourceLines{sources: sources, index: map[string][]lineCount{}}
	for i, from := range sources {
		content, err := read(from.Left)
		if err := IgnoreUncomparable(err); err != nil {
			return nil, err
		}
		if workspace.IsOpaque(content) {
			continue
		}
		for text, count := range countLines(content) {
			l.index[text] = append(l.index[text], lineCount{i, count})
		}
	}
	return l, nil
}

// Closest returns the source that shares the most lines with a file: of equal ones, one with
// the file's name, else the first. It returns false if none shares any.
func (l *SourceLines) Closest(content []byte, name string) (LineSource, bool) {
	found := make([]int, len(l.sources))
	for text, count := range countLines(content) {
		for _, has := range l.index[text] {
			found[has.source] += min(count, has.count)
		}
	}
	best := -1
	for i, n := range found {
		switch {
		case n == 0:
		case best < 0, n > found[best],
			n == found[best] && path.Base(l.sources[i].Path) == name && path.Base(l.sources[best].Path) != name:
			best = i
		}
	}
	if best < 0 {
		return LineSource{}, false
	}
	return l.sources[best], true
}

// IgnoreUncomparable returns nil for the error of a blob that is too large or missing, which
// then counts as one without lines.
func IgnoreUncomparable(err error) error {
	if errors.Is(err, git.ErrMissing) || errors.Is(err, git.ErrTooMuch) {
		return nil
	}
	return err
}

// countLines counts the significant lines of a file, without the white space around them.
func countLines(content []byte) map[string]int {
	lines := map[string]int{}
	for line := range bytes.Lines(content) {
		if text := bytes.TrimSpace(line); attribution.Significant(text) {
			lines[string(text)]++
		}
	}
	return lines
}
