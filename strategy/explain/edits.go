package explain

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/checkpoint/segments"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// EditedLines counts the lines that a commit added. Edited is a lower bound of the lines that
// agents wrote: lines that a command wrote are not included.
type EditedLines struct {
	// Edited are the lines with a text that an edit tool of a session wrote to the same file, Added
	// are all lines.
	Edited, Added int
}

const (
	// mostDiff is the maximum size of a diff whose lines are counted.
	mostDiff = 16 << 20
	// largestFile is the maximum size of a file whose lines are counted.
	largestFile = 4 << 20
)

// editCounter compares commits with the texts that edit tools wrote.
type editCounter struct {
	repo *git.Repo
	// written holds the lines by the path given to the tool.
	written map[string]map[string]bool
}

// count counts the lines of the checkpoint's commit. It returns nil if no other program computed an
// attribution, if no commit belongs only to the checkpoint, or if the commit or the edits can't be
// read.
func (ec editCounter) count(ctx context.Context, d *Detail) *EditedLines {
	if !slices.ContainsFunc(d.Sessions, func(s Session) bool { return s.Recorder != "" }) {
		return nil // there is nothing to compare with
	}
	at := slices.IndexFunc(d.Commits, func(c git.Commit) bool { return len(c.Parents) < 2 && len(checkpoint.IDsOf(c)) == 1 })
	if at < 0 {
		return nil // it is not known which lines are the checkpoint's
	}
	ec.written = map[string]map[string]bool{}
	for i := range d.Sessions {
		if err := ec.read(ctx, d.Sessions[i].stored); err != nil && !errors.Is(err, git.ErrMissing) {
			return nil
		}
	}
	if len(ec.written) == 0 {
		return nil // commands wrote everything, or it is unknown what
	}
	var parent git.OID
	if commit := d.Commits[at]; len(commit.Parents) > 0 {
		parent = commit.Parents[0]
	}
	files, err := gitdiff.Hunks(ctx, ec.repo, parent, d.Commits[at].OID, mostDiff)
	if err != nil {
		return nil // the commit's trees are missing in this clone, or too different
	}
	total := &EditedLines{}
	for _, f := range files {
		if err := ec.file(ctx, f, files, total); err != nil {
			return nil
		}
	}
	if total.Added == 0 {
		return nil
	}
	return total
}

// read adds the lines that the edit tools of a transcript wrote.
func (ec editCounter) read(ctx context.Context, stored segments.Transcript) error {
	var events transcript.Events
	return stored.Lines(ctx, ec.repo, segments.Span{}, func(line []byte, _ int) error {
		e, ok := events.Line(line)
		if !ok {
			return nil
		}
		for _, use := range e.Uses {
			path, texts := use.Written()
			for _, text := range texts {
				if ec.written[path] == nil {
					ec.written[path] = map[string]bool{}
				}
				for line := range strings.Lines(text) {
					ec.written[path][strings.TrimSpace(line)] = true
				}
			}
		}
		return nil
	})
}

// file counts the lines that a commit added to a file.
func (ec editCounter) file(ctx context.Context, f gitdiff.FileDiff, all []gitdiff.FileDiff, total *EditedLines) error {
	if f.Binary || f.Added == 0 {
		return nil // a deleted file has no new blob
	}
	blob, err := ec.repo.ReadWithin(ctx, string(f.New), largestFile)
	switch {
	case errors.Is(err, git.ErrMissing), errors.Is(err, git.ErrTooMuch):
		return nil // its lines are not counted
	case err != nil:
		return err
	}
	// Collect the lines that tools wrote to the path: the recorded paths are of another machine, so
	// a path matches if it ends with this path and with no longer path of the commit.
	written := map[string]bool{}
	for given, lines := range ec.written {
		if given != f.Path && !strings.HasSuffix(given, "/"+f.Path) {
			continue
		}
		longer := func(other gitdiff.FileDiff) bool {
			return len(other.Path) > len(f.Path) && (given == other.Path || strings.HasSuffix(given, "/"+other.Path))
		}
		if !slices.ContainsFunc(all, longer) {
			maps.Copy(written, lines)
		}
	}
	lines := strings.Split(string(blob.Data), "\n")
	for _, h := range f.Hunks {
		for n := h.New; n < h.New+h.NewLines && n <= len(lines); n++ {
			total.Added++
			if written[strings.TrimSpace(lines[n-1])] {
				total.Edited++
			}
		}
	}
	return nil
}
