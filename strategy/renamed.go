package strategy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// mostRenames is how many of the files that a commit creates, and how many
// pending ones, are compared to find what was renamed.
const mostRenames = 64

// source is a pending file that may be in a commit under another name.
type source struct {
	path string
	// base is what the parent has of it, goneBlob for a new file.
	base git.OID
	left git.OID
	// gone: it is no longer in the worktree, so that it was moved, not copied.
	gone bool
}

// addRenamed adds to the share the files that the commit creates under a name
// that the session doesn't know, and that are pending under another: with the
// same content, or by their lines. What is no longer under the old name was
// renamed, and judged as if it had kept its name; of a copy, or a part that was
// split off, at least half of the lines must be the session's.
func (c *created) addRenamed(ctx context.Context, s *session.State, share *Share) error {
	unknown := c.unknownFiles(share)
	if len(unknown) == 0 || len(s.FilesTouched) == 0 {
		return nil
	}
	sources, err := c.sources(ctx, s)
	if err != nil || len(sources) == 0 {
		return err
	}
	same := make(map[git.OID]string, len(sources))
	for _, from := range slices.Backward(sources) { // the first one counts
		same[from.left] = from.path
	}
	var found []Rename
	var rest []string
	for _, p := range unknown {
		if from, ok := same[c.changes[p].New]; ok {
			found = append(found, Rename{From: session.Path(from), To: session.Path(p)})
		} else {
			rest = append(rest, p)
		}
	}
	similar, err := c.similar(ctx, s, rest, sources)
	found = append(found, similar...)
	for _, m := range found {
		share.Files = append(share.Files, string(m.To))
	}
	share.Renamed = found
	slices.Sort(share.Files)
	slices.SortFunc(share.Renamed, func(a, b Rename) int { return cmp.Compare(a.To, b.To) })
	return err
}

// similar finds the files that have lines of a source.
func (c *created) similar(ctx context.Context, s *session.State, paths []string, sources []source) ([]Rename, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	read := func(blob git.OID) ([]byte, error) { return c.read(ctx, blob) }
	lines, err := newSourceLines(sources[:min(len(sources), mostRenames)], read)
	if err != nil {
		return nil, err
	}
	var found []Rename
	for _, p := range paths[:min(len(paths), mostRenames)] {
		from, ok, err := c.renamedFrom(ctx, s, p, lines)
		if err != nil {
			return found, err
		}
		if ok {
			found = append(found, Rename{From: session.Path(from), To: session.Path(p)})
		}
	}
	return found, nil
}

// unknownFiles are the files that the commit creates and no session has pending,
// in order. The share's files are sorted.
func (c *created) unknownFiles(share *Share) []string {
	var unknown []string
	for p, change := range c.changes {
		pending := func(s *session.State) bool { return among(s.FilesTouched, p) }
		if change.OldMode == 0 && isBlob(change.NewMode) && !among(share.Files, p) && !slices.ContainsFunc(c.states, pending) {
			unknown = append(unknown, p)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// sources are the session's pending files that the parent doesn't have, and
// those that the commit removes; those that are gone first.
func (c *created) sources(ctx context.Context, s *session.State) ([]source, error) {
	head, _, err := c.r.head(ctx)
	if err != nil {
		return nil, err
	}
	empty := c.r.Repo.HashBlob(nil)
	var sources []source
	for _, p := range s.FilesTouched {
		from := source{path: p}
		var found bool
		if from.left, found, err = c.left(ctx, s, p); err != nil {
			return nil, err
		}
		if !found || from.left == empty {
			continue
		}
		change, committed := c.changes[p]
		switch {
		case committed && change.NewMode == 0:
			from.base = change.Old
		case committed && change.OldMode != 0:
			continue
		case !committed:
			if _, tracked, err := c.r.lookup(ctx, head.Tree, p); err != nil || tracked {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		_, err := os.Lstat(filepath.Join(c.r.Repo.Root, filepath.FromSlash(p)))
		from.gone = err != nil
		sources = append(sources, from)
	}
	slices.SortStableFunc(sources, func(a, b source) int {
		switch {
		case a.gone == b.gone:
			return 0
		case a.gone:
			return -1
		}
		return 1
	})
	return sources, nil
}

// renamedFrom finds the source that a file has the most lines of, and reports
// whether the file is the session's share by it.
func (c *created) renamedFrom(ctx context.Context, s *session.State, p string, sources *sourceLines) (string, bool, error) {
	content, err := c.read(ctx, c.changes[p].New)
	if err != nil || opaque(content) {
		return "", false, ignoreUncomparable(err)
	}
	from, ok := sources.closest(content, path.Base(p))
	if !ok {
		return "", false, nil
	}
	share, ok, err := c.compare(ctx, s, comparison{c.changes[p].New, from.base, c.history(ctx, s, from.path, from.left)})
	return from.path, ok && err == nil && share.Counts() && (from.gone || share.IsCopy()), err
}

// sourceLines are the lines of sources, with the sources that have them.
type sourceLines struct {
	sources []source
	index   map[string][]lineCount
}

// lineCount is how often a source has a line.
type lineCount struct{ source, count int }

// newSourceLines reads the sources. One that can't be read has no lines.
func newSourceLines(sources []source, read func(git.OID) ([]byte, error)) (*sourceLines, error) {
	l := &sourceLines{sources: sources, index: map[string][]lineCount{}}
	for i, from := range sources {
		content, err := read(from.left)
		if err := ignoreUncomparable(err); err != nil {
			return nil, err
		}
		if opaque(content) {
			continue
		}
		for text, count := range countLines(content) {
			l.index[text] = append(l.index[text], lineCount{i, count})
		}
	}
	return l, nil
}

// closest returns the source that a file has the most lines of, of equals one
// with its name, else the first; false if it has none of any.
func (l *sourceLines) closest(content []byte, name string) (source, bool) {
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
			n == found[best] && path.Base(l.sources[i].path) == name && path.Base(l.sources[best].path) != name:
			best = i
		}
	}
	if best < 0 {
		return source{}, false
	}
	return l.sources[best], true
}

// ignoreUncomparable takes a blob that is too large, or not here, for one
// without lines.
func ignoreUncomparable(err error) error {
	if errors.Is(err, git.ErrMissing) || errors.Is(err, git.ErrTooMuch) {
		return nil
	}
	return err
}

// countLines counts the significant lines of a file, white space around them
// aside.
func countLines(content []byte) map[string]int {
	lines := map[string]int{}
	for line := range bytes.Lines(content) {
		if text := bytes.TrimSpace(line); attribution.Significant(text) {
			lines[string(text)]++
		}
	}
	return lines
}
