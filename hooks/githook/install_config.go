package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

const (
	pathKey   = "core.hooksPath"
	formerKey = "entire.formerHooksPath"
	bothKeys  = `^(core\.hookspath|entire\.formerhookspath)$`
)

// setting is a value of one of the two keys, in git's order: the last one is in effect.
type setting struct {
	scope, file string // file is empty if the value is from no file
	former      bool   // entire.formerHooksPath
	value       string
}

// level is a place where core.hooksPath can be set for this repository: its common configuration,
// or that of one worktree.
type level struct {
	scope, file string
}

// pathConfig is the configuration of the hook paths in a worktree.
type pathConfig struct {
	settings  []setting
	levels    []level // the common level, and this worktree's if it sets a path
	stray     string  // the worktree's configuration if it has only a former path
	base      string  // base of relative paths
	redirect  string  // <common>/entire/hooks
	own       string  // <common>/hooks
	ownIsOurs bool    // own may be written to
}

func (i Installer) readConfig(ctx context.Context) (pathConfig, error) {
	c := pathConfig{
		base:     i.Repo.Root,
		redirect: filepath.Join(i.Repo.CommonDir, "entire", "hooks"),
		own:      filepath.Join(i.Repo.CommonDir, "hooks"),
	}
	if c.base == "" {
		c.base = i.Repo.GitDir
	}
	c.ownIsOurs = isOwn(i.Repo.CommonDir, c.own)
	out, err := i.Repo.Run(ctx, "config", "--show-scope", "--show-origin", "-z", "--get-regexp", bothKeys)
	if exit, ok := errors.AsType[*git.ExitError](err); err != nil && (!ok || exit.Code != 1) {
		return c, fmt.Errorf("read hook paths: %w", err)
	}
	c.settings = parseSettings(string(out), c.base)
	// Expand ~ as git does. Values to be restored later are read again, verbatim.
	for n, s := range c.settings {
		if !strings.HasPrefix(s.value, "~") && !strings.HasPrefix(s.value, "%(prefix)") {
			continue
		}
		out, err := i.Repo.Run(ctx, "config", "--type=path", "--default", s.value, "--get", "entire.noSuchKey")
		if err != nil {
			return c, fmt.Errorf("read hook paths: %w", err)
		}
		c.settings[n].value = strings.TrimSuffix(string(out), "\n")
	}
	c.levels = []level{{"local", filepath.Join(i.Repo.CommonDir, "config")}}
	switch own := (level{"worktree", filepath.Join(i.Repo.GitDir, "config.worktree")}); {
	case c.has(own, false):
		c.levels = append(c.levels, own)
	case c.has(own, true):
		c.stray = own.file
	}
	return c, nil
}

// isOwn reports whether the hooks directory is inside the git directory or missing. It may be a
// symbolic link to a folder of another user, or not a directory at all.
func isOwn(common, hooks string) bool {
	if _, err := os.Lstat(hooks); errors.Is(err, os.ErrNotExist) {
		return true
	}
	physical, err := filepath.EvalSymlinks(hooks)
	if err != nil {
		return false
	}
	info, err := os.Stat(physical)
	return err == nil && info.IsDir() && strings.HasPrefix(physical, common+string(filepath.Separator))
}

// parseSettings parses records of the form "scope NUL origin NUL key LF value NUL".
func parseSettings(out, base string) []setting {
	fields := strings.Split(out, "\x00")
	var settings []setting
	for ; len(fields) >= 3; fields = fields[3:] {
		key, value, _ := strings.Cut(fields[2], "\n")
		s := setting{scope: fields[0], former: strings.EqualFold(key, formerKey), value: value}
		if name, ok := strings.CutPrefix(fields[1], "file:"); ok {
			s.file = resolve(base, name)
		}
		settings = append(settings, s)
	}
	return settings
}

func resolve(base, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return path
}

// at returns the hook path in effect at a level, false if there is none.
func (c pathConfig) at(l level) (setting, bool) {
	for _, s := range slices.Backward(c.settings) {
		if !s.former && s.scope != "command" && (s.scope == l.scope || l.scope == "local" && s.scope != "worktree") {
			return s, true
		}
	}
	return setting{}, false
}

// isRedirect reports whether a value leads to our scripts: those of this repository, or those at
// its path before it was moved or copied.
func (c pathConfig) isRedirect(value string) bool {
	if value == c.redirect {
		return true
	}
	if !strings.HasSuffix(filepath.ToSlash(value), "/entire/hooks") {
		return false
	}
	if _, err := os.Stat(value); errors.Is(err, os.ErrNotExist) {
		return true
	}
	text, err := disk.ReadFile(filepath.Join(value, "commit-msg"))
	return err == nil && strings.Contains(string(text), marker)
}

// needsRedirect reports whether git looks for hooks in a folder to which we don't write.
func (c pathConfig) needsRedirect(l level) bool {
	s, ok := c.at(l)
	if !ok {
		return !c.ownIsOurs
	}
	named, err := filepath.EvalSymlinks(resolve(c.base, s.value))
	own, ownErr := filepath.EvalSymlinks(c.own)
	return !c.ownIsOurs || err != nil || ownErr != nil || named != own
}

// settled reports whether the level's configuration needs no change.
func (c pathConfig) settled(l level) bool {
	s, ok := c.at(l)
	if c.needsRedirect(l) {
		return ok && s.value == c.redirect && s.scope == l.scope
	}
	return !c.has(l, true)
}

// has reports whether a level sets the path, or the former path.
func (c pathConfig) has(l level, former bool) bool {
	return slices.ContainsFunc(c.settings, func(s setting) bool { return s.former == former && s.scope == l.scope })
}

// formerDir returns the folder whose hooks the scripts in the redirect folder run. They determine
// it in the same way.
func (c pathConfig) formerDir() string {
	for _, s := range slices.Backward(c.settings) {
		switch {
		case s.scope == "command", c.isRedirect(s.value):
		case s.value == "":
			return "/" // as git interprets it
		default:
			return resolve(c.base, s.value)
		}
	}
	return c.own
}
