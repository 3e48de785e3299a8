package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// Changed are the paths that differ between two copies of a volume, or of which that
// can't be ruled out without reading them; hidden are names in the root that don't
// count. A copy keeps the numbers of inodes and the times of the last change of them,
// so a file in which both are equal is the same. Of a folder that only one has, or that
// is another kind of file in the other, the folder alone is named.
func Changed(ctx context.Context, a, b string, hidden ...string) ([]string, error) {
	c := comparing{hidden: hidden}
	from, err := dirfd.OpenRoot(a)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	to, err := dirfd.OpenRoot(b)
	if err != nil {
		return nil, err
	}
	defer func() { _ = to.Close() }()
	if err := c.dirs(ctx, from, to, ""); err != nil {
		return nil, fmt.Errorf("compare %s and %s: %w", a, b, err)
	}
	return c.changed, nil
}

// comparing is one comparison.
type comparing struct {
	hidden  []string
	changed []string
}

// dirs compares two folders that are at path in the copies.
func (c *comparing) dirs(ctx context.Context, a, b *dirfd.Dir, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	left, err := entries(a)
	if err != nil {
		return err
	}
	right, err := entries(b)
	if err != nil {
		return err
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
			if err := c.below(ctx, a, b, name, at); err != nil {
				return err
			}
		case !inA || !inB || !equal(x, y):
			c.changed = append(c.changed, at)
		}
	}
	return nil
}

// below compares the folder name, which both have.
func (c *comparing) below(ctx context.Context, a, b *dirfd.Dir, name, at string) error {
	x, err := a.Open(name)
	if err != nil {
		return err
	}
	y, err := b.Open(name)
	if err != nil {
		return errors.Join(err, x.Close())
	}
	return errors.Join(c.dirs(ctx, x, y, at), x.Close(), y.Close())
}

// equal reports whether both are one file, unchanged.
func equal(x, y dirfd.Stat) bool {
	return x.Ino == y.Ino && x.Mode == y.Mode && x.UID == y.UID && x.GID == y.GID &&
		x.Size == y.Size && x.Mtime == y.Mtime && x.Ctime == y.Ctime
}

// nameRoom is how much is read of a folder at a time.
const nameRoom = 32 << 10

// entries are those of a folder. What goes away meanwhile is none.
func entries(d *dirfd.Dir) (map[string]dirfd.Stat, error) {
	var names []string
	err := d.Names(make([]byte, nameRoom), func(name []byte, _ byte) error {
		names = append(names, string(name))
		return nil
	})
	if err != nil {
		return nil, err
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
