package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Uninstall restores every hook and setting.
func (i Installer) Uninstall(ctx context.Context) (Report, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("remove git hooks: %w", err)
	}
	r, err := i.uninstall(ctx)
	err = errors.Join(err, i.forgetSeen(), unlock(), ignoreMissing(os.Remove(i.lockPath())))
	_ = os.Remove(filepath.Dir(i.lockPath())) // fails if it isn't empty
	if err != nil {
		return r, fmt.Errorf("remove git hooks: %w", err)
	}
	return r, nil
}

func (d hookDir) uninstallAll() (notes []string, changed bool, err error) {
	for _, name := range slices.Backward(recordedHooks()) {
		note, did, err := d.uninstall(name)
		if err != nil {
			return notes, changed, fmt.Errorf("%s: %w", name, err)
		}
		notes, changed = appendNote(notes, note), changed || did
	}
	if d.form != besideForm {
		return notes, changed, nil
	}
	for _, name := range recordedHooks() {
		if err := d.clearName(name); err != nil {
			return notes, changed, err
		}
	}
	return notes, changed, nil
}

// uninstall reverses the steps of install: the configuration of all worktrees is restored before
// the folder is removed.
func (i Installer) uninstall(ctx context.Context) (Report, error) {
	c, err := i.readConfig(ctx)
	if err != nil {
		return Report{}, err
	}
	var r Report
	common := i.Repo.CommonDir
	files := []string{filepath.Join(common, "config"), filepath.Join(common, "config.worktree")}
	if entries, err := os.ReadDir(filepath.Join(common, "worktrees")); err == nil {
		for _, e := range entries {
			files = append(files, filepath.Join(common, "worktrees", e.Name(), "config.worktree"))
		}
	}
	for _, file := range files {
		did, err := i.restore(ctx, c, file)
		if err != nil {
			return r, err
		}
		r.Changed = r.Changed || did
	}
	if c.ownIsOurs {
		notes, did, err := hookDir{c.own, besideForm}.uninstallAll()
		r.Notes, r.Changed = append(r.Notes, notes...), r.Changed || did
		if err != nil {
			return r, err
		}
	}
	notes, did, err := hookDir{c.redirect, redirectForm}.clear()
	r.Notes, r.Changed = append(r.Notes, notes...), r.Changed || did
	if err != nil {
		return r, err
	}
	switch _, err := os.Stat(i.madeMark()); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return r, err
	default:
		_ = os.Remove(c.own) // fails if it isn't empty
		if err := disk.Remove(i.madeMark()); err != nil {
			return r, err
		}
	}
	if c, err = i.readConfig(ctx); err != nil {
		return r, err
	}
	r.Dir = c.lookDir()
	return r, nil
}

// clear removes our scripts from the redirect folder, and the folder if it had no other files.
func (d hookDir) clear() (notes []string, changed bool, err error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, false, ignoreMissing(err)
	}
	kept := 0
	for _, e := range entries {
		f, err := d.read(e.Name())
		if err != nil {
			return nil, changed, err
		}
		if f.origin != current && f.origin != ours {
			kept++
			notes = append(notes, filepath.Join(d.path, e.Name())+" isn't entire's and stays")
			continue
		}
		if err := d.remove(e.Name()); err != nil {
			return nil, changed, err
		}
	}
	if kept > 0 {
		return notes, true, nil
	}
	return nil, true, disk.Remove(d.path)
}
