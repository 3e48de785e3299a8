package apply

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/seed-3aff656d/entire/bands/contents"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/swap"
)

// unitSteps executes the steps of a directory's databases.
func (a *Applier) unitSteps(n *DirNode, steps []*plan.Action, buf *contents.Scratch) {
	slices.SortStableFunc(steps, func(x, y *plan.Action) int { return cmp.Compare(x.Unit, y.Unit) })
	for len(steps) > 0 && !a.stopped() {
		end := 1
		for end < len(steps) && steps[end].Unit == steps[0].Unit {
			end++
		}
		if err := a.unit(place{Dir: n.fd, bare: n.bare}, tree.BasePath(n.Units[steps[0].Unit-1].Main), steps[:end], buf); err != nil {
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
func (w *fileWriter) unit(dir place, main string, steps []*plan.Action, buf *contents.Scratch) (err error) {
	temps := map[*plan.Action]string{}
	defer func() {
		for _, temp := range temps {
			err = errors.Join(err, UnlinkIfThere(dir.Dir, temp))
		}
	}()
	if err := w.beside(dir, steps, temps, buf); err != nil {
		return err
	}
	if err := UnlinkIfThere(dir.Dir, main+"-shm"); err != nil {
		return err
	}
	for _, s := range steps {
		if s.Entry == nil {
			if err := UnlinkIfThere(dir.Dir, tree.BasePath(s.Path)); err != nil {
				return err
			}
		}
	}
	for _, s := range steps { // sorted: the main file has the shortest name
		var err error
		if temp, ok := temps[s]; ok && s.Was != nil {
			err = w.replace(dir.Dir, temp, tree.BasePath(s.Path), s)
			delete(temps, s)
		} else if ok {
			if err = dir.Rename(temp, dir.Dir, tree.BasePath(s.Path)); err == nil {
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
func (w *fileWriter) beside(dir place, steps []*plan.Action, temps map[*plan.Action]string, buf *contents.Scratch) error {
	for _, s := range steps {
		name := tree.BasePath(s.Path)
		if s.Was != nil {
			if _, err := w.unchanged(dir.Dir, name, s.Was); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		} else if err := dir.Stat(name, new(dirfd.Stat)); err == nil {
			return swap.ErrChanged // a program created it
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if s.Entry == nil || s.Kind == plan.StepAttributes {
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
