package history

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/explain"
)

// leastID is how much of an id an argument has to have.
const leastID = 4

// resolve makes an option of the argument: a checkpoint, a commit, a session or a path.
func (e *explaining) resolve(ctx context.Context) error {
	what := e.opts.what
	isCheckpoint, err := e.isCheckpoint(ctx, what)
	if err != nil {
		return err
	}
	isCommit := false
	if !strings.HasPrefix(what, "-") {
		_, err := e.reader.Repo.Commit(ctx, what+"^{commit}")
		isCommit = err == nil
	}
	switch {
	case isCheckpoint && isCommit:
		return app.WithHint(fmt.Errorf("%q names a checkpoint and a commit", what), "use --checkpoint or --commit")
	case isCheckpoint:
		e.opts.checkpoint = what
		return nil
	case isCommit:
		e.opts.commit = what
		return nil
	}
	if len(what) >= leastID {
		if l, err := e.reader.List(ctx, explain.Filter{Session: what}); err != nil {
			return err
		} else if len(l.Points) > 0 {
			e.opts.session = what
			return nil
		}
	}
	if path, inside := e.inRepository(what); inside {
		if l, err := e.reader.List(ctx, explain.Filter{Path: path}); err != nil {
			return err
		} else if len(l.Points) > 0 {
			e.opts.path = path
			return nil
		}
	}
	if v, err := bands.ParseVersion(what); err == nil {
		return app.WithHint(fmt.Errorf("%q is a snapshot", what), fmt.Sprintf("`entire fs checkpoint info %s` describes it", v))
	}
	return app.WithHint(fmt.Errorf("%q is no checkpoint, commit, session or file with a record on this branch", what), "`entire explain` lists the checkpoints of this branch")
}

// isCheckpoint reports whether a text is the id of a checkpoint, of a temporary one too, or
// its beginning.
func (e *explaining) isCheckpoint(ctx context.Context, what string) (bool, error) {
	if len(what) < leastID || strings.Trim(strings.ToLower(what), "0123456789abcdef") != "" {
		return false, nil
	}
	_, err := e.reader.Checkpoint(ctx, what, e.options())
	_, isUnknown := errors.AsType[*explain.NotFoundError](err)
	_, isAmbiguous := errors.AsType[*explain.AmbiguousError](err)
	switch {
	case isUnknown:
		return false, nil
	case isAmbiguous:
		return false, explainError(err)
	case errors.Is(err, git.ErrMissing), errors.Is(err, git.ErrTooMuch):
		return true, nil // named when it is shown
	}
	return err == nil, err
}

// inRepository returns a path as checkpoints name it: from the root of the worktree, with
// slashes.
func (e *explaining) inRepository(what string) (string, bool) {
	root := e.reader.Repo.Root
	if root == "" {
		return "", false
	}
	if !filepath.IsAbs(what) {
		what = filepath.Join(e.Dir, what)
	}
	rel, err := filepath.Rel(root, filepath.Clean(what))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
