package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// The errors of a conversion; they are returned wrapped.
var (
	// ErrConverted means that the store has the driver already.
	ErrConverted = errors.New("already has that driver")
	// ErrFormerKept means that the folder replaced by a conversion still exists.
	ErrFormerKept = errors.New("the old folder of an earlier conversion still exists")
	// ErrChanging means that files kept changing while they were copied.
	ErrChanging = errors.New("files keep changing")
	// ErrNotConverting means that there is no conversion to cancel or to end.
	ErrNotConverting = errors.New("no conversion")
)

// The suffixes of a folder that is being converted: of the new folder until the two are exchanged,
// and of the former one after that.
const (
	freshSuffix  = ".converting"
	formerSuffix = ".former"
)

// Converter converts folders with files to volumes, and volumes to folders. It copies the files
// into the folder of a new store, compares them, and exchanges the two folders.
type Converter struct {
	*Registry

	// Progress is called with the number of files copied or compared, unless it is nil.
	Progress func(stage ConvertStage, done int64)
}

// ConvertStage is a part of a conversion.
type ConvertStage int

// The stages of a conversion, in their order.
const (
	ConvertCopy ConvertStage = iota
	ConvertVerify
	ConvertExchange
)

// ConvertOptions determine the result of a conversion.
type ConvertOptions struct {
	// Name is the name of the new store; "": that of the folder, with a number if that is taken.
	Name string
	// Driver makes the new store's snapshots; "" for a tree.
	Driver string
	// Size is the size of InitVolume.
	Size int64
}

// Converted is the result of a conversion.
type Converted struct {
	Store Entry
	// From is the store whose tree the folder was; the zero one if there was none. It keeps its
	// snapshots, and its tree is the former folder now.
	From Entry
	// Former is the path of the former folder; empty if that was the mount point of an image.
	Former       string
	Files, Bytes int64
	// LeftOut are sockets, FIFOs and devices, which only the former folder has.
	LeftOut []string
	// Late are paths that processes changed in the former folder while the two were exchanged.
	Late []string
}

// BackupPath returns the path where the former folder of root is kept after a conversion.
func BackupPath(root string) string { return root + formerSuffix }

// Check returns the reason why the folder dir can't be converted to the driver, as far as that is
// known in advance.
func (c Converter) Check(ctx context.Context, dir, driver string) error {
	_, _, err := c.prepare(ctx, dir, driver)
	return err
}

// prepare finds the folder and the store whose tree it is. The error is why it can't be converted.
func (c Converter) prepare(ctx context.Context, dir, driver string) (root string, from Entry, err error) {
	if root, err = c.checkRoot(dir); err != nil {
		return root, from, err
	}
	if from, err = c.treeOf(ctx, root); err != nil {
		return root, from, err
	}
	if info, err := os.Stat(root); err != nil {
		return root, from, err
	} else if !info.IsDir() {
		return root, from, fmt.Errorf("%s is not a directory", root)
	}
	if from.Dir != "" && from.Driver == driver {
		return root, from, fmt.Errorf("store '%s' %w", from.Name, ErrConverted)
	}
	if _, err := os.Lstat(BackupPath(root)); err == nil {
		return root, from, fmt.Errorf("%w: %s", ErrFormerKept, BackupPath(root))
	}
	if from.Driver == "" {
		inside, err := disk.MountsIn(root)
		if len(inside) > 0 {
			err = fmt.Errorf("%s %w: %s is a mount point", root, volume.ErrInUse, inside[0])
		}
		return root, from, err
	}
	d, ok := volume.Named(from.Driver, volume.Place{Store: from.Dir})
	if !ok {
		return root, from, &volume.MissingError{Driver: from.Driver, Err: errors.ErrUnsupported}
	}
	return root, from, d.Check(root)
}

// Run converts the folder dir. It changes nothing in it until the folders are exchanged. If it was
// interrupted or failed, another call continues the conversion.
func (c Converter) Run(ctx context.Context, dir string, o ConvertOptions) (Converted, error) {
	if _, err := c.End(ctx); err != nil {
		return Converted{}, err
	}
	root, from, err := c.prepare(ctx, dir, o.Driver)
	if err != nil {
		return Converted{}, err
	}
	to, err := c.fresh(ctx, root, o)
	if err != nil {
		return Converted{}, err
	}
	done := Converted{From: from, Former: BackupPath(root)}
	s, err := bands.Open(to.Dir)
	if err != nil {
		return Converted{}, err
	}
	held, err := hold(ctx, s) // excludes the same command in another process
	if err != nil {
		return Converted{}, err
	}
	report, err := c.copy(ctx, root, to.Root)
	if err := errors.Join(err, held.Release()); err != nil {
		return Converted{}, err
	}
	done.Files, done.Bytes, done.LeftOut = report.Files, report.Bytes, report.LeftOut
	c.progress(ConvertExchange, 0)
	j := exchange{Format: exchangeFormat, Root: root, Fresh: to.Root, Former: done.Former, From: from.Dir, To: to.Dir}
	if err := c.alone(ctx, func() error { return c.exchange(ctx, j) }); err != nil {
		return Converted{}, err
	}
	if done.Store, err = loadEntry(to.Dir); err != nil {
		return done, err
	}
	if from.Dir != "" {
		done.From, err = loadEntry(from.Dir)
	}
	if err == nil && !volume.Contained(from.Driver) {
		var late volume.MirrorReport
		late, err = volume.Mirror(ctx, done.Former, root, volume.MirrorOptions{Dry: true, Skip: []string{ContextFile}})
		done.Late = late.Changed
	}
	return done, err
}

func (c Converter) progress(stage ConvertStage, done int64) {
	if c.Progress != nil {
		c.Progress(stage, done)
	}
}

// treeOf returns the store whose tree is the folder root; the zero one if there is none. A store in
// a repository moves with the folder.
func (c Converter) treeOf(ctx context.Context, root string) (Entry, error) {
	if e, ok := c.named(ctx, root); ok && e.Root == root {
		return e, nil
	}
	e, _, err := c.storeAt(root)
	return e, err
}

// storeAt returns the named store whose tree is at root.
func (c Converter) storeAt(root string) (Entry, bool, error) {
	return maker{Registry: c.Registry}.find(func(base string, e Entry) bool {
		return e.Root == root && slices.Contains(foldersOf(base), filepath.Dir(e.Dir))
	})
}

// fresh returns the store of the folder beside root that replaces it: the store of an interrupted
// conversion, or a new one.
func (c Converter) fresh(ctx context.Context, root string, o ConvertOptions) (Entry, error) {
	at := root + freshSuffix
	e, found, err := c.storeAt(at)
	switch {
	case err != nil:
		return Entry{}, err
	case found && e.Driver != o.Driver:
		return Entry{}, fmt.Errorf("a conversion of %s to another driver was interrupted", root)
	case found && !isMissing(filepath.Join(at, ContextFile)):
		return e, nil
	}
	name := o.Name
	if found { // it is incomplete, or isn't mounted
		name = e.Name
	}
	if name == "" {
		base, err := c.base()
		if err != nil {
			return Entry{}, err
		}
		taken, err := maker{Registry: c.Registry}.taken(base, "")
		if err != nil {
			return Entry{}, err
		}
		name = freeName(nameFrom(filepath.Base(root)), taken)
	}
	if o.Driver == "" {
		return c.Init(ctx, name, at, o.Size)
	}
	return c.InitVolume(ctx, name, at, o.Driver, o.Size)
}

// copy makes the folder to equal to root, until a comparison of all files finds no difference.
func (c Converter) copy(ctx context.Context, root, to string) (volume.MirrorReport, error) {
	pass := func(stage ConvertStage, o volume.MirrorOptions) (volume.MirrorReport, error) {
		o.Skip, o.Progress = []string{ContextFile}, func(done int64) { c.progress(stage, done) }
		c.progress(stage, 0)
		return volume.Mirror(ctx, root, to, o)
	}
	report, err := pass(ConvertCopy, volume.MirrorOptions{})
	const most = 4
	for try := 0; err == nil; try++ {
		if err := disk.Sync(to); err != nil {
			return report, err
		}
		if report, err = pass(ConvertVerify, volume.MirrorOptions{Content: true}); err != nil || len(report.Changed) == 0 {
			break
		}
		if try == most {
			return report, fmt.Errorf("%w: %s", ErrChanging, strings.Join(report.Changed[:min(len(report.Changed), most)], ", "))
		}
	}
	return report, err
}

// Under returns the new store of an interrupted or failed conversion of the folder dir.
// ErrNotConverting if there is none.
func (c Converter) Under(dir string) (Entry, error) {
	root, err := c.checkRoot(dir)
	if err != nil {
		return Entry{}, err
	}
	e, found, err := c.storeAt(root + freshSuffix)
	if err == nil && !found {
		err = fmt.Errorf("%w of %s to cancel", ErrNotConverting, root)
	}
	return e, err
}

// Cancel undoes an interrupted or failed conversion of the folder dir: it removes the new store and
// the copies.
func (c Converter) Cancel(ctx context.Context, dir string) (Entry, error) {
	if _, err := c.End(ctx); err != nil {
		return Entry{}, err
	}
	e, err := c.Under(dir)
	if err != nil {
		return Entry{}, err
	}
	if err := c.DeleteStore(ctx, e); err != nil {
		return Entry{}, err
	}
	return e, removeFormer(e.Root)
}

// Done ends a conversion of the folder dir: it removes the former folder. The former store keeps
// its snapshots.
func (c Converter) Done(ctx context.Context, dir string) (Entry, error) {
	e, err := c.Kept(ctx, dir)
	if err != nil {
		return Entry{}, err
	}
	if err := removeFormer(e.Former); err != nil {
		return Entry{}, err
	}
	return c.change(ctx, e.Dir, func(info *bands.Info) { info.Former = "" })
}

// Kept returns the store of the folder dir if a conversion keeps its former folder, else
// ErrNotConverting.
func (c Converter) Kept(ctx context.Context, dir string) (Entry, error) {
	root, err := c.checkRoot(dir)
	if err != nil {
		return Entry{}, err
	}
	if _, err := c.End(ctx); err != nil {
		return Entry{}, err
	}
	e, err := c.treeOf(ctx, root)
	if err == nil && e.Former == "" {
		err = fmt.Errorf("%w of %s to finish", ErrNotConverting, root)
	}
	return e, err
}

// removeFormer removes a folder that a conversion made or replaced.
func removeFormer(dir string) error {
	if inside, err := disk.MountsIn(dir); err != nil || len(inside) > 0 {
		return errors.Join(err, fmt.Errorf("%s %w: it is a mount point, or has one in it", dir, volume.ErrInUse))
	}
	if err := disk.Step("remove", dir); err != nil {
		return err
	}
	return btrfs.RemoveTree(dir, nil)
}
