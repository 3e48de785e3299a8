package restore

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// sweepTree removes the temporary files of a killed restore. No snapshot has them. Without a
// journal there are none.
func sweepTree(ctx context.Context, h *bands.Held, o Options) error {
	left, err := bands.ReadJournal(h.Store, o.Lineage)
	if err != nil || left == nil || left.Root != o.Options.Root {
		return err
	}
	root, err := dirfd.OpenRoot(o.Options.Root)
	if err != nil {
		return fmt.Errorf("remove the leftovers of a killed restore: %w", err)
	}
	in, err := Scope{}.Compile(o.Hidden)
	if err == nil {
		s := &treeSweep{in: in, buf: make([]byte, 64<<10)}
		var st dirfd.Stat
		if err = root.Self(&st); err == nil {
			s.dev = st.Dev
			err = s.directory(ctx, root, "")
		}
	}
	_ = root.Close()
	if err != nil {
		return fmt.Errorf("remove the leftovers of a killed restore: %w", err)
	}
	return nil
}

type treeSweep struct {
	in  *Selection
	dev uint64
	buf []byte
}

// directory removes temporary files in a directory and below. Directories that can't be opened are
// skipped: the restore couldn't open them either.
func (s *treeSweep) directory(ctx context.Context, dir *dirfd.Dir, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var temps, dirs []string
	err := dir.Names(s.buf, func(name []byte, dtype byte) error {
		if dtype == dirfd.TypeDir || dtype == dirfd.TypeUnknown { // opening it decides
			dirs = append(dirs, string(name))
		}
		if bands.IsTemp(string(name)) {
			temps = append(temps, string(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range temps {
		if err := sweepTemp(dir, name); err != nil {
			return err
		}
	}
	dirs = slices.DeleteFunc(dirs, bands.IsTemp)
	for _, name := range dirs {
		below := band.JoinPath(path, name)
		var st dirfd.Stat
		if s.in.Hides(below) || dir.Stat(name, &st) != nil || st.Dev != s.dev || st.Mounted {
			continue
		}
		kid, err := dir.Open(name)
		if err != nil {
			continue
		}
		err = s.directory(ctx, kid, below)
		_ = kid.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepTemp removes a temporary file, or a directory for temporary files, with empty directories in
// it.
func sweepTemp(parent *dirfd.Dir, name string) error {
	dir, err := parent.Open(name)
	if err != nil {
		return unlinkIfThere(parent, name)
	}
	var names []string
	err = dir.Names(make([]byte, 8<<10), func(name []byte, _ byte) error {
		names = append(names, string(name))
		return nil
	})
	for _, n := range names {
		if err == nil {
			err = dir.Rmdir(n)
		}
	}
	_ = dir.Close()
	if err != nil {
		return nil //nolint:nilerr // it has contents, so it isn't ours
	}
	return parent.Rmdir(name)
}
