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

// Place describes where the transcripts of a worktree's sessions are stored.
type Place struct {
	// Getenv returns environment variables. Home is the home directory, empty if there is none.
	Getenv func(string) string
	Home   string
	// Root is the worktree. Records is the folder of this program's records in its repository, with
	// the transcripts that the program writes itself.
	Root, Records string
}

// IsWritten reports whether path is in a folder of transcripts that the program writes itself.
func (p Place) IsWritten(path string) bool {
	return slices.ContainsFunc(agent.All(), func(a agent.Agent) bool {
		rel, err := filepath.Rel(p.written(a), path)
		return a.HandsOver() && err == nil && filepath.IsLocal(rel)
	})
}

// written returns the folder of the transcripts that the program writes for an agent.
func (p Place) written(a agent.Agent) string { return filepath.Join(p.Records, a.Name) }

// Check is CheckPath for the folders that may contain the transcripts of an agent's sessions. If a
// test overrides the folder, .entire/tmp of the worktree is allowed too, unless its path contains a
// symbolic link.
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

// File returns the path where the agent expects the transcript of a session that is continued in
// this worktree: the existing file, or a path for the time at which the session was recorded.
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

// CheckPath returns nil if a path passed to a hook may be read as a transcript: it must be
// absolute, without "..", and name a file *.jsonl in dir. If dir is directly below a directory
// "projects", the file may be anywhere in "projects". Symbolic links are followed before the check.
// The file need not exist. The error wraps [ErrOutside], [ErrDocument] for a file *.json, or
// [ErrNotRegular] if path exists and is not a regular file.
func CheckPath(path, dir string) error {
	name, isUp := filepath.Base(path), slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..")
	if strings.HasSuffix(name, ".json") {
		return fmt.Errorf("transcript %q: %w", path, ErrDocument)
	}
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

// below reports whether a resolved path is below dir or below a directory "projects" around it.
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

// resolve follows the symbolic links of a path whose end may not exist. A dangling link is
// ErrOutside, because its future target is unknown.
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
