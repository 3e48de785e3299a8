package git

import (
	"context"
	"strings"
)

// Messages answers the messages, newest first, of the commits that hold the
// text in theirs and that the revisions reach. What git rev-list takes for
// revisions counts too: --all, --reflog.
func (r *Repo) Messages(ctx context.Context, text string, revs ...string) ([]string, error) {
	args := []string{"rev-list", "--fixed-strings", "--grep=" + text, "--format=%x00%B%x00"}
	out, err := r.Run(ctx, append(append(args, revs...), "--")...)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(string(out), "\x00")
	messages := make([]string, 0, len(parts)/2)
	for i := 1; i < len(parts); i += 2 {
		messages = append(messages, parts[i])
	}
	return messages, nil
}
