package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Project is the part of a worktree and its repository that enable and disable write: settings,
// ignore files, the marker.
type Project struct {
	repo   *git.Repo
	before *Footprint
}

// OpenProject returns the project of a repository.
func OpenProject(repo *git.Repo) (*Project, error) {
	dir := workspace.EntireDir(repo.Root)
	switch info, err := os.Lstat(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	before, err := openFootprint(repo)
	if err != nil {
		return nil, err
	}
	return &Project{repo: repo, before: before}, nil
}

// entireIgnore returns the lines that .entire/.gitignore must have.
func entireIgnore() []string { return []string{"tmp/", "settings.local.json", "metadata/", "logs/"} }

// PersonalSettings are the agent's settings of the user alone.
const PersonalSettings = "/.claude/settings.local.json"

// personalIgnore returns the lines that info/exclude must have if nothing in the worktree is
// shared.
func personalIgnore() []string {
	return []string{"/.entire/.gitignore", PersonalSettings}
}

func excludeFile(commonDir string) string { return filepath.Join(commonDir, "info", "exclude") }

// Set writes settings into a file of this worktree, or of another one of the repository.
func (p *Project) Set(path string, changes ...settings.Change) error {
	if root := filepath.Dir(filepath.Dir(path)); root != p.repo.Root {
		repo, err := git.Discover(git.Locate{Dir: root, Getenv: func(string) string { return "" }})
		if err != nil {
			return fmt.Errorf("open worktree %s: %w", root, err)
		}
		defer func() { _ = repo.Close() }()
		other, err := OpenProject(repo)
		if err != nil {
			return err
		}
		if repo.Root != root { // never recursive
			return fmt.Errorf("%s is not the root of a worktree", root)
		}
		return errors.Join(other.Set(path, changes...), other.Ignore(false))
	}
	if path == settings.LocalFile(p.repo.Root) {
		if err := p.markUntrusted(path, changes); err != nil {
			return err
		}
	}
	return p.before.change(path, func() (bool, error) { return settings.Edit(path, changes...) })
}

// markUntrusted records that personal settings which came with the repository are still not the
// user's own after the program has edited them.
func (p *Project) markUntrusted(path string, changes []settings.Change) error {
	data, err := settings.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if !app.TracksLocalSettings(p.repo, p.repo.Root) {
		return nil
	}
	if data, err = settings.Apply(data, changes...); err != nil {
		return nil //nolint:nilerr // the edit reports it
	}
	return settings.MarkUntrusted(p.repo.CommonDir, data)
}

// Ignore completes .entire/.gitignore and, if personal, the repository's own exclude file.
func (p *Project) Ignore(personal bool) error {
	path := filepath.Join(workspace.EntireDir(p.repo.Root), ".gitignore")
	if err := disk.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := p.before.change(path, func() (bool, error) { return appendLines(path, entireIgnore()) }); err != nil {
		return err
	}
	if !personal {
		return nil
	}
	return p.Exclude(personalIgnore()...)
}

// Exclude adds the missing lines to the repository's own exclude file.
func (p *Project) Exclude(lines ...string) error {
	path := excludeFile(p.repo.CommonDir)
	if err := disk.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return p.before.change(path, func() (bool, error) { return appendLines(path, lines) })
}

// Mark records that the repository was enabled on this machine.
func (p *Project) Mark() error {
	path := settings.MarkerFile(p.repo.CommonDir)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := disk.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return disk.WriteDurable(path, nil, 0o600)
}

// appendLines appends the missing lines to a text file, and reports whether there were any.
func appendLines(path string, lines []string) (bool, error) {
	perm := fs.FileMode(0o644)
	data, err := os.ReadFile(path)
	if err == nil {
		info, statErr := os.Stat(path)
		if statErr != nil {
			return false, statErr
		}
		perm = info.Mode().Perm()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	end := "\n"
	if strings.Contains(string(data), "\r\n") {
		end = "\r\n"
	}
	var there []string
	for line := range strings.Lines(string(data)) {
		there = append(there, strings.TrimSpace(line))
	}
	text := bytes.Clone(data)
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, end...)
	}
	before := len(text)
	for _, line := range lines {
		if !slices.Contains(there, line) {
			text = append(text, line+end...)
		}
	}
	if len(text) == before {
		return false, nil
	}
	return true, disk.WriteDurable(path, text, perm)
}
