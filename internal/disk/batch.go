package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Batch makes any number of writes durable with two waits for the disk: one for all contents, then,
// after the renames, one for all names. A crash leaves each renamed path complete, old or new, and
// no rename without its contents. Until Commit returns, any of the renames may be lost.
//
// The zero Batch is ready to use. A Batch isn't safe for concurrent use, and must not be used after
// Commit or Discard.
type Batch struct {
	contents []string // files and directories synced before the renames
	renames  []rename
}

// rename is a rename to be made by Commit.
type rename struct {
	from, to string
	temp     bool // from was made by Write
}

// Sync adds files or directories that were written already. Those that don't exist when they are
// synced are skipped.
func (b *Batch) Sync(paths ...string) {
	for _, path := range paths {
		if !slices.Contains(b.contents, path) {
			b.contents = append(b.contents, path)
		}
	}
}

// Write adds the replacement of the file path with data. Its directory must exist.
func (b *Batch) Write(path string, data []byte, perm fs.FileMode) error {
	if err := Step("write", path); err != nil {
		return err
	}
	temp, err := writeTemp(path, perm, allOf(data))
	if err != nil {
		return writeError(path, err)
	}
	b.contents = append(b.contents, temp)
	b.renames = append(b.renames, rename{from: temp, to: path, temp: true})
	return nil
}

// Rename adds a rename. Renames are made in the order of the calls.
func (b *Batch) Rename(from, to string) {
	b.renames = append(b.renames, rename{from: from, to: to})
}

// Commit syncs, renames, and syncs the directories of the renames. On an error before the last
// rename it removes the remaining temporary files.
func (b *Batch) Commit() error {
	for _, path := range b.contents {
		if err := Step("sync", path); err != nil {
			return errors.Join(err, b.Discard())
		}
	}
	if err := syncAll(b.contents, syncDir); err != nil {
		return errors.Join(err, b.Discard())
	}
	var dirs []string
	for len(b.renames) > 0 {
		r := b.renames[0]
		if err := Step("rename", r.to); err != nil {
			return errors.Join(err, b.Discard())
		}
		if err := os.Rename(r.from, r.to); err != nil {
			return errors.Join(err, b.Discard())
		}
		b.renames = b.renames[1:]
		for _, dir := range []string{filepath.Dir(r.from), filepath.Dir(r.to)} {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return SyncFiles(nil, dirs)
}

// Discard removes the temporary files of Write that Commit hasn't renamed.
func (b *Batch) Discard() error {
	var failed []error
	for _, r := range b.renames {
		if r.temp {
			failed = append(failed, Remove(r.from))
		}
	}
	b.renames = nil
	return errors.Join(failed...)
}
