package restore

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// unitSteps executes the steps of a directory's databases.
func (a *applier) unitSteps(n *dirNode, steps []*action, buf *bands.CopyBuffer) {
	slices.SortStableFunc(steps, func(x, y *action) int { return cmp.Compare(x.Unit, y.Unit) })
	for len(steps) > 0 && !a.stopped() {
		end := 1
		for end < len(steps) && steps[end].Unit == steps[0].Unit {
			end++
		}
		if err := a.unit(place{Dir: n.fd, bare: n.bare}, band.BasePath(n.Units[steps[0].Unit-1].Main), steps[:end], buf); err != nil {
			for _, s := range steps[:end] {
				a.Fail(s.Path, err)
			}
		}
		steps = steps[end:]
	}
}

// unit restores a database: all files are first written beside it, so that they are inconsistent
// only while they are renamed. The main file is renamed before a journal or log that will be
// played back into it.
func (w *fileWriter) unit(dir place, main string, steps []*action, buf *bands.CopyBuffer) (err error) {
	temps := map[*action]string{}
	defer func() {
		for _, temp := range temps {
			err = errors.Join(err, unlinkIfThere(dir.Dir, temp))
		}
	}()
	if err := w.beside(dir, steps, temps, buf); err != nil {
		return err
	}
	if err := unlinkIfThere(dir.Dir, main+"-shm"); err != nil {
		return err
	}
	for _, s := range steps {
		if s.Entry == nil {
			if err := unlinkIfThere(dir.Dir, band.BasePath(s.Path)); err != nil {
				return err
			}
		}
	}
	for _, s := range steps { // sorted: the main file has the shortest name
		var err error
		if temp, ok := temps[s]; ok && s.Was != nil {
			err = w.replace(dir.Dir, temp, band.BasePath(s.Path), s)
			delete(temps, s)
		} else if ok {
			if err = dir.Rename(temp, dir.Dir, band.BasePath(s.Path)); err == nil {
				delete(temps, s)
			}
		} else if s.Entry != nil {
			err = w.changeAttributes(dir.Dir, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beside checks that the files of a database are unchanged, and writes the new ones under the
// temporary names in temps.
func (w *fileWriter) beside(dir place, steps []*action, temps map[*action]string, buf *bands.CopyBuffer) error {
	for _, s := range steps {
		name := band.BasePath(s.Path)
		if s.Was != nil {
			if _, err := w.unchanged(dir.Dir, name, s.Was); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		} else if err := dir.Stat(name, new(dirfd.Stat)); err == nil {
			return dirfd.ErrChanged // a program created it
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if s.Entry == nil || s.Kind == StepAttributes {
			continue
		}
		temp, err := w.tempIn(dir.Dir)
		if err != nil {
			return err
		}
		temps[s] = temp
		if err := w.write(dir, temps[s], s.Path, s.Entry, buf); err != nil {
			return err
		}
	}
	return nil
}
