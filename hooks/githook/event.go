// Package githook connects the program to git: it installs hook scripts, which run existing hooks
// too, and decodes their arguments and input.
package githook

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Errors of an event.
var (
	// ErrVerb means that the program has no such hook.
	ErrVerb = errors.New("unknown hook")
	// ErrUsage means that git passed other arguments to the hook than it documents.
	ErrUsage = errors.New("unusable arguments")
)

// Handle executes the git hook verb with git's arguments and the hook's standard input, if it has
// any.
func Handle(ctx context.Context, w *workspace.Workspace, verb string, args []string, in io.Reader) error {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch verb {
	case "prepare-commit-msg", "commit-msg", "pre-push":
		if arg(0) == "" {
			return fmt.Errorf("%s: %w", verb, ErrUsage)
		}
	}
	switch verb {
	case "prepare-commit-msg":
		return strategy.PrepareCommitMsg(ctx, w, record.CommitMessage{File: arg(0), Source: arg(1), Commit: arg(2)})
	case "commit-msg":
		return strategy.CommitMsg(ctx, w, arg(0))
	case "post-commit":
		return strategy.PostCommit(ctx, w)
	case "post-rewrite":
		moved, err := rewritten(ctx, in)
		if err != nil {
			return err
		}
		return strategy.PostRewrite(ctx, w, arg(0) == "rebase", moved)
	case "pre-push":
		return strategy.PrePush(ctx, w)
	default:
		return ErrVerb // without the verb, which may contain secrets
	}
}

// maxRewritten is the maximum size of the list of rewritten commits: half a million commits.
const maxRewritten = 64 << 20

// rewritten reads the pairs of old and new commits. It returns when ctx is done: git closes the
// stream, but other programs that call the hook may not.
func rewritten(ctx context.Context, in io.Reader) (map[git.OID]git.OID, error) {
	done := make(chan map[git.OID]git.OID, 1)
	go func() { // left running when ctx ends: the read can't be canceled
		moved := map[git.OID]git.OID{}
		for lines := bufio.NewScanner(io.LimitReader(in, maxRewritten)); lines.Scan(); {
			if f := strings.Fields(lines.Text()); len(f) >= 2 {
				moved[git.OID(f[0])] = git.OID(f[1])
			}
		}
		done <- moved
	}()
	select {
	case moved := <-done:
		return moved, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("read the rewritten commits: %w", ctx.Err())
	}
}
