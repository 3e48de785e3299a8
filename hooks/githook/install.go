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

// lockWait is how long an installation waits for another one.
const lockWait = 2 * time.Second

// Installer puts the git hooks of a repository in place, where git looks for
// them from the worktree of Repo, and takes them out again. Hooks that are
// there are run by ours. A folder that isn't the repository's own is never
// written to: core.hooksPath then leads to <common>/entire/hooks, whose scripts
// run that folder's hooks. docs/formats/hooks.md has the details.
type Installer struct {
	Repo *git.Repo
}

// Report tells what Install or Uninstall found and did.
type Report struct {
	Dir        string   // where git looks for hooks now
	Installed  []string // our hooks that are there now
	Chained    []string // hooks of others that ours run
	Redirected bool     // core.hooksPath leads to our folder
	Changed    bool     // something was written
	Notes      []string // what the user should know
}

// Status is what Check finds.
type Status struct {
	Report

	Missing     []string // hooks that aren't there
	Overwritten []string // hooks where somebody else's stands
	Outdated    []string // hooks of an older version or of the existing tool
	Former      string   // the folder that redirected hooks run, else ""
	NoFolder    bool     // git looks in a folder that doesn't exist, and so runs no hook
}

// OK tells whether git runs all our hooks.
func (s Status) OK() bool { return len(s.Installed) == len(recordedHooks()) }

// Install puts the hooks in place, or back in place where another tool wrote
// over them. It can be called at any time: where all is well it starts one git
// process, reads, and writes nothing.
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

// Uninstall gives every hook and setting back as it was.
func (i Installer) Uninstall(ctx context.Context) (Report, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("remove git hooks: %w", err)
	}
	r, err := i.uninstall(ctx)
	err = errors.Join(err, unlock(), i.removeLock())
	if err != nil {
		return r, fmt.Errorf("remove git hooks: %w", err)
	}
	return r, nil
}

// Check looks at the hooks and writes nothing.
func (i Installer) Check(ctx context.Context) (Status, error) {
	c, err := i.readConfig(ctx)
	if err != nil {
		return Status{}, err
	}
	s := Status{Report: c.report()}
	if s.Redirected {
		s.Former = c.formerDir()
	}
	if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
		s.NoFolder = true
	}
	d := hookDir{s.Dir, c.formOf(s.Dir)}
	for _, name := range recordedHooks() {
		f, err := d.read(name)
		if err != nil {
			return s, fmt.Errorf("check git hooks: %w", err)
		}
		switch f.origin {
		case nobody:
			s.Missing = append(s.Missing, name)
		case ours:
			s.Outdated = append(s.Outdated, name)
		case foreign:
			s.Overwritten = append(s.Overwritten, name)
		}
	}
	return s, nil
}

// dirs are the directories that scripts of ours belong in, by what the levels
// of configuration say.
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

// names are the hooks that belong in the directory.
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
			if ok, err := d.settled(name); err != nil || !ok {
				return false, err
			}
		}
	}
	return true, nil
}

// install does what is missing, under the lock: scripts first, then the
// configuration that makes git run them.
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
		if err := i.configure(ctx, c, l); err != nil {
			return nil, err
		}
	}
	if c.stray != "" {
		if err := (configFile{repo: i.Repo, path: c.stray}).set(ctx, formerKey); err != nil {
			return nil, err
		}
	}
	if own := (hookDir{c.own, besideForm}); c.ownIsOurs && !slices.Contains(dirs, own) {
		// Git doesn't look there any more, but the former folder may lead there.
		more, _, err := own.uninstallAll()
		return append(notes, more...), err
	}
	return notes, nil
}

func (i Installer) configure(ctx context.Context, c pathConfig, l level) error {
	switch {
	case c.settled(l):
		return nil
	case c.needsRedirect(l):
		return i.redirect(ctx, c, l)
	}
	// The path was set back by hand: what was before us is void.
	return configFile{repo: i.Repo, path: l.file}.set(ctx, formerKey)
}

// madeMark tells that the hooks directory itself is ours.
func (i Installer) madeMark() string {
	return filepath.Join(i.Repo.CommonDir, "entire", "made-hooks-dir")
}

func (i Installer) makeDir(d hookDir) error {
	if _, err := os.Stat(d.path); err == nil {
		return writable(d.path)
	}
	if d.form == besideForm {
		if err := disk.WriteDurable(i.madeMark(), nil, 0o600); err != nil {
			return err
		}
	}
	if err := disk.Step("mkdir", d.path); err != nil {
		return err
	}
	return os.MkdirAll(d.path, 0o755)
}

func (d hookDir) uninstallAll() (notes []string, changed bool, err error) {
	for _, name := range slices.Backward(recordedHooks()) {
		note, did, err := d.uninstall(name)
		if err != nil {
			return notes, changed, fmt.Errorf("%s: %w", name, err)
		}
		notes, changed = appendNote(notes, note), changed || did
	}
	return notes, changed, nil
}

// uninstall goes the way of install backwards: git stops looking in our folder
// in every worktree before the folder goes.
func (i Installer) uninstall(ctx context.Context) (Report, error) {
	c, err := i.readConfig(ctx)
	if err != nil {
		return Report{}, err
	}
	var r Report
	for _, file := range i.configFiles() {
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
	if err := i.unmakeDir(c.own); err != nil {
		return r, err
	}
	if c, err = i.readConfig(ctx); err != nil {
		return r, err
	}
	r.Dir = c.lookDir()
	return r, nil
}

// configFiles are the repository's configuration and that of each worktree.
func (i Installer) configFiles() []string {
	common := i.Repo.CommonDir
	files := []string{filepath.Join(common, "config"), filepath.Join(common, "config.worktree")}
	entries, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return files
	}
	for _, e := range entries {
		files = append(files, filepath.Join(common, "worktrees", e.Name(), "config.worktree"))
	}
	return files
}

// clear removes our scripts from the redirect's folder, and the folder if that
// was all there was.
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
	if err := disk.Step("remove", d.path); err != nil {
		return nil, true, err
	}
	return nil, true, os.Remove(d.path)
}

func (i Installer) unmakeDir(own string) error {
	if _, err := os.Stat(i.madeMark()); err != nil {
		return ignoreMissing(err)
	}
	_ = os.Remove(own) // stays if it isn't empty
	if err := disk.Step("remove", i.madeMark()); err != nil {
		return err
	}
	return os.Remove(i.madeMark())
}

func (i Installer) lockPath() string {
	return filepath.Join(i.Repo.CommonDir, "entire", "hooks.lock")
}

func (i Installer) lock(ctx context.Context) (unlock func() error, err error) {
	dir := filepath.Dir(i.lockPath())
	if err := disk.Step("mkdir", dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := disk.Lock(ctx, i.lockPath())
	if err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}

// removeLock takes away the last trace, and the directory if it is empty.
func (i Installer) removeLock() error {
	err := ignoreMissing(os.Remove(i.lockPath()))
	_ = os.Remove(filepath.Dir(i.lockPath()))
	return err
}

// lookDir is where git looks for hooks in this worktree.
func (c pathConfig) lookDir() string {
	if s, ok := c.at(c.effective()); ok {
		return resolve(c.base, s.value)
	}
	return c.own
}

func (c pathConfig) formOf(dir string) form {
	if dir == c.redirect {
		return redirectForm
	}
	return besideForm
}

// report describes what is in place in this worktree.
func (c pathConfig) report() Report {
	r := Report{Dir: c.lookDir()}
	d := hookDir{r.Dir, c.formOf(r.Dir)}
	r.Redirected = d.form == redirectForm
	names := recordedHooks()
	if r.Redirected {
		names = slices.Concat(clientHooks(), rareHooks(), names)
	}
	former := c.formerDir()
	for _, name := range names {
		f, err := d.read(name)
		if err != nil || f.origin != current && f.origin != edited {
			continue
		}
		if slices.Contains(recordedHooks(), name) {
			r.Installed = append(r.Installed, name)
		}
		if runs(d.path, name+backupSuffix) || r.Redirected && runs(former, name) {
			r.Chained = append(r.Chained, name)
		}
	}
	if slices.ContainsFunc(c.settings, func(s setting) bool { return s.scope == "command" }) {
		r.Notes = append(r.Notes, "core.hooksPath is set for this command only (git -c, or GIT_CONFIG_*): entire goes by the files")
	}
	return r
}

func appendNote(notes []string, note string) []string {
	if note == "" {
		return notes
	}
	return append(notes, note)
}
