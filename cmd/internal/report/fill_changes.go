package report

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

const (
	// mostFiles bounds the files of a turn whose differences are read.
	mostFiles = 100
	// maxTurn bounds the bytes of a turn's differences that are kept for the page.
	maxTurn = 48 << 10
)

// changes fills in the files of the turns: with the differences between the snapshots at their
// beginning and their end, else with the hunks of their commits that have lines of the turn.
func (f *filling) changes(ctx context.Context) error {
	store, err := bands.Open(tracking.StoreDir(f.Workspace))
	if err != nil && !errors.Is(err, bands.ErrNoStore) {
		f.Log.WarnContext(ctx, "no snapshots", "error", err.Error())
	}
	for i := range f.rows {
		f.progress("changes", int64(i), int64(len(f.rows)))
		row, t := &f.rows[i], &f.report.Turns[i]
		for _, c := range f.details[i].Files {
			var notes []string
			if !c.Edited {
				notes = append(notes, "by no edit tool")
			}
			if c.Reverted {
				notes = append(notes, "reverted later")
			}
			t.Files = append(t.Files, File{Path: f.Redact.Path(c.Path), Added: c.Added, Removed: c.Removed, Note: strings.Join(notes, ", ")})
		}
		if len(t.Files) == 0 {
			continue
		}
		written := f.written(i)
		if store != nil && row.Base > 0 && row.Snapshot > 0 {
			if err := f.snapshotHunks(ctx, store, i, written); err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		for n := range t.Files {
			if file := &t.Files[n]; len(file.Hunks) == 0 {
				file.Hunks = written.hunks[file.Path]
			}
		}
	}
	return nil
}

// writtenLines are the lines of a turn in its commits.
type writtenLines struct {
	// hunks are the hunks with a line of the turn, by path.
	hunks map[string][]Hunk
	// by are the writers of the added lines, by path, newline and text.
	by map[string]Writer
}

// written returns the lines of a turn in its commits.
func (f *filling) written(turn int) writtenLines {
	w := writtenLines{hunks: map[string][]Hunk{}, by: map[string]Writer{}}
	for _, at := range f.report.Turns[turn].Commits {
		for _, file := range f.report.Commits[at].Files {
			for _, h := range file.Hunks {
				own := false
				for _, b := range h.Blocks {
					own = own || b.Turn == turn
					if b.Kind != Added {
						continue
					}
					for line := range strings.SplitSeq(b.Text, "\n") {
						w.by[file.Path+"\n"+line] = b.By
					}
				}
				if own {
					w.hunks[file.Path] = append(w.hunks[file.Path], h)
				}
			}
		}
	}
	return w
}

// snapshotHunks fills in the differences between the snapshots of a turn. It skips files
// that can't be read.
func (f *filling) snapshotHunks(ctx context.Context, store *bands.Store, turn int, written writtenLines) error {
	row := &f.rows[turn]
	return diff.Between(ctx, store, bands.Version(row.Base), bands.Version(row.Snapshot), func(old, now diff.Side) error {
		return f.hunksBetween(ctx, old, now, turn, written)
	})
}

func (f *filling) hunksBetween(ctx context.Context, old, now diff.Side, turn int, written writtenLines) error {
	t := &f.report.Turns[turn]
	room := maxTurn
	for n, c := range f.details[turn].Files[:min(len(t.Files), mostFiles)] {
		if !c.Observed || room <= 0 {
			continue
		}
		out := &bounded{room: 2 * room}
		_, err := diff.Unified(ctx, out, old, now, diff.Options{Paths: []string{c.Path}})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, errStop) {
			continue
		}
		hunks := parseHunks(out.Bytes(), t.Files[n].Path, written.by)
		for _, h := range hunks {
			for _, b := range h.Blocks {
				room -= len(b.Text)
			}
			if room < 0 {
				break
			}
			f.redactHunk(&h)
			t.Files[n].Hunks = append(t.Files[n].Hunks, h)
		}
	}
	return nil
}

// redactHunk replaces the secrets in a hunk. Each line is searched together with the lines around it,
// in the old and in the new version, as the line before may have the name of a value.
func (f *filling) redactHunk(h *Hunk) {
	for _, other := range []Kind{Removed, Added} {
		var lines []string
		for _, b := range h.Blocks {
			if b.Kind != other {
				lines = append(lines, strings.Split(b.Text, "\n")...)
			}
		}
		whole := strings.Join(lines, "\n")
		clean := f.Redact.Text(whole)
		if clean == whole {
			continue
		}
		masked := strings.Split(clean, "\n")
		if len(masked) != len(lines) { // a secret of several lines became one line
			left := map[string]bool{}
			for _, line := range masked {
				left[line] = true
			}
			masked = lines
			for i, line := range lines {
				if !left[line] {
					masked[i] = redact.Mark
				}
			}
		}
		for i := range h.Blocks {
			if b := &h.Blocks[i]; b.Kind != other {
				n := strings.Count(b.Text, "\n") + 1
				b.Text, masked = strings.Join(masked[:n], "\n"), masked[n:]
			}
		}
	}
}

// bounded is a buffer that returns an error to its writer when it is full.
type bounded struct {
	bytes.Buffer

	room int
}

// Write appends p, or returns errStop if there is no room for it.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.room {
		return 0, errStop
	}
	return b.Buffer.Write(p)
}

// ReadFrom hides the buffer's method, which has no bounds.
func (b *bounded) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{b}, r) }

// parseHunks reads the unified diff of one file, whole hunks. Lines in by get the writer given
// there.
func parseHunks(text []byte, path string, by map[string]Writer) (hunks []Hunk) {
	for raw := range bytes.Lines(text) {
		line := strings.TrimSuffix(string(raw), "\n")
		if header, found := strings.CutPrefix(line, "@@ -"); found {
			old, rest, _ := strings.Cut(header, " +")
			now, _, _ := strings.Cut(rest, " @@")
			hunks = append(hunks, Hunk{Old: first(old), New: first(now)})
			continue
		}
		if len(hunks) == 0 || strings.HasPrefix(line, `\`) {
			continue
		}
		addLine(&hunks[len(hunks)-1], line, func() (Writer, int) { return by[path+"\n"+line[1:]], -1 })
	}
	return hunks
}

// first returns the first line of a range in the header of a hunk.
func first(span string) int {
	start, _, _ := strings.Cut(span, ",")
	n, err := strconv.Atoi(start)
	if err != nil {
		return 0
	}
	return n
}
