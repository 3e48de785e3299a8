package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// repoSettings is what discovery needs of the repository's configuration.
type repoSettings struct {
	bare           bool
	worktree       string // core.worktree
	worktreeConfig bool
	objectFormat   string
	refs           string // extensions.refstorage
	shared         bool   // core.sharedRepository: others write here too
}

// readSettings reads the files that git reads for this, without includes, and
// by git's rules for a linked worktree: core.bare and core.worktree of the
// common file aren't its own unless extensions.worktreeConfig is set.
func readSettings(f found) (repoSettings, error) {
	var s repoSettings
	if err := readConfig(&s, filepath.Join(f.commonDir, "config")); err != nil {
		return s, err
	}
	if s.worktreeConfig {
		err := readConfig(&s, filepath.Join(f.gitDir, "config.worktree"))
		return s, err
	}
	if f.gitDir != f.commonDir {
		s.bare, s.worktree = false, ""
	}
	return s, nil
}

func readConfig(s *repoSettings, path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	parseConfig(data, func(section, key, value string) {
		switch section + "." + key {
		case "core.bare":
			s.bare = isTrue(value)
		case "core.worktree":
			s.worktree = value
		case "core.sharedrepository":
			s.shared = isTrue(value) && value != "umask"
		case "extensions.worktreeconfig":
			s.worktreeConfig = isTrue(value)
		case "extensions.objectformat":
			s.objectFormat = value
		case "extensions.refstorage":
			s.refs = value
		}
	})
	return nil
}

// Config is git's configuration of a repository, as git's own processes have it. Its
// methods may be called at the same time.
type Config struct {
	repo *Repo

	varsMu sync.Mutex          // guards vars
	vars   map[string][]string // what Variables returns, nil until it is read

	sshOnce sync.Once // guards ownSSH
	ownSSH  bool      // the user has an ssh command, which we don't replace
}

// Match returns the settings whose keys match the regular expression, the last
// value of each. Section and name of a key are in lower case, a subsection is
// as written. A key without a value is "true".
func (c *Config) Match(ctx context.Context, regexp string) (map[string]string, error) {
	out, err := c.repo.Run(ctx, "config", "-z", "--get-regexp", regexp)
	if exit, ok := errors.AsType[*ExitError](err); ok && exit.Code == 1 {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	values := make(map[string]string)
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true"
		}
		values[key] = value
	}
	return values, nil
}

// Variables returns what `git var -l` prints: git's settings, with includes and those
// of the environment, and variables such as GIT_COMMITTER_IDENT; all values of each, in
// order. Keys are as git prints them, a setting without a value is "true". They are read
// once; those that a later process of this program changes are not seen.
//
// A value of several lines also gives entries that are none.
func (c *Config) Variables(ctx context.Context) (map[string][]string, error) {
	c.varsMu.Lock()
	defer c.varsMu.Unlock()
	if c.vars != nil {
		return c.vars, nil
	}
	out, err := c.repo.Do(ctx, Command{Args: []string{"var", "-l"}, Early: true})
	if err != nil {
		return nil, err
	}
	values := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			value = "true"
		}
		values[key] = append(values[key], value)
	}
	c.vars = values
	return values, nil
}

// LookupEnv returns a variable of the environment of git's processes, and false if they
// don't have it.
func (c *Config) LookupEnv(name string) (value string, found bool) {
	for _, e := range c.repo.processes.environ() {
		if v, is := strings.CutPrefix(e, name+"="); is {
			value, found = v, true
		}
	}
	return value, found
}

// HasSSHCommand reports whether the user has an ssh command of their own, and true
// if that can't be determined.
func (c *Config) HasSSHCommand(ctx context.Context) bool {
	c.sshOnce.Do(func() {
		for _, e := range c.repo.processes.environ() {
			if strings.HasPrefix(e, "GIT_SSH=") || strings.HasPrefix(e, "GIT_SSH_COMMAND=") {
				c.ownSSH = true
				return
			}
		}
		own, err := c.Match(ctx, `^core\.sshcommand$`)
		c.ownSSH = err != nil || len(own) > 0
	})
	return c.ownSSH
}
