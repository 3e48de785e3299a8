package githook

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// configFile edits one configuration file through git.
type configFile struct {
	repo *git.Repo
	path string
}

func (f configFile) run(ctx context.Context, args ...string) error {
	if err := disk.Step("config", f.path); err != nil {
		return err
	}
	_, err := f.repo.Run(ctx, append([]string{"config", "--file", f.path}, args...)...)
	return err
}

// values returns the values of a key in the file itself, without includes.
func (f configFile) values(ctx context.Context, key string) ([]string, error) {
	out, err := f.repo.Run(ctx, "config", "--file", f.path, "-z", "--get-all", key)
	if exit, ok := errors.AsType[*git.ExitError](err); ok && exit.Code == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// set sets the values of a key; without values it unsets the key.
func (f configFile) set(ctx context.Context, key string, values ...string) error {
	if len(values) == 0 {
		const notThere = 5
		err := f.run(ctx, "--unset-all", key)
		if exit, ok := errors.AsType[*git.ExitError](err); ok && exit.Code == notThere {
			return nil
		}
		return err
	}
	if err := f.run(ctx, "--replace-all", key, values[0]); err != nil {
		return err
	}
	for _, v := range values[1:] {
		if err := f.run(ctx, "--add", key, v); err != nil {
			return err
		}
	}
	return nil
}

// redirect sets core.hooksPath to our folder. The former value is recorded before, because the
// scripts need it as soon as git reads the new one.
func (i Installer) redirect(ctx context.Context, c pathConfig, l level) error {
	f := configFile{repo: i.Repo, path: l.file}
	values, err := f.values(ctx, pathKey)
	if err != nil {
		return err
	}
	s, ok := c.at(l)
	if stale := ok && s.scope == l.scope && c.isRedirect(s.value); !stale {
		if err := f.set(ctx, formerKey, values...); err != nil {
			return err
		}
	}
	if err := f.set(ctx, pathKey, c.redirect); err != nil {
		return err
	}
	// A file included further down would override the value. A new section is written at the end.
	if c, err = i.readConfig(ctx); err != nil {
		return err
	}
	if s, ok = c.at(l); ok && s.value == c.redirect {
		return nil
	}
	if err := f.set(ctx, pathKey); err != nil {
		return err
	}
	if err := f.set(ctx, "entire-redirect.hooksPath", c.redirect); err != nil {
		return err
	}
	return f.run(ctx, "--rename-section", "entire-redirect", "core")
}

// restore restores the former hook path in a configuration file if it still has ours, and removes
// the record of it.
func (i Installer) restore(ctx context.Context, c pathConfig, path string) (changed bool, err error) {
	text, err := disk.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "hooks") && !strings.Contains(string(text), "ormerHooksPath") {
		return false, ignoreMissing(err)
	}
	f := configFile{repo: i.Repo, path: path}
	former, err := f.values(ctx, formerKey)
	if err != nil {
		return false, err
	}
	values, err := f.values(ctx, pathKey)
	if err != nil {
		return false, err
	}
	if len(values) > 0 && c.isRedirect(values[len(values)-1]) {
		changed = true
		if err := f.set(ctx, pathKey, former...); err != nil {
			return false, err
		}
	}
	if len(former) == 0 {
		return changed, nil
	}
	return true, f.set(ctx, formerKey)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
