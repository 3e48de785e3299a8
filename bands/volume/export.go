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

	"github.com/seed-3aff656d/entire/bands/mirror"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ExportOptions say what an export has.
type ExportOptions struct {
	// Ignored returns which of the paths git ignores; they are left out. Directories end
	// in "/". nil: nothing is left out.
	Ignored func(ctx context.Context, paths []string) ([]string, error)
	// Hidden are names in the root that are left out.
	Hidden []string
	// Progress is called with how many files are written, unless it is nil.
	Progress func(done int64)
}

// Exported is what an export wrote.
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

// Export copies the files of a view into the folder to, which it makes or which is empty;
// files share their blocks where the file system can do that. What can't be written is in
// Failed.
func (v View) Export(ctx context.Context, to string, o ExportOptions) (Exported, error) {
	if err := makeEmpty(to); err != nil {
		return Exported{}, err
	}
	x := exporting{ctx: ctx, from: v.Dir, to: to, o: o}
	return x.done, x.levels(&x.done)
}

// makeEmpty makes the folder, or checks that it is empty.
func makeEmpty(dir string) error {
	if err := disk.Step("mkdir", dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s: %w", dir, ErrNotEmpty)
	}
	return err
}

// exporting is one export.
type exporting struct {
	ctx      context.Context //nolint:containedctx // lives as long as the call that made it
	from, to string
	o        ExportOptions
	done     Exported
}

// levels copies the directories of one depth after those above them, so that git is asked
// once for each depth. Directories get their modes and times last, as their entries do.
func (x *exporting) levels(done *Exported) error {
	var made []string
	for level := []string{""}; len(level) > 0; {
		made = append(made, level...)
		var paths []string
		for _, dir := range level {
			entries, err := os.ReadDir(filepath.Join(x.from, dir))
			if err != nil {
				done.Failed = append(done.Failed, Failure{dir, err})
				continue
			}
			for _, e := range entries {
				if dir == "" && slices.Contains(x.o.Hidden, e.Name()) {
					continue
				}
				at := path.Join(dir, e.Name())
				if e.IsDir() {
					at += "/"
				}
				paths = append(paths, at)
			}
		}
		kept, err := x.kept(paths, done)
		if err != nil {
			return err
		}
		if level, err = x.write(kept, done); err != nil {
			return err
		}
	}
	for _, dir := range slices.Backward(made) {
		if err := mirror.Attributes(filepath.Join(x.from, dir), filepath.Join(x.to, dir)); err != nil {
			done.Failed = append(done.Failed, Failure{dir, err})
		}
	}
	return nil
}

// kept are the paths that git doesn't ignore.
func (x *exporting) kept(paths []string, done *Exported) ([]string, error) {
	if x.o.Ignored == nil || len(paths) == 0 {
		return paths, nil
	}
	ignored, err := x.o.Ignored(x.ctx, paths)
	if err != nil {
		return nil, err
	}
	done.LeftOut = append(done.LeftOut, ignored...)
	out := map[string]bool{}
	for _, p := range ignored {
		out[p] = true
	}
	return slices.DeleteFunc(paths, func(p string) bool { return out[p] }), nil
}

// write writes what has these paths, and returns the directories among them.
func (x *exporting) write(paths []string, done *Exported) (dirs []string, err error) {
	for _, p := range paths {
		if err := x.ctx.Err(); err != nil {
			return nil, err
		}
		dir, isDir := strings.CutSuffix(p, "/")
		if isDir {
			err = os.Mkdir(filepath.Join(x.to, dir), 0o700)
		} else {
			err = mirror.Copy(filepath.Join(x.from, p), filepath.Join(x.to, p))
		}
		switch {
		case errors.Is(err, fs.ErrExist), err == nil:
		default:
			done.Failed = append(done.Failed, Failure{dir, err})
			continue
		}
		if isDir {
			dirs = append(dirs, dir)
		}
		done.Files++
		if x.o.Progress != nil {
			x.o.Progress(int64(done.Files))
		}
	}
	return dirs, nil
}
