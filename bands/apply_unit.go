package bands

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// unitSteps carries out the steps of a directory's databases.
func (a *applier) unitSteps(n *spot, steps []*action, buf *scratch) {
	slices.SortStableFunc(steps, func(x, y *action) int { return cmp.Compare(x.unit, y.unit) })
	for len(steps) > 0 && !a.stopped() {
		end := 1
		for end < len(steps) && steps[end].unit == steps[0].unit {
			end++
		}
		if err := a.unit(n.fd, baseOf(n.units[steps[0].unit-1].main), steps[:end], buf); err != nil {
			for _, s := range steps[:end] {
				a.fail(s.Path, err)
			}
		}
		steps = steps[end:]
	}
}

// unit restores a database: everything is written beside it first, so that its
// files are of different times only while they are renamed. The main file
// comes before a journal or log that is to be played back into it.
func (a *applier) unit(dir *dirfd.Dir, main string, steps []*action, buf *scratch) (err error) {
	temps := map[*action]string{}
	defer func() {
		for _, temp := range temps {
			err = errors.Join(err, unlinkIfThere(dir, temp))
		}
	}()
	if err := a.beside(dir, steps, temps, buf); err != nil {
		return err
	}
	if err := unlinkIfThere(dir, main+"-shm"); err != nil {
		return err
	}
	for _, s := range steps {
		if s.Entry == nil {
			if err := unlinkIfThere(dir, baseOf(s.Path)); err != nil {
				return err
			}
		}
	}
	for _, s := range steps { // sorted: the main file has the shortest name
		var err error
		if temp, ok := temps[s]; ok && s.Was != nil {
			err = a.replaceBy(dir, temp, baseOf(s.Path), s.Was)
			delete(temps, s)
		} else if ok {
			err = dir.Rename(temp, baseOf(s.Path))
			delete(temps, s)
		} else if s.Entry != nil {
			err = a.changeAttributes(dir, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beside checks that nothing has changed, and writes the files of a database
// under the names of temps.
func (a *applier) beside(dir *dirfd.Dir, steps []*action, temps map[*action]string, buf *scratch) error {
	for _, s := range steps {
		if s.Was != nil {
			if _, err := a.unchanged(dir, baseOf(s.Path), s.Was); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if s.Entry == nil || s.Kind == StepAttributes {
			continue
		}
		temp, err := a.tempIn(dir)
		if err != nil {
			return err
		}
		temps[s] = temp
		if err := a.write(dir, temps[s], s.Path, s.Entry, buf); err != nil {
			return err
		}
	}
	return nil
}
