package githook

import (
	"context"
	"fmt"
	"os"
	"slices"
)

// Status is the result of Check.
type Status struct {
	Report

	Missing     []string // hooks that are missing
	Overwritten []string // hooks that another program replaced
	Outdated    []string // hooks of an older version or of the existing tool
	Former      string   // the folder whose hooks the redirected ones run, else ""
	NoFolder    bool     // git looks in a folder that doesn't exist, and so runs no hook
}

// OK reports whether git runs all our hooks.
func (s Status) OK() bool { return len(s.Installed) == len(recordedHooks()) }

// AnyInstalled reports whether some of our hooks are there.
func (s Status) AnyInstalled() bool { return len(s.Installed)+len(s.Outdated) > 0 }

// Check examines the hooks and writes nothing.
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
		case absent:
			s.Missing = append(s.Missing, name)
		case ours:
			s.Outdated = append(s.Outdated, name)
		case foreign:
			s.Overwritten = append(s.Overwritten, name)
		case current, edited:
		}
	}
	return s, nil
}

// lookDir returns the folder in which git looks for hooks in this worktree.
func (c pathConfig) lookDir() string {
	if s, ok := c.at(c.levels[len(c.levels)-1]); ok { // the level in effect in this worktree
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

// report describes the hooks installed in this worktree.
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
		r.Notes = append(r.Notes, "core.hooksPath is set for this command only (git -c, or GIT_CONFIG_*): entire uses the configuration files")
	}
	return r
}
