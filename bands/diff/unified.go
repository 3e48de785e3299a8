package diff

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/internal/plain"
)

// Unified writes the diff of the files like git, with three lines of context. It returns the
// paths of the tree that were changed or removed before they could be compared; nothing is
// written for these.
func Unified(ctx context.Context, w io.Writer, old, now Side, o Options) (unread []string, err error) {
	o.NoCounts = true
	list, err := Stat(ctx, old, now, o)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(w)
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := list[i].unified(out, old, now)
		if errors.Is(err, capture.ErrMoved) {
			unread = append(unread, list[i].Path)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return unread, out.Flush()
}

func (d *File) unified(w *bufio.Writer, old, now Side) error {
	if band.IsDir(d.old) || band.IsDir(d.now) {
		if d.Kind != Retyped {
			return nil
		}
	}
	if d.Kind == Retyped {
		return d.retyped(w, old, now)
	}
	same := d.old != nil && d.now != nil && d.old.Content.Hash == d.now.Content.Hash && d.old.Target == d.now.Target
	var a, b string
	var ok bool
	if !same { // before anything is written
		var err error
		if a, b, ok, err = d.texts(old, now); err != nil {
			return err
		}
	}
	from, to := "a/"+cmp.Or(d.OldPath, d.Path), "b/"+d.Path
	_, _ = fmt.Fprintf(w, "diff --git %s %s\n", plain.GitPath(from), plain.GitPath(to))
	switch {
	case d.old == nil:
		_, _ = fmt.Fprintf(w, "new file mode %s\n", gitMode(d.now))
	case d.now == nil:
		_, _ = fmt.Fprintf(w, "deleted file mode %s\n", gitMode(d.old))
	case gitMode(d.old) != gitMode(d.now):
		_, _ = fmt.Fprintf(w, "old mode %s\nnew mode %s\n", gitMode(d.old), gitMode(d.now))
	}
	if d.OldPath != "" {
		_, _ = fmt.Fprintf(w, "rename from %s\nrename to %s\n", plain.GitPath(d.OldPath), plain.GitPath(d.Path))
	}
	if d.old == nil {
		from = "/dev/null"
	}
	if d.now == nil {
		to = "/dev/null"
	}
	if same {
		return nil
	}
	if !ok {
		_, err := fmt.Fprintf(w, "Binary files %s and %s differ\n", plain.GitPath(from), plain.GitPath(to))
		return err
	}
	if a == b {
		return nil
	}
	_, _ = fmt.Fprintf(w, "--- %s\n+++ %s\n", plain.GitPath(from), plain.GitPath(to))
	for h := range linediff.Hunks(a, b, linediff.Compare(a, b, linediff.Thorough)) {
		_, _ = fmt.Fprintf(w, "@@ -%s +%s @@\n", h.Old, h.New)
		for _, line := range h.Lines {
			_, _ = w.WriteString(line)
		}
	}
	return nil
}

// retyped writes a change of type like git: a deleted file and a new one.
func (d *File) retyped(w *bufio.Writer, old, now Side) error {
	come := File{Path: d.Path, Kind: Added, now: d.now}
	if !band.IsDir(d.now) {
		if _, _, _, err := come.texts(old, now); err != nil {
			return err // before anything is written
		}
	}
	if !band.IsDir(d.old) {
		gone := File{Path: d.Path, Kind: Deleted, old: d.old}
		if err := gone.unified(w, old, now); err != nil {
			return err
		}
	}
	if band.IsDir(d.now) {
		return nil
	}
	return come.unified(w, old, now)
}

func gitMode(e *band.Entry) string {
	if e.Kind == band.Symlink {
		return "120000"
	}
	return fmt.Sprintf("100%03o", e.Attr.Mode&0o777)
}
