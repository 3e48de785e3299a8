package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// ExportOptions determine what is exported.
type ExportOptions struct {
	// Ignored returns those of the paths that git ignores; they are left out. Directories end in
	// "/". nil: nothing is left out.
	Ignored func(ctx context.Context, paths []string) ([]string, error)
	// Hidden are names in the root that are left out.
	Hidden []string
	// Progress is called with the number of files written, unless it is nil.
	Progress func(done int64)
}

// Exported is the result of an export.
type Exported struct {
	Files   int      // files, symbolic links and directories
	LeftOut []string // ignored paths; directories end in "/"
	Failed  []Failure
}

// Failure is a path that couldn't be written.
type Failure struct {
	Path string
	Err  error
}

// Export copies the files of a view into the folder to, which it creates or which must be empty.
// Files share their blocks if the file system can do that. Paths that can't be written are in
// Failed.
func (v View) Export(ctx context.Context, to string, o ExportOptions) (Exported, error) {
	if err := disk.Step("mkdir", to); err != nil {
		return Exported{}, err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return Exported{}, err
	}
	if entries, err := os.ReadDir(to); err != nil {
		return Exported{}, err
	} else if len(entries) > 0 {
		return Exported{}, fmt.Errorf("%s: %w", to, ErrNotEmpty)
	}
	x := exporting{ctx: ctx, from: v.Dir, to: to, progress: o.Progress}
	var made []string
	// The directories of one depth follow those above them, so that git is asked once for each depth.
	for level := []string{""}; len(level) > 0; {
		made = append(made, level...)
		paths := x.list(level, o.Hidden)
		if o.Ignored != nil && len(paths) > 0 {
			ignored, err := o.Ignored(ctx, paths)
			if err != nil {
				return x.done, err
			}
			x.done.LeftOut = append(x.done.LeftOut, ignored...)
			out := map[string]bool{}
			for _, p := range ignored {
				out[p] = true
			}
			paths = slices.DeleteFunc(paths, func(p string) bool { return out[p] })
		}
		var err error
		if level, err = x.write(paths); err != nil {
			return x.done, err
		}
	}
	// Directories get their modes and times last, as writing their entries changes these.
	for _, dir := range slices.Backward(made) {
		if err := copyAttributes(filepath.Join(x.from, dir), filepath.Join(x.to, dir)); err != nil {
			x.done.Failed = append(x.done.Failed, Failure{dir, err})
		}
	}
	return x.done, nil
}

// exporting is the state of one export.
type exporting struct {
	ctx      context.Context //nolint:containedctx // lives as long as the call that made it
	from, to string
	progress func(done int64) // may be nil
	done     Exported
}

// list returns the entries of the directories; directories end in "/".
func (x *exporting) list(dirs, hidden []string) (paths []string) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(filepath.Join(x.from, dir))
		if err != nil {
			x.done.Failed = append(x.done.Failed, Failure{dir, err})
			continue
		}
		for _, e := range entries {
			if dir == "" && slices.Contains(hidden, e.Name()) {
				continue
			}
			at := path.Join(dir, e.Name())
			if e.IsDir() {
				at += "/"
			}
			paths = append(paths, at)
		}
	}
	return paths
}

// write writes the given paths and returns the directories among them.
func (x *exporting) write(paths []string) (dirs []string, err error) {
	for _, p := range paths {
		if err := x.ctx.Err(); err != nil {
			return nil, err
		}
		dir, isDir := strings.CutSuffix(p, "/")
		if isDir {
			err = os.Mkdir(filepath.Join(x.to, dir), 0o700)
		} else {
			err = copyTree(filepath.Join(x.from, p), filepath.Join(x.to, p))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			x.done.Failed = append(x.done.Failed, Failure{dir, err})
			continue
		}
		if isDir {
			dirs = append(dirs, dir)
		}
		x.done.Files++
		if x.progress != nil {
			x.progress(int64(x.done.Files))
		}
	}
	return dirs, nil
}
