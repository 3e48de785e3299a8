// Package githook speaks with git: it installs hook scripts, chaining what is
// there, and decodes what git tells them.
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
)

// Errors of an event.
var (
	// ErrVerb means that it isn't a hook of ours.
	ErrVerb = errors.New("unknown hook")
	// ErrUsage means that git gave the hook other arguments than it documents.
	ErrUsage = errors.New("unusable arguments")
)

// Handle carries out the git hook verb with git's arguments and, where git
// gives it any, its standard input.
func Handle(ctx context.Context, r *strategy.Recorder, verb string, args []string, in io.Reader) error {
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
		return r.PrepareCommitMsg(ctx, strategy.Message{File: arg(0), Source: arg(1), Commit: arg(2)})
	case "commit-msg":
		return r.CommitMsg(ctx, arg(0))
	case "post-commit":
		return r.PostCommit(ctx)
	case "post-rewrite":
		return r.PostRewrite(ctx, rewritten(in))
	case "pre-push":
		return r.PrePush(ctx)
	default:
		return fmt.Errorf("%w: %.40q", ErrVerb, verb)
	}
}

// rewritten reads the pairs of old and new commits.
func rewritten(in io.Reader) map[git.OID]git.OID {
	moved := map[git.OID]git.OID{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) >= 2 {
			moved[git.OID(f[0])] = git.OID(f[1])
		}
	}
	return moved
}
