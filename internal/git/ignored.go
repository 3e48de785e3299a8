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
	out, err := r.run(ctx, request{
		args: []string{"--literal-pathspecs", "check-ignore", "--stdin", "-z"}, stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	if exit, ok := errors.AsType[*ExitError](err); ok && exit.Code == 1 { // none
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\x00"), nil
}
