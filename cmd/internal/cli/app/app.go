// Package app is shared by all commands: the environment of the process, the settings, the
// repository, the workspace, errors with exit codes and hints, the log and the pager.
package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// Env is the environment of the process, as main passes it.
type Env struct {
	Dir, Home string // working directory; home, empty if there is none
	Environ   []string
	Getenv    func(string) string // reads Environ
	Streams   ui.Streams
	Now       func() time.Time
	Rand      io.Reader
	Version   string
}

// prompter asks the user questions.
type prompter interface {
	Interactive() bool
	Ask(ctx context.Context, questions ...ui.Question) ([]string, error)
	AskTogether(ctx context.Context, heading string, questions ...ui.Question) ([]string, error)
}

// App holds the state that all commands share. It opens nothing before it is needed.
type App struct {
	Env

	// Prompter is nil in a hook, which asks nothing.
	Prompter prompter
	// OnBadDefaults is set for automatic snapshots: it is called with the error of reading a
	// store's config.toml, instead of failing.
	OnBadDefaults func(error)
	// Parsed is set once arguments and flags are parsed: errors after it
	// are failures, errors before it wrong usage.
	Parsed bool
}

// New returns an App for the process. It resolves symbolic links in the working directory, which
// may be the shell's $PWD, so that the path is the one that git and the kernel use.
func New(env Env) *App {
	if !filepath.IsAbs(env.Home) {
		env.Home = "" // a relative path would put the user's files below the working directory
	}
	if env.Dir != "" {
		env.Dir = disk.Physical(env.Dir)
	}
	return &App{Env: env}
}

// Enter changes the working directory of the command; empty means no change.
func (a *App) Enter(dir string) error {
	if dir == "" {
		return nil
	}
	path := a.Absolute(dir)
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "enter", Path: path, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return Usagef("-C: %v", err)
	}
	a.Dir = disk.Physical(path)
	return nil
}

// Registry returns the registry of snapshot stores. Without a home directory it has no catalog.
func (a *App) Registry() *registry.Registry {
	home := a.Getenv("AGENTFS_HOME")
	switch {
	case filepath.IsAbs(home):
	case a.Home == "":
		home = ""
	default:
		home = filepath.Join(a.Home, ".agentfs")
	}
	return &registry.Registry{Home: home, UserHome: a.Home, Now: a.Now, Defaults: a.OnBadDefaults}
}

// Repository finds the repository of the working directory. If there is none, the error is a
// git.ErrNotRepository with a hint.
func (a *App) Repository() (*git.Repo, error) {
	if a.Dir == "" {
		return nil, errors.New("the working directory no longer exists")
	}
	repo, err := git.Discover(git.Locate{Dir: a.Dir, Getenv: a.Getenv, Environ: a.Environ})
	if errors.Is(err, git.ErrNotRepository) {
		return nil, WithHint(err, NoRepositoryHint)
	}
	return repo, err
}

// NoRepositoryHint is the hint of commands outside a repository.
const NoRepositoryHint = "run it in a repository; `git init` creates one"

// Settings reads the settings in force in repo; nil means no repository.
func (a *App) Settings(repo *git.Repo) settings.Settings {
	return settings.Load(a.SettingsSources(repo))
}

// SettingsSources returns the sources of the settings in force in repo; nil means no repository.
func (a *App) SettingsSources(repo *git.Repo) settings.Sources {
	from := settings.Sources{Home: a.Home, Getenv: a.Getenv}
	if repo != nil {
		from.Worktree, from.MainWorktree, from.CommonDir, from.Implicit = repo.Root, repo.MainRoot(), repo.CommonDir, repo.Implicit
		from.Tracked = func(root string) bool { return TracksLocalSettings(repo, root) }
		from.Origins = func() ([]string, error) { return git.OriginURLs(repo, GlobalGitConfigs(a)...) }
		from.StoreDefaults = func() (limit, floor int64) {
			space, err := disk.SpaceAt(repo.CommonDir)
			if err != nil {
				return 0, 0
			}
			return bands.DefaultCap(space.Total), bands.DefaultFloor(space.Total)
		}
	}
	return from
}

// GlobalGitConfigs returns the files of git's global configuration, whether they exist or not.
func GlobalGitConfigs(a *App) []string {
	if path := a.Getenv("GIT_CONFIG_GLOBAL"); path != "" {
		return []string{path}
	}
	xdg := a.Getenv("XDG_CONFIG_HOME")
	switch {
	case a.Home == "" && xdg == "":
		return nil
	case a.Home == "":
		return []string{filepath.Join(xdg, "git", "config")}
	case xdg == "":
		xdg = filepath.Join(a.Home, ".config")
	}
	return []string{filepath.Join(a.Home, ".gitconfig"), filepath.Join(xdg, "git", "config")}
}

// trackedTimeout limits how long git may take to report whether it tracks a file.
const trackedTimeout = 2 * time.Second

// TracksLocalSettings reports whether the personal settings of a worktree come from the repository: git
// tracks them, they are a link to a file of the worktree, or git has had a file with their content,
// before an edit by the program or not: a reset leaves it behind. It returns true if an error
// prevents the check.
//
//nolint:contextcheck,nolintlint // settings are loaded before there is a deadline: it has one of its own
func TracksLocalSettings(repo *git.Repo, root string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), trackedTimeout)
	defer cancel()
	path := settings.LocalFile(root)
	physical, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	if physical != path {
		if rel, err := filepath.Rel(root, physical); err != nil || filepath.IsLocal(rel) {
			return true
		}
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return true
	}
	brought, err := git.HasPath(ctx, repo, root, filepath.ToSlash(name))
	if brought || err != nil {
		return true
	}
	data, err := settings.ReadFile(path)
	if err != nil || settings.IsUntrusted(repo.CommonDir, data) {
		return true
	}
	brought, err = git.HasContent(ctx, repo, data)
	return brought || err != nil
}

// Worktree returns the repository of the working directory. It fails for a bare repository.
func (a *App) Worktree() (*git.Repo, error) {
	repo, err := a.Repository()
	if err != nil {
		return nil, err
	}
	if repo.Bare {
		return nil, WithHint(errors.New("this is a bare repository: it has no working tree to record"),
			"run the command in a worktree")
	}
	return repo, nil
}

// WorksDisabled annotates a command that runs even in a repository where recording is disabled. The
// annotation applies to its subcommands, too.
const WorksDisabled = "works-disabled"

// PrintVersion prints the version and what the program was built with.
func (a *App) PrintVersion() {
	a.Streams.Printf("Entire CLI %s\n", a.Version)
	a.Streams.Printf("Go version: %s\n", runtime.Version())
	a.Streams.Printf("OS/Arch: %s/%s\n", runtime.GOOS, runtime.GOARCH)
}

// Note is a fact to report to the user, with a hint on what to do about it. Code identifies it for
// scripts.
type Note struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}
