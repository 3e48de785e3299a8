package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// Changed returns the paths that differ between two copies of a volume, or that can't be shown to
// be equal without reading them. hidden are names in the root that are ignored. A copy keeps the
// inode numbers and their change times, so a file with equal numbers and times is the same. A
// folder that only one copy has, or that is another kind of file in the other copy, is returned
// without the paths below it. If the driver records changes, only the recorded paths are compared,
// else every file.
func Changed(ctx context.Context, a, b View, hidden ...string) ([]string, error) {
	paths, known, err := a.driver.Touched(a.at, b.at)
	if err != nil {
		return nil, err
	}
	c := comparing{hidden: hidden, progress: a.Progress}
	if known {
		c.only = capture.TouchedFolders{}
		c.only.Add(paths)
	}
	from, err := dirfd.OpenRoot(a.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	to, err := dirfd.OpenRoot(b.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = to.Close() }()
	if err := c.dirs(ctx, from, to, ""); err != nil {
		return nil, fmt.Errorf("compare %s and %s: %w", a.at, b.at, err)
	}
	return c.changed, nil
}

// comparing is the state of one comparison.
type comparing struct {
	hidden  []string
	only    capture.TouchedFolders // nil: every directory is compared
	changed []string

	progress func(done int64) // may be nil
	done     int64
}

// dirs compares the two folders at path in the copies.
func (c *comparing) dirs(ctx context.Context, a, b *dirfd.Dir, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in := &capture.TouchedFolder{All: true}
	if c.only != nil {
		if in = c.only[path]; in == nil {
			return nil
		}
	}
	left, err := entries(a, in)
	if err != nil {
		return err
	}
	right, err := entries(b, in)
	if err != nil {
		return err
	}
	if c.done += int64(len(left)); c.progress != nil {
		c.progress(c.done)
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(left)), maps.Keys(right))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := name
		if path != "" {
			at = path + "/" + name
		} else if slices.Contains(c.hidden, name) {
			continue
		}
		x, inA := left[name]
		y, inB := right[name]
		switch {
		case inA && inB && x.IsDir() && y.IsDir() && x.Mode == y.Mode && x.UID == y.UID && x.GID == y.GID:
			if c.only != nil && c.only[at] == nil {
				continue
			}
			inner, err := a.Open(name)
			if err != nil {
				return err
			}
			other, err := b.Open(name)
			if err != nil {
				return errors.Join(err, inner.Close())
			}
			if err := errors.Join(c.dirs(ctx, inner, other, at), inner.Close(), other.Close()); err != nil {
				return err
			}
		case !inA || !inB || x.Ino != y.Ino || x.Mode != y.Mode || x.UID != y.UID || x.GID != y.GID ||
			x.Size != y.Size || x.Mtime != y.Mtime || x.Ctime != y.Ctime:
			c.changed = append(c.changed, at)
		}
	}
	return nil
}

// entries returns the entries of a folder that are compared. Entries that are removed meanwhile are
// left out.
func entries(d *dirfd.Dir, in *capture.TouchedFolder) (map[string]dirfd.Stat, error) {
	names := slices.Collect(maps.Keys(in.Names))
	if in.All {
		names = names[:0]
		err := d.Names(make([]byte, nameRoom), func(name []byte, _ byte) error {
			names = append(names, string(name))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	found := make(map[string]dirfd.Stat, len(names))
	for _, name := range names {
		var st dirfd.Stat
		if err := d.Stat(name, &st); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		found[name] = st
	}
	return found, nil
}

// splitPath returns the names in a path.
func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}
