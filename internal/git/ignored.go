package git

import (
	"context"
	"errors"
	"strings"
)

// Ignored answers which of the paths, relative to the root, git ignores. A
// tracked path never is.
func (r *Repo) Ignored(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	const plain = "./" // so that no path begins with the mark of a pattern
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

// Tracked are the paths of the index.
func (r *Repo) Tracked(ctx context.Context) ([]string, error) {
	out, err := r.Run(ctx, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), nil
}
