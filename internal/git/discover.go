package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrNotRepository means that no repository contains the directory.
var ErrNotRepository = errors.New("not a git repository")

// Locate holds the parameters of the search for a repository.
type Locate struct {
	// Dir is the absolute directory where the search starts.
	Dir string
	// Getenv reads the environment; nil reads Environ.
	Getenv func(string) string
	// Environ is the environment of git processes; nil means the process's own.
	Environ []string
	// Hook uses the repository that git named in GIT_DIR, GIT_COMMON_DIR and GIT_WORK_TREE, as git
	// sets them for its hooks. Otherwise these are ignored.
	Hook bool
	// Here finds only the repository whose working tree has its root at Dir, by the .git there. It
	// does not find a bare git directory among the files of another repository.
	Here bool
}

func (l Locate) getenv(key string) string {
	switch {
	case l.Getenv != nil:
		return l.Getenv(key)
	case l.Environ == nil:
		return os.Getenv(key)
	}
	value := ""
	for _, e := range l.Environ {
		if v, ok := strings.CutPrefix(e, key+"="); ok {
			value = v
		}
	}
	return value
}

// found is a git directory and how it was found.
type found struct {
	gitDir, commonDir string
	base              string // directory that contains it as .git; "" if there is none
	explicit          bool   // named by GIT_DIR
}

// Discover finds the repository that contains l.Dir as git does, but without starting git: it walks
// up from the directory to a file system boundary or a ceiling. It asks git only about a repository
// that git might refuse. The error is ErrNotRepository if there is none, and a RefusedError if git
// refuses to work in it.
func Discover(l Locate) (*Repo, error) {
	if !filepath.IsAbs(l.Dir) {
		return nil, fmt.Errorf("discover from %q: not an absolute path", l.Dir)
	}
	dir, err := filepath.EvalSymlinks(l.Dir)
	if err != nil {
		return nil, fmt.Errorf("discover from %s: %w", l.Dir, err)
	}
	name := l.getenv("GIT_DIR")
	if !l.Hook || name == "" {
		f, err := l.walkUp(dir)
		if err != nil {
			return nil, err
		}
		return l.open(dir, f)
	}
	f := found{gitDir: absolute(dir, name), explicit: true}
	if info, err := os.Stat(f.gitDir); err == nil && info.Mode().IsRegular() {
		if f.gitDir, err = readGitFile(f.gitDir); err != nil {
			return nil, err
		}
	}
	if common := l.getenv("GIT_COMMON_DIR"); common != "" {
		f.commonDir = absolute(dir, common)
	} else if !f.valid(l.getenv("GIT_OBJECT_DIRECTORY") != "") {
		return nil, fmt.Errorf("GIT_DIR %s: %w", f.gitDir, ErrNotRepository)
	}
	if err := f.resolve(); err != nil {
		return nil, err
	}
	return l.open(dir, f)
}

// Below finds the repository whose worktree is a directory below r's root. The error is
// ErrNotRepository if there is none.
func (r *Repo) Below(dir string) (*Repo, error) {
	l := Locate{Dir: filepath.Join(r.Root, dir), Getenv: r.processes.locate.Getenv, Environ: r.processes.locate.Environ, Here: true}
	found, err := Discover(l)
	if err == nil && found.Root != l.Dir {
		return nil, errors.Join(ErrNotRepository, found.Close())
	}
	return found, err
}

// walkUp tries dir and each directory above it.
func (l Locate) walkUp(dir string) (found, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return found{}, fmt.Errorf("discover from %s: %w", dir, err)
	}
	ceilings := make(map[string]bool)
	for _, end := range filepath.SplitList(l.getenv("GIT_CEILING_DIRECTORIES")) {
		if !filepath.IsAbs(end) {
			continue
		}
		ceilings[filepath.Clean(end)] = true
		if physical, err := filepath.EvalSymlinks(end); err == nil {
			ceilings[physical] = true
		}
	}
	across := isTrue(l.getenv("GIT_DISCOVERY_ACROSS_FILESYSTEM"))
	for {
		f, err := at(dir)
		if l.Here && f.base == "" && err == nil {
			return found{}, ErrNotRepository
		}
		if err != nil || f.gitDir != "" {
			return f, err
		}
		parent := filepath.Dir(dir)
		if parent == dir || ceilings[parent] {
			return found{}, ErrNotRepository
		}
		above, err := os.Stat(parent)
		if err != nil || (!across && !sameDevice(info, above)) {
			return found{}, ErrNotRepository
		}
		dir, info = parent, above
	}
}

// sameDevice reports whether two files are on one file system.
func sameDevice(a, b fs.FileInfo) bool {
	x, okX := a.Sys().(*syscall.Stat_t)
	y, okY := b.Sys().(*syscall.Stat_t)
	return !okX || !okY || x.Dev == y.Dev
}

// at finds a repository in dir itself: by its .git, or because dir is a git directory.
func at(dir string) (found, error) {
	f := found{gitDir: filepath.Join(dir, ".git"), base: dir}
	info, err := os.Stat(f.gitDir)
	switch {
	case err == nil && info.Mode().IsRegular():
		if f.gitDir, err = readGitFile(f.gitDir); err != nil {
			return found{}, err
		}
		if !f.valid(false) {
			return found{}, fmt.Errorf("%s/.git names %s: %w", dir, f.gitDir, ErrNotRepository)
		}
		return f, f.resolve()
	case err == nil && f.valid(false):
		return f, f.resolve()
	}
	f = found{gitDir: dir}
	if f.valid(false) {
		return f, f.resolve()
	}
	return found{}, nil
}

// valid reports whether f.gitDir is a git directory, and sets f.commonDir.
func (f *found) valid(objectsElsewhere bool) bool {
	if _, err := os.Lstat(filepath.Join(f.gitDir, "HEAD")); err != nil {
		return false
	}
	f.commonDir = f.gitDir
	if data, err := os.ReadFile(filepath.Join(f.gitDir, "commondir")); err == nil {
		f.commonDir = absolute(f.gitDir, strings.TrimRight(string(data), "\r\n"))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return isDir(filepath.Join(f.commonDir, "refs")) &&
		(objectsElsewhere || isDir(filepath.Join(f.commonDir, "objects")))
}

// resolve resolves the symlinks of both directories.
func (f *found) resolve() error {
	gitDir, err := filepath.EvalSymlinks(f.gitDir)
	if err != nil {
		return fmt.Errorf("resolve git directory: %w", err)
	}
	if f.commonDir == f.gitDir {
		f.gitDir, f.commonDir = gitDir, gitDir
		return nil
	}
	common, err := filepath.EvalSymlinks(f.commonDir)
	if err != nil {
		return fmt.Errorf("resolve common directory: %w", err)
	}
	f.gitDir, f.commonDir = gitDir, common
	return nil
}

// readGitFile reads a .git file and returns the directory that it names.
func readGitFile(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	name, ok := strings.CutPrefix(string(data), "gitdir: ")
	name = strings.TrimRight(name, "\r\n")
	if !ok || name == "" {
		return "", fmt.Errorf("%s is no gitdir file: %w", path, ErrNotRepository)
	}
	return absolute(filepath.Dir(path), name), nil
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isTrue parses a boolean as git does.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}
