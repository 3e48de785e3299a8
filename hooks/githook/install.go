package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// lockWait is the maximum time for which an installation waits for another one.
const lockWait = 2 * time.Second

// Installer installs the git hooks of a repository, where git looks for them from the worktree of
// Repo, and uninstalls them. Existing hooks are run by ours. A folder that isn't the repository's
// own is never written to: core.hooksPath is then set to <common>/entire/hooks, whose scripts run
// that folder's hooks. docs/formats/hooks.md has the details.
type Installer struct {
	Repo *git.Repo
}

// Report is the result of Install or Uninstall.
type Report struct {
	Dir        string   // where git now looks for hooks
	Installed  []string // our hooks that are now in place
	Chained    []string // hooks of other programs that ours run
	Redirected bool     // core.hooksPath names our folder
	Changed    bool     // something was written
	Notes      []string // messages for the user
}

// Install installs the hooks, also if another tool has overwritten them. It can be called at any
// time: if everything is in place it starts one git process, reads, and writes nothing.
func (i Installer) Install(ctx context.Context) (Report, error) {
	c, err := i.readConfig(ctx)
	if err != nil {
		return Report{}, err
	}
	if ok, err := i.settled(c); err != nil || ok {
		return c.report(), err
	}
	unlock, err := i.lock(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("install git hooks: %w", err)
	}
	notes, err := i.install(ctx)
	err = errors.Join(err, unlock())
	if err != nil {
		return Report{}, fmt.Errorf("install git hooks: %w", err)
	}
	if c, err = i.readConfig(ctx); err != nil {
		return Report{}, err
	}
	r := c.report()
	r.Changed, r.Notes = true, append(notes, r.Notes...)
	return r, nil
}

// dirs returns the directories that need our scripts, for the levels of configuration.
func (c pathConfig) dirs() []hookDir {
	var dirs []hookDir
	for _, l := range c.levels {
		d := hookDir{c.own, besideForm}
		if c.needsRedirect(l) {
			d = hookDir{c.redirect, redirectForm}
		}
		if !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// names returns the hooks to be installed in the directory.
func (c pathConfig) names(d hookDir) []string {
	if d.form == besideForm {
		return recordedHooks()
	}
	names := clientHooks()
	for _, name := range rareHooks() {
		if runs(c.formerDir(), name) {
			names = append(names, name)
		}
	}
	return append(names, recordedHooks()...)
}

func (i Installer) settled(c pathConfig) (bool, error) {
	if c.stray != "" {
		return false, nil
	}
	for _, l := range c.levels {
		if !c.settled(l) {
			return false, nil
		}
	}
	for _, d := range c.dirs() {
		for _, name := range c.names(d) {
			f, err := d.read(name)
			if err != nil || f.origin != current && f.origin != edited {
				return false, err
			}
		}
	}
	return true, nil
}

// install adds the missing parts, under the lock: first the scripts, then the configuration that
// makes git run them.
func (i Installer) install(ctx context.Context) (notes []string, err error) {
	c, err := i.readConfig(ctx)
	if err != nil {
		return nil, err
	}
	dirs := c.dirs()
	for _, d := range dirs {
		if err := i.makeDir(d); err != nil {
			return nil, err
		}
		for _, name := range c.names(d) {
			note, err := d.install(name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			notes = appendNote(notes, note)
		}
	}
	for _, l := range c.levels {
		switch {
		case c.settled(l):
			continue
		case c.needsRedirect(l):
			err = i.redirect(ctx, c, l)
		default:
			// The user has reset the path, so the recorded former path is obsolete.
			err = configFile{repo: i.Repo, path: l.file}.set(ctx, formerKey)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.stray != "" {
		if err := (configFile{repo: i.Repo, path: c.stray}).set(ctx, formerKey); err != nil {
			return nil, err
		}
	}
	if own := (hookDir{c.own, besideForm}); c.ownIsOurs && !slices.Contains(dirs, own) {
		// Git no longer looks there, but the former path may lead there.
		more, _, err := own.uninstallAll()
		return append(notes, more...), err
	}
	return notes, nil
}

// madeMark returns the path of the file that records that we created the hooks directory.
func (i Installer) madeMark() string {
	return filepath.Join(i.Repo.CommonDir, "entire", "made-hooks-dir")
}

func (i Installer) makeDir(d hookDir) error {
	if _, err := os.Stat(d.path); err == nil {
		// Check before the first change whether the directory is writable.
		f, err := os.CreateTemp(d.path, ".entire-tmp-*")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if d.form == besideForm {
		if err := disk.WriteDurable(i.madeMark(), nil, 0o600); err != nil {
			return err
		}
	}
	return disk.MkdirAll(d.path, 0o755)
}

func (i Installer) lockPath() string {
	return filepath.Join(i.Repo.CommonDir, "entire", "hooks.lock")
}

func (i Installer) lock(ctx context.Context) (unlock func() error, err error) {
	dir := filepath.Dir(i.lockPath())
	if err := disk.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := disk.AcquireLock(ctx, i.lockPath())
	if err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}

func appendNote(notes []string, note string) []string {
	if note == "" {
		return notes
	}
	return append(notes, note)
}
