package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/disk"
)

const (
	exchangeFile   = "converting.json"
	exchangeFormat = 1
)

// exchange is the record that a conversion writes before it exchanges two folders.
type exchange struct {
	Format int    `json:"format"`
	Root   string `json:"root"`
	// Fresh is the folder of the new store, Former the path where the one at Root is kept.
	Fresh  string `json:"fresh"`
	Former string `json:"former"`
	// Identity identifies the folder that was at Root, without a mount; empty until the volumes are
	// closed. Where that folder is shows whether the two were exchanged.
	Identity string `json:"identity,omitempty"`
	// From and To are the folders of the two stores; From is empty if Root belonged to none.
	From string `json:"from,omitempty"`
	To   string `json:"to"`
}

// identity identifies a folder among others at the same path.
func identity(path string) string {
	if id := disk.Identity(path); id != "" {
		return id
	}
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	return disk.Inode(info)
}

func (c Converter) exchangePath() string { return filepath.Join(c.Home, exchangeFile) }

// exchange exchanges the folders of a conversion. The caller holds the registry's lock. After an
// error before the exchange everything is as it was.
func (c Converter) exchange(ctx context.Context, j exchange) error {
	if to, err := loadEntry(j.To); err != nil || to.Root != j.Fresh {
		return errors.Join(err, fmt.Errorf("%s was converted by another command", j.Root))
	}
	if err := c.note(j); err != nil {
		return err
	}
	from, to, err := j.sides()
	if err == nil && from != nil {
		err = from.Close(j.Root, false)
	}
	if err == nil && to != nil {
		err = to.Close(j.Fresh, false)
	}
	if err == nil {
		j.Identity = identity(j.Root)
		err = c.note(j)
	}
	if err == nil {
		err = disk.Exchange(j.Root, j.Fresh)
	}
	if err != nil {
		if j.Identity == "" || identity(j.Root) == j.Identity {
			return errors.Join(err, c.cancelExchange(j))
		}
		return err // the next command finishes it
	}
	return c.finishExchange(context.WithoutCancel(ctx), j)
}

// note records the progress of the exchange.
func (c Converter) note(j exchange) error {
	return disk.WriteJSON(c.exchangePath(), j)
}

// sides returns the drivers of the two stores, nil for trees.
func (j exchange) sides() (from, to volume.Driver, err error) { //nolint:ireturn // drivers by their names
	driver := func(dir string) (volume.Driver, error) {
		if dir == "" {
			return nil, nil //nolint:nilnil // no store
		}
		e, err := loadEntry(dir)
		if err != nil || e.Driver == "" {
			return nil, err
		}
		d, ok := volume.Named(e.Driver, volume.Place{Store: dir})
		if !ok {
			return nil, &volume.MissingError{Driver: e.Driver, Err: errors.ErrUnsupported}
		}
		return d, nil
	}
	if from, err = driver(j.From); err == nil {
		to, err = driver(j.To)
	}
	return from, to, err
}

// cancelExchange undoes the steps before the exchange of the folders.
func (c Converter) cancelExchange(j exchange) error {
	from, to, err := j.sides()
	if err == nil && from != nil {
		err = from.Open(j.Root)
	}
	if err == nil && to != nil {
		err = to.Open(j.Fresh)
	}
	if err != nil {
		return err
	}
	return disk.Remove(c.exchangePath())
}

// finishExchange carries out the steps after the exchange of the folders.
func (c Converter) finishExchange(ctx context.Context, j exchange) error {
	if identity(j.Fresh) == j.Identity {
		var batch disk.Batch
		batch.Rename(j.Fresh, j.Former)
		if err := batch.Commit(); err != nil {
			return err
		}
	}
	if j.From != "" {
		_, err := c.change(ctx, j.From, func(info *bands.Info) {
			info.Root, info.RootID = j.Former, ""
			if volume.Contained(info.Driver) {
				info.Mounted = nil
			} else {
				info.RootID = disk.Identity(j.Former)
			}
		})
		if err != nil {
			return err
		}
	}
	_, to, err := j.sides()
	if err == nil && to != nil {
		err = to.Open(j.Root)
	}
	if err != nil {
		return err
	}
	_, err = c.change(ctx, j.To, func(info *bands.Info) {
		info.Root, info.RootID, info.Former = j.Root, "", j.Former
		if !volume.Contained(info.Driver) {
			info.RootID = disk.Identity(j.Root)
		}
	})
	if err != nil {
		return err
	}
	return disk.Remove(c.exchangePath())
}

// End ends an interrupted exchange of folders: it completes it if the folders were exchanged, else
// it cancels it. It returns a description of the result; empty if there was none.
func (c Converter) End(ctx context.Context) (string, error) {
	if c.Home == "" {
		return "", nil
	}
	if _, err := os.Lstat(c.exchangePath()); err != nil {
		return "", nil //nolint:nilerr // there is none, or no home
	}
	did := ""
	err := c.alone(ctx, func() (err error) {
		did, err = c.endAlone(ctx)
		return err
	})
	if err != nil {
		err = fmt.Errorf("finish an interrupted conversion: %w", err)
	}
	return did, err
}

// endAlone is End for callers that hold the registry's lock.
func (c Converter) endAlone(ctx context.Context) (string, error) {
	if c.Home == "" {
		return "", nil
	}
	var j exchange
	found, err := disk.ReadJSON(c.exchangePath(), &j)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", exchangeFile, err)
	case !found:
		return "", nil
	case j.Format != exchangeFormat:
		return "", fmt.Errorf("%s: format %d is from another version", exchangeFile, j.Format)
	case j.Identity == "" || identity(j.Root) == j.Identity:
		return fmt.Sprintf("canceled the interrupted conversion of %s: nothing has changed", j.Root), c.cancelExchange(j)
	}
	return fmt.Sprintf("completed the interrupted conversion of %s: its old folder is %s", j.Root, j.Former),
		c.finishExchange(ctx, j)
}
