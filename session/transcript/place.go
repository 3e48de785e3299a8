package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

// projectSlug is the name of the directory in which the agent keeps the
// sessions of a project: its path with a dash for each UTF-16 unit that is no
// ASCII letter or digit, cut at 200 and then distinguished by a hash.
func projectSlug(path string) string {
	const longest = 200
	units := utf16.Encode([]rune(path))
	slug := make([]byte, len(units))
	var hash int32
	for i, u := range units {
		hash = hash*31 + int32(u)
		slug[i] = '-'
		if u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9' {
			slug[i] = byte(u)
		}
	}
	if len(slug) <= longest {
		return string(slug)
	}
	h := int64(hash)
	return string(slug[:longest]) + "-" + strconv.FormatInt(max(h, -h), 36)
}

// SessionDir is where the agent keeps the transcripts of a repository's
// sessions, "" if that cannot be known because there is no home directory.
func SessionDir(getenv func(string) string, home, repoRoot string) string {
	if dir := getenv(testDir); dir != "" {
		return dir
	}
	base := getenv("CLAUDE_CONFIG_DIR")
	if base == "" && home == "" {
		return ""
	}
	if base == "" {
		base = filepath.Join(home, ".claude")
	}
	return filepath.Join(base, "projects", projectSlug(repoRoot))
}

// testDir names, in the environment, the agent's folder in tests.
const testDir = "ENTIRE_TEST_CLAUDE_PROJECT_DIR"

// CheckPlace is CheckPath for the places where the transcripts of a
// repository's sessions may be: SessionDir, and in tests that name that folder
// also .entire/tmp of the worktree, unless a symbolic link leads there.
func CheckPlace(path string, getenv func(string) string, home, repoRoot string) error {
	err := CheckPath(path, SessionDir(getenv, home, repoRoot))
	if err == nil || getenv(testDir) == "" {
		return err
	}
	temp := filepath.Join(repoRoot, ".entire", "tmp")
	if target, failed := filepath.EvalSymlinks(temp); failed != nil || target != temp {
		return err
	}
	return CheckPath(path, temp)
}

// CheckPath reports whether a path that a hook was given may be read as a
// transcript: an absolute path without "..", to a file *.jsonl in dir (as
// [SessionDir] gives it) or, where dir is one of the projects below a
// directory "projects", in any of them, also after symbolic links are followed.
// The file need not exist. It wraps [ErrOutside], and [ErrNotRegular] for what
// exists and is no file.
func CheckPath(path, dir string) error {
	if !plausible(path) || !filepath.IsAbs(dir) {
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

// plausible reports whether a path may be a transcript's, without access to the file
// system.
func plausible(path string) bool {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return false
	}
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part == ".." {
			return false
		}
	}
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
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
