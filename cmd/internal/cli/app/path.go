package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// TreePaths returns the slash paths below root of the paths that a user typed in dir, in their
// order; nil if one of them is root, which selects everything.
func TreePaths(root, dir string, typed []string) ([]string, error) {
	if len(typed) == 0 {
		return nil, nil
	}
	resolver := disk.NewResolver(root, dir)
	paths := make([]string, len(typed))
	for i, path := range typed {
		if path == "" {
			return nil, Usagef("an empty path")
		}
		rel, ok := resolver.Rel(path)
		if !ok {
			return nil, Usagef("%s is outside %s", format.Path(path), root)
		}
		paths[i] = rel
	}
	if slices.Contains(paths, ".") {
		return nil, nil
	}
	return paths, nil
}

// Unmatched returns the error for paths that match no file in any of places. Commands return it
// before they change anything.
func Unmatched(paths []string, places ...string) error {
	shown := make([]string, len(paths))
	for i, path := range paths {
		shown[i] = format.Path(path)
	}
	return fmt.Errorf("no file matches %s in %s", strings.Join(shown, ", "), strings.Join(slices.Compact(places), " or "))
}

// OnPath reports whether a program is on the PATH of the environment given.
func OnPath(getenv func(string) string, program string) bool {
	_, found := FindOnPath(getenv, program)
	return found
}

// FindOnPath returns the path of an executable on that PATH. It skips relative entries, the empty
// one included.
func FindOnPath(getenv func(string) string, program string) (string, bool) {
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// SameFile reports whether two paths lead to the same file or directory.
func SameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// ShortPath returns a path for display, with ~ for the home directory.
func (a *App) ShortPath(path string) string {
	if a.Home == "" || a.Home == string(filepath.Separator) {
		return format.Path(path)
	}
	homes := []string{a.Home}
	if home, err := filepath.EvalSymlinks(a.Home); err == nil {
		homes = append(homes, home)
	}
	for _, home := range homes {
		if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == filepath.Separator) {
			return format.Path("~" + rest)
		}
	}
	return format.Path(path)
}

// Absolute returns the absolute path of an argument, relative to the working directory.
func (a *App) Absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.Home != "" { // not expanded by the shell
		return filepath.Join(a.Home, rest)
	}
	if at, ok := disk.NewResolver("/", a.Dir).Abs(path); ok {
		return at
	}
	return filepath.Join(a.Dir, path)
}
