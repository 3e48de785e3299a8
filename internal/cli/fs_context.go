package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// How long a command waits for another one that writes to the same store. A
// restore doesn't wait for a restore: it would undo it at once.
const (
	lockWait    = 10 * time.Second
	restoreWait = 500 * time.Millisecond
)

// selection is the store that a command works on, and the tree that belongs to
// it: of a repository's own store the worktree that the user is in.
type selection struct {
	*bands.Store

	fs      *fsApp
	known   *bands.Registry
	entry   bands.Entry
	options bands.Options
	repo    *git.Repo // of the tree; nil if it is in none
}

// selected is the store of --store, of the nearest .agentfs, or the
// repository's own. For "entire fs" in an enabled repository its own comes before
// a .agentfs.
func (f *fsApp) selected(ctx context.Context) (*selection, error) {
	known := f.registry()
	repo, unusable := f.repository()
	if unusable != nil {
		repo = nil // whatever is wrong with it: other stores don't need it
	}
	entry, err := f.find(ctx, known, repo)
	if refused, ok := errors.AsType[*git.RefusedError](unusable); ok && errors.Is(err, bands.ErrNoContext) {
		return nil, coded(exitNoStore, refused)
	}
	if err != nil {
		return nil, errors.Join(err, closeRepo(repo))
	}
	store, err := bands.Open(entry.Dir)
	if err != nil {
		return nil, errors.Join(err, closeRepo(repo))
	}
	s := &selection{Store: store, fs: f, known: known, entry: entry}
	if repo == nil || repo.Bare || entry.Dir != bands.RepositoryDir(repo.CommonDir) {
		err := closeRepo(repo)
		if err != nil {
			return nil, err
		}
		own := repo != nil && entry.Dir == bands.RepositoryDir(repo.CommonDir)
		at := f.repositoryAt(entry.Root)
		if own && (at == nil || at.CommonDir != repo.CommonDir) {
			return nil, errors.Join(notOf(entry), closeRepo(at))
		}
		repo = at
	}
	s.repo = repo
	s.options = s.treeOptions()
	f.noteInterrupted(s)
	return s, nil
}

func closeRepo(repo *git.Repo) error {
	if repo == nil {
		return nil
	}
	return repo.Close()
}

func (s *selection) close() { _ = closeRepo(s.repo) } // it only reads

func (f *fsApp) find(ctx context.Context, known *bands.Registry, repo *git.Repo) (bands.Entry, error) {
	if f.store != "" {
		return known.Find(ctx, f.named(f.store))
	}
	own := ""
	if repo != nil {
		own = bands.RepositoryDir(repo.CommonDir)
	}
	if f.Dir == "" {
		return bands.Entry{}, errors.New("the working directory is gone")
	}
	if f.ownFirst && repo != nil && f.settings(repo).Enabled {
		if entry, err := known.Own(own); !errors.Is(err, bands.ErrNoContext) {
			return entry, err
		}
	}
	return known.FindFor(ctx, f.Dir, own)
}

// notOf is the error of a store in a git directory that says it is for a folder
// which isn't the repository's.
func notOf(entry bands.Entry) error {
	return coded(exitNoStore, hinted(fmt.Errorf("the store in %s is for %s, which is no working tree of that repository", entry.Dir, entry.Root),
		"run the command in the working tree, or name the store with --store "+shellWord(entry.Dir)))
}

// named is a store's name, or its path made absolute.
func (f *fsApp) named(name string) string {
	if strings.ContainsRune(name, filepath.Separator) && !strings.HasPrefix(name, "~") && !filepath.IsAbs(name) {
		return f.absolute(name)
	}
	return name
}

// repositoryAt is the repository whose working tree root is; nil if there is
// none.
func (f *fsApp) repositoryAt(root string) *git.Repo {
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: f.Getenv, Environ: f.Environ})
	if err != nil {
		return nil
	}
	if repo.Bare || !sameDir(repo.Root, root) {
		_ = repo.Close()
		return nil
	}
	return repo
}

func sameDir(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// treeOptions say how the tree is captured.
func (s *selection) treeOptions() bands.Options {
	f := s.fs
	is := f.settings(s.repo)
	from := bandOptions(is)
	if s.entry.Size > 0 {
		from.Cap = s.entry.Size
	}
	if s.repo == nil {
		return bands.Options{
			Root: s.entry.Root, Lineage: bands.PlainLineage, Cap: from.Cap, Floor: from.Floor, Exclude: from.Exclude,
			Hidden: []string{".git", ".entire"}, Now: f.Now, Home: f.Home,
		}
	}
	r := strategy.New(&workspace.Workspace{
		Repo: s.repo, Options: workspace.Options{Bands: from}, Env: workspace.Environment{Now: f.Now, Home: f.Home},
	})
	options := r.Snapshots().Snapshots.TreeOptions()
	if s.entry.Dir != r.Snapshots().Snapshots.StoreDir() {
		options.Root, options.Lineage = s.entry.Root, bands.PlainLineage
	}
	return options
}

// mounted is the selected store, if it is open and its tree is there.
func (f *fsApp) mounted(ctx context.Context) (*selection, error) {
	s, err := f.selected(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.active(), s.there()); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// active is an error unless the store takes snapshots.
func (s *selection) active() error {
	if s.entry.Active() {
		return nil
	}
	return coded(exitInactive, hinted(errors.New("store not mounted"),
		fmt.Sprintf("open it with `%s open %s`", s.fs.program, s.entry.Name)))
}

// there is an error unless the tree is where the store says.
func (s *selection) there() error {
	info, err := os.Stat(s.options.Root)
	if err == nil && info.IsDir() && s.options.Root == s.entry.Root && s.entry.Replaced() {
		return coded(exitInactive, hinted(
			fmt.Errorf("the folder at %s is not the one that store '%s' was made for", s.options.Root, s.entry.Name),
			fmt.Sprintf("`%s manage %s --name %s` makes it the store's folder", s.fs.program, s.options.Root, s.entry.Name)))
	}
	if err == nil && info.IsDir() {
		return nil
	}
	hint := fmt.Sprintf("if it was moved, run `%s manage <dir>` on it", s.fs.program)
	if last, ok, err := s.Latest(s.options.Lineage); err == nil && ok {
		hint += fmt.Sprintf("; `%s export %s <dir> --store %s` writes the last checkpoint into a new folder",
			s.fs.program, last.Version, s.entry.Name)
	}
	return coded(exitInactive, hinted(fmt.Errorf("the folder of store '%s' isn't there: %s", s.entry.Name, s.options.Root), hint))
}

// inTree is an error if the command was called outside of the tree, and the
// store was not named: a folder's .agentfs may be a copy of another's.
func (s *selection) inTree() error {
	f := s.fs
	if f.store != "" || within(disk.Physical(s.options.Root), disk.Physical(f.Dir)) {
		return nil
	}
	return hinted(fmt.Errorf("store '%s' is for %s, not for this folder", s.entry.Name, f.shortPath(s.options.Root)),
		fmt.Sprintf("run it there, or name the store with --store %s; `%s manage .` makes a store for this folder", s.entry.Name, f.program))
}

// noteInterrupted tells of a restore that a crash has stopped.
func (f *fsApp) noteInterrupted(s *selection) {
	j, ok := s.Interrupted(s.options.Lineage)
	if !ok || f.quiet {
		return
	}
	if j.Other() {
		f.Streams.Notef("A restore was interrupted, and another version of this program wrote its journal: only that one can end it.")
		return
	}
	f.Streams.Notef("A restore to %s was interrupted: files may be missing or half restored.", j.Target)
	f.Streams.Hint(s.wayOut(j.Target, j.Rescue, bands.Scope{Paths: j.Paths, Nested: j.Nested}))
}

// wayOut says how a restore that has stopped half way is completed or undone.
func (s *selection) wayOut(target, rescue bands.Version, scope bands.Scope) string {
	var more strings.Builder
	if scope.Nested {
		more.WriteString(" --nested")
	}
	for i, path := range scope.Paths {
		if i == 0 {
			more.WriteString(" --")
		}
		at := filepath.Join(s.options.Root, filepath.FromSlash(path))
		if near, err := filepath.Rel(s.fs.Dir, at); err == nil && within(s.options.Root, s.fs.Dir) {
			at = near
		}
		more.WriteString(" " + shellWord(at))
	}
	return fmt.Sprintf("`%[1]s restore %[2]s%[4]s` completes it, `%[1]s restore %[3]s%[4]s` goes back", s.fs.program, target, rescue, more.String())
}
