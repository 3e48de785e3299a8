package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// LockWait is how long a command waits for another one that writes to the same store. After
// silentWait it reports that it waits.
const (
	LockWait   = 10 * time.Second
	silentWait = 500 * time.Millisecond
)

// Selection is the store that a command works on, and its tree: for a repository's own store the
// current worktree.
type Selection struct {
	*bands.Store

	Command  *Command
	Registry *registry.Registry
	Entry    registry.Entry
	Options  bands.Options
	repo     *git.Repo // of the tree; nil if it is in no repository
	allTrees bool      // the snapshots of other worktrees are listed, too
}

// Selected returns the store of --store, of the nearest .agentfs, or the repository's own. For
// "entire fs" in an enabled repository its own store takes precedence over a .agentfs.
func (c *Command) Selected(ctx context.Context) (*Selection, error) {
	known := c.Registry()
	if err := c.EndConversion(ctx, known); err != nil {
		return nil, err
	}
	repo, unusable := c.Repository()
	if unusable != nil {
		repo = nil // other stores don't need the repository
	}
	entry, err := c.find(ctx, known, repo)
	if refused, ok := errors.AsType[*git.RefusedError](unusable); ok && errors.Is(err, registry.ErrNoContext) {
		return nil, app.WithCode(app.ExitNoStore, refused)
	}
	if err != nil {
		return nil, errors.Join(err, closeRepo(repo))
	}
	store, err := bands.Open(entry.Dir)
	if err != nil {
		return nil, errors.Join(err, closeRepo(repo))
	}
	s := &Selection{Store: store, Command: c, Registry: known, Entry: entry}
	if repo == nil || repo.Bare || entry.Dir != registry.RepositoryDir(repo.CommonDir) {
		err := closeRepo(repo)
		if err != nil {
			return nil, err
		}
		own := repo != nil && entry.Dir == registry.RepositoryDir(repo.CommonDir)
		at, err := git.Discover(git.Locate{Dir: entry.Root, Getenv: c.Getenv, Environ: c.Environ})
		if err != nil {
			at = nil
		} else if at.Bare || !app.SameFile(at.Root, entry.Root) {
			_ = at.Close()
			at = nil
		}
		if own && (at == nil || at.CommonDir != repo.CommonDir) {
			notOf := app.WithCode(app.ExitNoStore, app.WithHint(
				fmt.Errorf("the store in %s belongs to %s, which is not a working tree of that repository", entry.Dir, entry.Root),
				"run the command in the working tree, or give --store "+ShellWord(entry.Dir)))
			return nil, errors.Join(notOf, closeRepo(at))
		}
		repo = at
	}
	s.repo = repo
	s.Options = s.treeOptions()
	if s.IsVolume() {
		c.recover(ctx, s)
	} else if j, ok := bands.InterruptedRestore(s.Store, s.Options.Lineage); ok && !c.Quiet && j.Other() {
		c.Streams.Notef("A restore by another version of this program was interrupted: use that version to complete it.")
	} else if ok && !c.Quiet {
		c.Streams.Notef("A restore to %s was interrupted: files may be missing or incomplete.", j.Target)
		c.Streams.Hint(s.Advice(j.Target, j.Rescue, restore.Scope{Paths: j.Paths, Nested: j.Nested}))
	}
	return s, nil
}

func closeRepo(repo *git.Repo) error {
	if repo == nil {
		return nil
	}
	return repo.Close()
}

// Close closes the repository of the tree.
func (s *Selection) Close() { _ = closeRepo(s.repo) } // only read

func (c *Command) find(ctx context.Context, known *registry.Registry, repo *git.Repo) (registry.Entry, error) {
	if c.Store != "" {
		return known.Find(ctx, c.Named(c.Store))
	}
	own := ""
	if repo != nil {
		own = registry.RepositoryDir(repo.CommonDir)
	}
	if c.Dir == "" {
		return registry.Entry{}, errors.New("the working directory no longer exists")
	}
	if c.OwnFirst && repo != nil && c.Settings(repo).Enabled {
		if entry, err := registry.Own(own); !errors.Is(err, registry.ErrNoContext) {
			return entry, err
		}
	}
	return known.FindFor(ctx, c.Dir, own)
}

// Named returns a store's name, or the absolute path if it is a relative path.
func (c *Command) Named(name string) string {
	if strings.ContainsRune(name, filepath.Separator) && !strings.HasPrefix(name, "~") && !filepath.IsAbs(name) {
		return c.Absolute(name)
	}
	return name
}

// treeOptions returns the options for captures of the tree.
func (s *Selection) treeOptions() bands.Options {
	f := s.Command
	is := f.Settings(s.repo)
	from := app.BandOptions(is)
	if s.Entry.Size > 0 && !s.IsVolume() {
		from.Cap = s.Entry.Size
	}
	if s.repo == nil {
		return bands.Options{
			Root: s.Entry.Root, Lineage: bands.PlainLineage, Cap: from.Cap, Floor: from.Floor, Exclude: from.Exclude,
			Hidden: []string{".git", ".entire"}, Now: f.Now, Home: f.Home,
		}
	}
	options := tracking.TreeOptions(&workspace.Workspace{
		Repo: s.repo, Options: workspace.Options{Bands: from}, Env: workspace.Environment{Now: f.Now, Home: f.Home},
	})
	if s.Entry.Dir != tracking.StoreDir(&workspace.Workspace{
		Repo: s.repo, Options: workspace.Options{Bands: from}, Env: workspace.Environment{Now: f.Now, Home: f.Home},
	}) {
		options.Root, options.Lineage, options.Exclude = s.Entry.Root, bands.PlainLineage, from.Exclude
		if s.Entry.Root != s.repo.Root {
			options.Forgotten = nil // paths relative to another root
		}
	}
	return options
}

// Mounted returns the selected store, if it is open and its tree exists.
func (c *Command) Mounted(ctx context.Context) (*Selection, error) {
	s, err := c.Selected(ctx)
	if err != nil {
		return nil, err
	}
	if !s.Entry.Active() {
		err = app.WithCode(app.ExitInactive, app.WithHint(errors.New("store not mounted"),
			fmt.Sprintf("open it with `%s`", c.call("open "+s.Entry.Name))))
	}
	if err := errors.Join(err, s.CheckThere()); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// CheckThere returns an error unless the tree is at the path that the store records.
func (s *Selection) CheckThere() error {
	info, err := os.Stat(s.Options.Root)
	if err == nil && info.IsDir() && s.Options.Root == s.Entry.Root && s.Entry.Replaced() && !volume.Contained(s.Entry.Driver) {
		return app.WithCode(app.ExitInactive, app.WithHint(
			fmt.Errorf("%s is not the folder that store '%s' was created for", s.Options.Root, s.Entry.Name),
			fmt.Sprintf("`%s` makes it the store's folder", s.Command.call(fmt.Sprintf("manage %s --name %s", s.Options.Root, s.Entry.Name)))))
	}
	if err == nil && info.IsDir() {
		return nil
	}
	hint := fmt.Sprintf("if it was moved, run `%s` on it", s.Command.call("manage <dir>"))
	if last, ok, err := s.Lineage(s.Options.Lineage).Latest(); err == nil && ok {
		hint += fmt.Sprintf("; `%s %s <dir> --store %s` writes the last %s into a new folder",
			s.Command.call("export"), last.Version, s.Entry.Name, s.Command.noun())
	}
	return app.WithCode(app.ExitInactive, app.WithHint(fmt.Errorf("the folder of store '%s' is missing: %s", s.Entry.Name, s.Options.Root), hint))
}

// RequireTree returns an error if the command was called outside of the tree and the store was not
// named: a folder's .agentfs may be a copy of another folder's.
func (s *Selection) RequireTree() error {
	f := s.Command
	if f.Store != "" || within(disk.Physical(s.Options.Root), disk.Physical(f.Dir)) {
		return nil
	}
	return app.WithHint(fmt.Errorf("store '%s' belongs to %s, not to this folder", s.Entry.Name, f.ShortPath(s.Options.Root)),
		fmt.Sprintf("run it there, or give --store %s; `%s` creates a store for this folder", s.Entry.Name, f.call("manage .")))
}

// WarnOperation warns of a merge or similar operation in progress in the tree's repository, if the
// tree is in one.
func (s *Selection) WarnOperation(ctx context.Context) error {
	if s.repo == nil {
		return nil
	}
	return s.Command.WarnOperation(ctx, s.repo, "restore")
}

// IsRecorded reports whether the tree is the worktree of a repository in which entire is enabled.
func (s *Selection) IsRecorded() bool {
	return s.repo != nil && s.repo.Root == s.Options.Root && s.Command.Settings(s.repo).Enabled
}

// Advice returns the commands that complete or undo an interrupted restore.
func (s *Selection) Advice(target, rescue bands.Version, scope restore.Scope) string {
	var more strings.Builder
	if scope.Nested {
		more.WriteString(" --nested")
	}
	for i, path := range scope.Paths {
		if i == 0 {
			more.WriteString(" --")
		}
		at := filepath.Join(s.Options.Root, filepath.FromSlash(path))
		if near, err := filepath.Rel(s.Command.Dir, at); err == nil && within(s.Options.Root, s.Command.Dir) {
			at = near
		}
		more.WriteString(" " + ShellWord(at))
	}
	return fmt.Sprintf("`%s %s%s` completes it, `%[1]s %[4]s%[3]s` goes back", s.Command.call("restore"), target, more.String(), rescue)
}

// TreePaths returns typed paths relative to the tree's root, nil for the whole tree. The typed
// paths are relative to the working directory, or to the root if that is outside.
func (s *Selection) TreePaths(typed ...string) ([]string, error) {
	root, dir := s.Options.Root, s.Command.Dir
	if !within(disk.Physical(root), dir) {
		dir = root
	}
	return app.TreePaths(root, dir, typed)
}

// within reports whether path is root or below it.
func within(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}
