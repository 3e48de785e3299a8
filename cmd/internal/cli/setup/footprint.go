package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Footprint records the state of a worktree before enable and disable changed it, so that
// uninstalling restores every file byte for byte. It is stored in a file of the repository, one per
// worktree, which is written before the files that it describes.
type Footprint struct {
	Version  int    `json:"version"`
	Worktree string `json:"worktree"`
	// Had reports whether the folder .entire existed, Names holds its entries.
	Had   bool     `json:"had"`
	Names []string `json:"names,omitempty"`
	Files []kept   `json:"files,omitempty"`

	path string
}

// kept is the former state of a file. Wrote is the hash of the program's last write: if it matches
// the file, no other program has changed it since.
type kept struct {
	Path    string      `json:"path"`
	Existed bool        `json:"existed"`
	Mode    fs.FileMode `json:"mode,omitempty"`
	Before  []byte      `json:"before,omitempty"`
	Wrote   string      `json:"wrote,omitempty"`
}

// openFootprint reads the footprint of the repository's worktree, or returns a new one.
func openFootprint(repo *git.Repo) (*Footprint, error) {
	path := filepath.Join(workspace.BackupDir(repo), "worktree-"+checkpoint.WorktreeHash(repo.WorktreeID)+".json")
	f, err := readFootprint(path)
	switch {
	case err == nil && (f.Worktree == repo.Root || repo.WorktreeID == ""):
		// The folder of the repository may have been renamed.
		for i, k := range f.Files {
			if rel, err := filepath.Rel(f.Worktree, k.Path); err == nil && filepath.IsLocal(rel) {
				f.Files[i].Path = filepath.Join(repo.Root, rel)
			}
			if filepath.Base(k.Path) == "exclude" {
				f.Files[i].Path = excludeFile(repo.CommonDir)
			}
		}
		f.Worktree = repo.Root
		return f, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	f = &Footprint{Version: 1, Worktree: repo.Root, path: path}
	entries, err := os.ReadDir(workspace.EntireDir(repo.Root))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f.Had = err == nil
	for _, e := range entries {
		f.Names = append(f.Names, e.Name())
	}
	return f, nil
}

func readFootprint(path string) (*Footprint, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &Footprint{path: path}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return f, nil
}

// Footprints returns the footprints of all worktrees.
func Footprints(repo *git.Repo) ([]*Footprint, error) {
	var found []*Footprint
	for _, path := range disk.Glob(workspace.BackupDir(repo), "worktree-*.json") {
		f, err := readFootprint(path)
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, nil
}

// change calls write to change the file at path, after it has saved the former content. write
// reports whether it changed anything.
func (f *Footprint) change(path string, write func() (bool, error)) error {
	if err := f.keep(path); err != nil {
		return fmt.Errorf("keep a copy of %s: %w", path, err)
	}
	changed, err := write()
	if err != nil || !changed {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f.at(path).Wrote = disk.Digest(data)
	return f.save()
}

func (f *Footprint) at(path string) *kept {
	for i := range f.Files {
		if f.Files[i].Path == path {
			return &f.Files[i]
		}
	}
	return nil
}

func (f *Footprint) keep(path string) error {
	if f.at(path) != nil {
		return nil
	}
	k := kept{Path: path}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return app.ErrNotRegular
	default:
		k.Existed, k.Mode = true, info.Mode().Perm()
		if k.Before, err = os.ReadFile(path); err != nil {
			return err
		}
	}
	f.Files = append(f.Files, k)
	return f.save()
}

func (f *Footprint) save() error {
	if err := disk.MkdirAll(filepath.Dir(f.path), 0o750); err != nil {
		return err
	}
	return disk.WriteJSON(f.path, f)
}

// TakeBack restores the former bytes of every file. If another program has changed the file since,
// it removes only the program's additions. It then removes the entries that were added to .entire.
func (f *Footprint) TakeBack() error {
	if _, err := os.Stat(f.Worktree); errors.Is(err, fs.ErrNotExist) {
		return nil // the worktree was removed
	}
	var failed []error
	for i := range f.Files {
		if err := f.Files[i].restore(); err != nil {
			failed = append(failed, fmt.Errorf("restore %s: %w", f.Files[i].Path, err))
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	// The entries added to .entire, or the whole folder if it is new.
	dir := workspace.EntireDir(f.Worktree)
	if !f.Had {
		return disk.RemoveAll(dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(f.Names, e.Name()) {
			failed = append(failed, disk.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(failed...)
}

// TakeBackHere is like TakeBack, but leaves out the files that worktrees share. Only these remain
// in the footprint.
func (f *Footprint) TakeBackHere() error {
	shared := slices.DeleteFunc(slices.Clone(f.Files), func(k kept) bool {
		rel, err := filepath.Rel(f.Worktree, k.Path)
		return err == nil && filepath.IsLocal(rel) && filepath.Base(k.Path) != "exclude"
	})
	own := *f
	own.Files = slices.DeleteFunc(slices.Clone(f.Files), func(k kept) bool {
		return slices.ContainsFunc(shared, func(s kept) bool { return s.Path == k.Path })
	})
	if err := own.TakeBack(); err != nil {
		return err
	}
	if len(shared) == 0 {
		return disk.RemoveAll(f.path)
	}
	f.Files = shared
	return f.save()
}

// restore restores the file's former bytes. If another program has changed it since, it removes
// only the program's additions: its keys in settings, its lines in an ignore file. New settings
// files are removed with their folder.
func (k *kept) restore() error {
	if k.Wrote == "" {
		return nil // kept, but never written
	}
	now, err := os.ReadFile(k.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case disk.Digest(now) == k.Wrote:
		if !k.Existed {
			return disk.RemoveAll(k.Path)
		}
		return disk.WriteDurable(k.Path, k.Before, k.Mode)
	case strings.HasSuffix(k.Path, ".json"):
		if !k.Existed {
			return nil
		}
		data, err := settings.Undo(now, k.Before, settings.KeyEnabled, settings.KeyStrategy, settings.KeyPushRemote, settings.KeySummarize)
		if err != nil {
			return err
		}
		return disk.WriteDurable(k.Path, data, k.Mode)
	}
	before := strings.Split(string(k.Before), "\n")
	ours := slices.Concat(entireIgnore(), personalIgnore())
	var b bytes.Buffer
	for line := range strings.Lines(string(now)) {
		text := strings.TrimRight(line, "\r\n")
		if !slices.Contains(ours, text) || slices.Contains(before, text) {
			b.WriteString(line)
		}
	}
	mode := k.Mode
	if !k.Existed {
		mode = 0o644
	}
	return disk.WriteDurable(k.Path, b.Bytes(), mode)
}
