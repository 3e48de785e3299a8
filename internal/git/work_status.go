package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// maxPathArgs is the maximum size of paths on a command line, in bytes; with more, the status of
// the whole tree is read and filtered.
const maxPathArgs = 64 << 10

// StatusEntry is one path that differs from HEAD or the index. Both letters are '?' for an
// untracked one; a nested repository's path ends with "/".
type StatusEntry struct {
	Index, Worktree byte
	Path            string
}

// Status returns the differences at or below the paths given (none: everywhere). Paths are taken
// literally, a rename is reported as a deletion and an addition, and ignored files are left out.
func Status(ctx context.Context, r *Repo, paths ...string) ([]StatusEntry, error) {
	args := []string{
		"--literal-pathspecs", "status", "--porcelain=v1", "-z", "-uall", "--no-renames",
		"--ignore-submodules=dirty", "--",
	}
	var only *pathFilter
	size := 0
	for _, p := range paths {
		size += len(p) + 1
	}
	if size <= maxPathArgs {
		args = append(args, paths...)
	} else {
		only = &pathFilter{set: make(map[string]struct{}, len(paths))}
		for _, p := range paths {
			only.set[strings.TrimSuffix(p, "/")] = struct{}{}
		}
	}
	out, err := r.Do(ctx, Command{Args: args, Early: true}) // objects in HEAD and the index have names
	if err != nil {
		return nil, err
	}
	var entries []StatusEntry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		if len(line) < 4 || line[2] != ' ' {
			return nil, fmt.Errorf("git status: unknown line %q", line)
		}
		if e := (StatusEntry{Index: line[0], Worktree: line[1], Path: line[3:]}); only.has(e.Path) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// pathFilter is the set of all paths at or below some paths.
type pathFilter struct{ set map[string]struct{} }

// has reports whether path is one of the paths or below one; a nil filter has all paths.
func (f *pathFilter) has(path string) bool {
	if f == nil {
		return true
	}
	path = strings.TrimSuffix(path, "/")
	for {
		if _, ok := f.set[path]; ok {
			return true
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return false
		}
		path = path[:i]
	}
}

// IgnoredPaths returns those of the paths, relative to the root, that git ignores. Tracked paths
// are never ignored.
func IgnoredPaths(ctx context.Context, r *Repo, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	const plain = "./" // so that no path starts with pattern magic
	asked := strings.NewReader(plain + strings.Join(paths, "\x00"+plain) + "\x00")
	out, err := r.Do(ctx, Command{Args: []string{"check-ignore", "--stdin", "-z"}, Stdin: asked})
	if exit, ok := errors.AsType[*ExitError](err); ok && exit.Code == 1 { // none
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ignored []string
	for p := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if p != "" {
			ignored = append(ignored, strings.TrimPrefix(p, plain))
		}
	}
	return ignored, nil
}

// TrackedPaths returns the paths of the index.
func TrackedPaths(ctx context.Context, r *Repo) ([]string, error) {
	out, err := r.Run(ctx, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), nil
}
