package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session/agent"
)

// Place is where the transcripts of a worktree's sessions are.
type Place struct {
	// Getenv is the environment, Home the home directory, empty if there is none.
	Getenv func(string) string
	Home   string
	// Root is the worktree, Records the folder of the program's records in its repository,
	// which has the transcripts that the program writes itself.
	Root, Records string
}

// IsWritten reports whether a file is one of the transcripts that the program writes, or
// belongs to one.
func (p Place) IsWritten(path string) bool {
	return slices.ContainsFunc(agent.All(), func(a agent.Agent) bool {
		rel, err := filepath.Rel(p.written(a), path)
		return a.HandsOver() && err == nil && filepath.IsLocal(rel)
	})
}

// written is the folder of the transcripts that the program writes of what an agent hands over.
func (p Place) written(a agent.Agent) string { return filepath.Join(p.Records, a.Name) }

// Check is CheckPath for the places where the transcripts of an agent's sessions may be:
// its folders and, in tests that name another, also .entire/tmp of the worktree, unless a
// symbolic link leads there.
func (p Place) Check(a agent.Agent, path string) error {
	isTest := a.TestDir(p.Getenv) != ""
	dir := a.Transcripts(p.Getenv, p.Home)
	switch {
	case a.HandsOver():
		dir = p.written(a)
	case isTest:
		dir = a.TestDir(p.Getenv)
	}
	err := CheckPath(path, dir)
	if err == nil || !isTest {
		return err
	}
	temp := filepath.Join(p.Root, ".entire", "tmp")
	if target, failed := filepath.EvalSymlinks(temp); failed != nil || target != temp {
		return err
	}
	return CheckPath(path, temp)
}

// File returns where the agent expects the transcript of a session when it is started in
// this worktree: where it has it already, else by when the session was recorded.
func (p Place) File(a agent.Agent, session string, recorded time.Time) (string, error) {
	dir := a.Project(p.Getenv, p.Home, p.Root)
	if a.HandsOver() {
		dir = p.written(a)
	}
	if dir == "" {
		return "", errors.New("there is no home directory, so the agent's folder isn't known")
	}
	path := a.File(dir, session, recorded)
	if found := a.Find(dir, session); found != "" {
		path = found
	}
	return path, CheckPath(path, dir)
}

// CheckPath reports whether a path that a hook was given may be read as a
// transcript: an absolute path without "..", to a file *.jsonl in dir or, where dir is
// one of the projects below a directory "projects", in any of them, also after symbolic links are followed.
// The file need not exist. It wraps [ErrOutside], and [ErrNotRegular] for what
// exists and is no file.
func CheckPath(path, dir string) error {
	name, isUp := filepath.Base(path), slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..")
	isFile := strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) || isUp || !isFile || !filepath.IsAbs(dir) {
		return fmt.Errorf("transcript %q: %w", path, ErrOutside)
	}
	target, err := resolve(path)
	if err != nil {
		return fmt.Errorf("transcript %q: %w", path, err)
	}
	inside, err := below(target, filepath.Clean(dir))
	if err != nil {
		return fmt.Errorf("transcript %q: %w", path, err)
	}
	if !inside {
		return fmt.Errorf("transcript %q: %w", path, ErrOutside)
	}
	info, err := os.Lstat(target)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("transcript %q: %w", path, ErrNotRegular)
	}
	return nil
}

// below reports whether a resolved path is below dir or the projects around it.
func below(target, dir string) (bool, error) {
	roots := []string{dir}
	if parent := filepath.Dir(dir); filepath.Base(parent) == "projects" {
		roots = append(roots, parent)
	}
	for _, root := range roots {
		root, err := resolve(root)
		if err != nil {
			return false, err
		}
		if rel, err := filepath.Rel(root, target); err == nil && filepath.IsLocal(rel) && rel != "." {
			return true, nil
		}
	}
	return false, nil
}

// resolve follows the symbolic links of a path of which the end may not exist.
// A link to nowhere is outside: what it will lead to cannot be known.
func resolve(path string) (string, error) {
	path = filepath.Clean(path)
	missing := ""
	for {
		target, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(target, missing), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", errors.Join(ErrOutside, err)
		}
		if _, err := os.Lstat(path); err == nil {
			return "", ErrOutside
		}
		parent := filepath.Dir(path)
		if parent == path {
			return "", ErrOutside
		}
		missing = filepath.Join(filepath.Base(path), missing)
		path = parent
	}
}
