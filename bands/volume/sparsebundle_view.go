package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/hdiutil"
)

// oneBand is a file in a bundle's folder of bands.
type oneBand struct {
	name  string
	size  int64
	mtime time.Time
	taken int64 // on the disk, in bytes
}

func (b oneBand) same(other oneBand) bool {
	return b.name == other.name && b.size == other.size && b.mtime.Equal(other.mtime)
}

// listBands returns the bands in a folder, by name.
func listBands(dir string) ([]oneBand, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	list := make([]oneBand, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		b := oneBand{name: e.Name(), size: info.Size(), mtime: info.ModTime()}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			const sector = 512
			b.taken = st.Blocks * sector
		}
		list = append(list, b)
	}
	return list, nil
}

// cloneBands creates the folder to with clones of the files in from, which have their times. The
// clones are synced.
func cloneBands(from, to string) error {
	list, err := listBands(from)
	if err != nil {
		return err
	}
	if err := disk.Step("mkdir", to); err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	paths := make([]string, 0, len(list))
	for _, b := range list {
		path := filepath.Join(to, b.name)
		source, err := os.Open(filepath.Join(from, b.name))
		if err != nil {
			return err
		}
		if err := errors.Join(disk.CloneFile(source, path), source.Close()); err != nil {
			return err
		}
		if err := os.Chtimes(path, b.mtime, b.mtime); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	return disk.SyncFiles(paths, []string{to, filepath.Dir(to)})
}

// own returns the room taken by the bands of a snapshot that differ from those of the next one, or
// of the volume itself.
func (d Sparsebundle) own(view, next View) (int64, error) {
	list, err := listBands(view.at)
	if err != nil {
		return 0, err
	}
	dir := next.at
	if next.close == nil { // the volume
		dir = d.bands()
	}
	after, err := listBands(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	n := int64(0)
	for _, b := range list {
		if !slices.ContainsFunc(after, b.same) {
			n += b.taken
		}
	}
	return n, nil
}

// The names in the folder of a view.
const (
	viewBundle = "view" + bundleSuffix
	viewFiles  = "files"
)

// View attaches a clone of the snapshot for reading.
func (d Sparsebundle) View(snapshot string) (View, error) {
	return d.view(context.Background(), snapshot)
}

func (d Sparsebundle) view(ctx context.Context, snapshot string) (View, error) {
	dir, err := d.bundleOf(ctx, func(to string) error { return cloneBands(snapshot, to) }, hdiutil.ReadOnly)
	if err != nil {
		return View{}, err
	}
	return View{Dir: filepath.Join(dir, viewFiles), close: func() error { return endView(context.WithoutCancel(ctx), dir) }}, nil
}

// Edit attaches the bands of a volume that is not at a root.
func (d Sparsebundle) Edit(volume string) (files string, done func() error, err error) {
	ctx := context.Background()
	dir, err := d.bundleOf(ctx, func(to string) error { return os.Rename(volume, to) }, hdiutil.ReadWrite)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(dir, viewFiles), func() error {
		if err := detach(ctx, dir); err != nil {
			return err
		}
		return errors.Join(os.Rename(filepath.Join(dir, viewBundle, hdiutil.BandsFolder), volume), endView(ctx, dir))
	}, nil
}

// bundleOf creates a folder with a bundle, whose bands place makes, and attaches it there.
func (d Sparsebundle) bundleOf(ctx context.Context, place func(to string) error, access hdiutil.Access) (dir string, err error) {
	if _, err := endViews(ctx, d.Store); err != nil {
		return "", err
	}
	if err := disk.Step("mkdir", filepath.Join(d.Store, viewPrefix)); err != nil {
		return "", err
	}
	dir, err = os.MkdirTemp(d.Store, viewPrefix+strconv.Itoa(os.Getpid())+".*")
	if err != nil {
		return "", err
	}
	bundle := filepath.Join(dir, viewBundle)
	err = errors.Join(os.Mkdir(bundle, 0o700), os.Mkdir(filepath.Join(dir, viewFiles), 0o700))
	for _, name := range []string{hdiutil.InfoFile, hdiutil.TokenFile} {
		if err == nil {
			err = disk.CopyFile(filepath.Join(d.bundle(), name), filepath.Join(bundle, name))
		}
	}
	if err == nil {
		err = place(filepath.Join(bundle, hdiutil.BandsFolder))
	}
	if err == nil {
		err = hdiutil.Attach(ctx, bundle, filepath.Join(dir, viewFiles), access)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("attach: %w", err), endView(context.WithoutCancel(ctx), dir))
	}
	return dir, nil
}

// detach detaches the bundle in the folder of a view, if it is attached.
func detach(ctx context.Context, dir string) error {
	at, err := attached(ctx, filepath.Join(dir, viewBundle))
	if err != nil || at == "" {
		return err
	}
	return hdiutil.Detach(ctx, at, true)
}

// endView detaches the bundle in the folder of a view, and removes the folder.
func endView(ctx context.Context, dir string) error {
	if err := detach(ctx, dir); err != nil {
		return err
	}
	return bands.RemoveAll(dir)
}
