package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ErrNotEmpty means that the directory for an export isn't empty.
var ErrNotEmpty = errors.New("not empty")

// ErrIsDirectory means that a path to be read as a file is a directory.
var ErrIsDirectory = errors.New("is a directory")

// ErrNotHeld means that the snapshot names a path but doesn't hold its content.
var ErrNotHeld = errors.New("not in the snapshot")

// ExportOptions determine the contents of an export.
type ExportOptions struct {
	// Ignored returns those of the paths that git ignores; they are left out. Directories end in
	// "/", and it isn't called for paths below an ignored one. nil: nothing is left out.
	Ignored func(ctx context.Context, paths []string) ([]string, error)
	// Skip reports whether an entry is left out; a directory with everything below it. It must be
	// safe for concurrent use. nil: nothing is left out.
	Skip func(path string, e *band.Entry) bool
	// Over are names that the directory may contain; entries with these names are left out.
	Over []string
	// Clones is a tree from which files with the same content are cloned, if the file system
	// shares blocks; nil: none are.
	Clones *CloneSource
	// Progress is called with the progress of the export, unless it is nil.
	Progress func(bands.Progress)
}

// CloneSource is a present tree.
type CloneSource struct {
	Root string
	// Read is a time before the tree was read.
	Read bands.Stamp
	// Present is its content; nil: that of the exported snapshot, which was taken of it.
	Present *capture.Present
}

// ExportResult is the result of an export.
type ExportResult struct {
	// Files counts files, symlinks and directories.
	Files int
	// LeftOut are ignored paths, Unknown the paths that the snapshot doesn't hold.
	LeftOut, Unknown []string
	Failed           []Failure
}

// Export writes the snapshot, nested repositories included, into dir, which must not exist, or be
// empty except for the names in Over. Paths that can't be written are in Failed, and the error is
// ErrIncomplete.
func Export(ctx context.Context, s *bands.Store, v bands.Snapshot, dir string, o ExportOptions) (ExportResult, error) {
	content, err := bands.OpenContent(s, v)
	if err != nil {
		return ExportResult{}, err
	}
	defer func() { _ = content.Bands.Close() }()
	var done ExportResult
	if done.LeftOut, err = ignoredIn(ctx, content.Records, v, o.Ignored); err != nil {
		return done, fmt.Errorf("export %s: %w", v.Version, err)
	}
	if err := emptyDir(dir, o.Over); err != nil {
		return done, fmt.Errorf("export %s: %w", v.Version, err)
	}
	out := map[string]bool{}
	for _, p := range slices.Concat(done.LeftOut, o.Over) {
		out[strings.TrimSuffix(p, "/")] = true
	}
	keep := func(path string, _, want *band.Entry) bool { return out[path] || o.Skip != nil && o.Skip(path, want) }
	x := &exporter{
		apply: newApplier(dir, content, nil),
		scope: &Selection{
			Scope: Scope{Nested: true, Keep: keep},
			Named: map[string]bool{"": true}, Over: map[string]bool{agentDir: true}, Hidden: map[string]bool{},
		},
		first: map[uint64]string{}, links: dirNodes{},
	}
	x.apply.Unsynced, x.apply.Progress = true, o.Progress
	root, _ := v.Tree.Ref()
	if from := o.Clones; from != nil && !from.Read.Coarse {
		x.apply.Clones = newCloneTree(from.Root, from.Read.At)
		x.present, x.live = content.Records, map[string]band.Ref{"": root}
		if from.Present != nil {
			x.present, x.live[""] = from.Present.Loader, from.Present.Tree
		}
	}
	if err := x.run(ctx, root); err != nil {
		return done, fmt.Errorf("export %s: %w", v.Version, err)
	}
	done.Files, done.Failed, done.Unknown = x.files, x.apply.Failed, x.found.Unknown
	done.Files -= len(done.Failed)
	for _, path := range x.found.Damaged {
		done.Failed = append(done.Failed, Failure{Path: path, Err: bands.ErrDamaged})
	}
	if len(done.Failed) > 0 {
		return done, fmt.Errorf("export %s: %w: %d paths", v.Version, ErrIncomplete, len(done.Failed))
	}
	return done, nil
}

// ignoredIn returns the paths of the snapshot that git ignores, asking level by level.
func ignoredIn(ctx context.Context, l band.Loader, v bands.Snapshot, ask func(context.Context, []string) ([]string, error)) ([]string, error) {
	if ask == nil {
		return nil, nil
	}
	root, _ := v.Tree.Ref()
	var ignored []string
	for level := []string{""}; len(level) > 0; {
		paths, err := belowDirs(l, root, level)
		if err != nil || len(paths) == 0 {
			return ignored, err
		}
		out, err := ask(ctx, paths)
		if err != nil {
			return nil, err
		}
		ignored = append(ignored, out...)
		gone := map[string]bool{}
		for _, p := range out {
			gone[p] = true
		}
		level = slices.DeleteFunc(paths, func(p string) bool { return gone[p] || !strings.HasSuffix(p, "/") })
	}
	return ignored, nil
}

// belowDirs returns the entries of directories; names of directories end in "/".
func belowDirs(l band.Loader, root band.Ref, dirs []string) ([]string, error) {
	var paths []string
	for _, dir := range dirs {
		dir = strings.TrimSuffix(dir, "/")
		ref := root
		if dir != "" {
			e, err := band.LookupPath(l, root, dir)
			if err != nil {
				return nil, err
			}
			ref = e.Content
		}
		d, err := l.Directory(ref)
		if band.IsDamaged(err) {
			continue // the export reports it
		}
		if err != nil {
			return nil, err
		}
		for i := range d.Entries {
			p := band.JoinPath(dir, d.Entries[i].Name)
			if d.Entries[i].Kind == band.Dir {
				p += "/"
			}
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// emptyDir creates the directory, or checks that it contains only the names in over.
func emptyDir(dir string, over []string) error {
	entries, err := os.ReadDir(dir)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(over, e.Name()) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := disk.Step("mkdir", dir); err != nil {
			return err
		}
		return os.MkdirAll(filepath.Clean(dir), 0o700)
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s: %w", dir, ErrNotEmpty)
	}
	return nil
}

// ReadFile writes the content of a file of the snapshot, or the target of a symlink, to w. The
// error is fs.ErrNotExist if there is none, ErrIsDirectory or ErrNotHeld. If the file is damaged,
// a part of it may have been written.
func ReadFile(s *bands.Store, v bands.Snapshot, name string, w io.Writer) error {
	content, err := bands.OpenContent(s, v)
	if err != nil {
		return err
	}
	defer func() { _ = content.Bands.Close() }()
	root, _ := v.Tree.Ref()
	e, err := band.LookupPath(content.Records, root, path.Clean(name))
	if errors.Is(err, band.ErrUnknownPath) {
		return fmt.Errorf("%s in %s: %w", name, v.Version, ErrNotHeld)
	}
	if err != nil {
		return fmt.Errorf("%s in %s: %w", name, v.Version, err)
	}
	switch e.Kind {
	case band.Dir:
		err = ErrIsDirectory
	case band.Symlink:
		_, err = io.WriteString(w, e.Target)
	case band.Unknown:
		err = ErrNotHeld
		if e.Reason == band.Forgotten {
			err = fmt.Errorf("it was forgotten: %w", ErrNotHeld)
		}
	default:
		err = content.CopyTo(w, &e)
	}
	if err != nil {
		return fmt.Errorf("%s in %s: %w", name, v.Version, err)
	}
	return nil
}
