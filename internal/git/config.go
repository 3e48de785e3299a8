package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// repoSettings holds the settings of the repository that discovery needs.
type repoSettings struct {
	bare           bool
	worktree       string // core.worktree
	worktreeConfig bool
	objectFormat   string
	refs           string // extensions.refstorage
	shared         bool   // core.sharedRepository: other users write here, too
}

// readSettings reads the files that git reads for these settings, without includes. By git's rules
// for a linked worktree, core.bare and core.worktree of the common file don't apply to it unless
// extensions.worktreeConfig is set.
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
	parseConfig(data, func(e configEntry) {
		value := e.value
		if !e.isPlain {
			return
		}
		switch e.section + "." + e.key {
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

// OriginURLs returns the URLs of the remote origin, as configured and with the abbreviations of
// url.*.insteadOf expanded. It reads the repository's configuration and globals, files of the user's,
// without their includes, and starts no git process.
func OriginURLs(r *Repo, globals ...string) ([]string, error) {
	var urls []string
	long := map[string]string{} // by abbreviation
	own := []string{filepath.Join(r.CommonDir, "config"), filepath.Join(r.GitDir, "config.worktree")}
	for i, path := range append(slices.Clone(globals), own...) {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || err != nil && i < len(globals) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		parseConfig(data, func(e configEntry) {
			switch {
			case e.section == "remote" && e.sub == "origin" && (e.key == "url" || e.key == "pushurl"):
				urls = append(urls, e.value)
			case e.section == "url" && (e.key == "insteadof" || e.key == "pushinsteadof") && e.value != "":
				long[e.value] = e.sub
			}
		})
	}
	for _, url := range slices.Clone(urls) {
		longest := ""
		for short := range long {
			if strings.HasPrefix(url, short) && len(short) > len(longest) {
				longest = short
			}
		}
		if longest != "" {
			urls = append(urls, long[longest]+strings.TrimPrefix(url, longest))
		}
	}
	return urls, nil
}

// Config reads git's configuration of a repository, as it applies to git processes. Its methods are
// safe for concurrent use.
type Config struct {
	repo *Repo

	varsMu sync.Mutex          // guards vars
	vars   map[string][]string // result of Variables, nil until it is read

	sshOnce sync.Once // guards ownSSH
	ownSSH  bool      // the user has an ssh command, which we don't replace
}

// Match returns the settings whose keys match the regular expression, with the last value of each.
// Section and name of a key are in lower case, a subsection is unchanged. A key without a value is
// "true".
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

// Variables returns the output of `git var -l`: git's settings, with included files and the
// environment, and variables such as GIT_COMMITTER_IDENT, each with all its values in order. Keys
// are spelled as git prints them; a setting without a value is "true". Git is asked once: later
// changes are not noticed.
//
// The further lines of a multi-line value appear as entries of their own.
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

// LookupEnv returns a variable of the environment of git processes, and false if it isn't set.
func (c *Config) LookupEnv(name string) (value string, found bool) {
	for _, e := range c.repo.processes.environ() {
		if v, is := strings.CutPrefix(e, name+"="); is {
			value, found = v, true
		}
	}
	return value, found
}

// HasSSHCommand reports whether the user configured an ssh command. It returns true if that can't
// be determined.
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
