package history

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// leastID is the minimum length of an id in an argument.
const leastID = 4

// resolve sets the option for the argument: it is a checkpoint, a commit, a session, a path or a
// snapshot.
func (e *explaining) resolve(ctx context.Context) error {
	what := e.opts.what
	isCheckpoint, temporary := false, false
	id, isPrefix := checkpoint.Prefix(what)
	if len(what) >= leastID && (isPrefix || strings.Trim(strings.ToLower(what), "0123456789abcdef") == "") {
		var err error
		_, temporary, err = e.reader.Lookup(ctx, what)
		if _, isUnknown := errors.AsType[*query.NotFoundError](err); err != nil && !isUnknown {
			return e.explained(ctx, err)
		}
		isCheckpoint = err == nil
		temporary = temporary && isCheckpoint
	}
	isCommit := false
	if !temporary && !strings.HasPrefix(what, "-") { // a temporary checkpoint is a commit itself
		_, err := e.reader.Repo.Commit(ctx, what+"^{commit}")
		isCommit = err == nil
	}
	switch {
	case isCheckpoint && isCommit:
		return app.WithHint(fmt.Errorf("%q is both a checkpoint and a commit", what), "use --checkpoint or --commit")
	case isCheckpoint:
		e.opts.checkpoint = what
		return nil
	case isCommit:
		e.opts.commit = what
		return nil
	case isPrefix && checkpoint.ID(id).IsULID(): // a session's id or a file can't have this form
		e.opts.checkpoint = id
		return nil
	}
	var filters []query.CheckpointFilter
	if len(what) >= leastID && !strings.ContainsAny(what, "./") { // no id has these
		filters = append(filters, query.CheckpointFilter{Session: what})
	}
	if root := e.reader.Repo.Root; root != "" {
		path := what
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.Dir, path)
		}
		// Checkpoints name a path from the root of the worktree, with slashes.
		if rel, err := filepath.Rel(root, filepath.Clean(path)); err == nil && rel != "." && filepath.IsLocal(rel) {
			filters = append(filters, query.CheckpointFilter{Path: filepath.ToSlash(rel)})
		}
	}
	for _, f := range filters {
		found, err := e.matching(ctx, f)
		if err != nil {
			return err
		}
		if found {
			e.opts.session, e.opts.path = f.Session, f.Path
			return nil
		}
	}
	if found, err := e.sessionElsewhere(ctx, what); found || err != nil {
		return err
	}
	if v, err := bands.ParseVersion(strings.ToLower(what)); err == nil && len(what) < rewind.LeastPointPrefix {
		if e.opts.showSnapshot != nil && !e.opts.raw && !e.opts.generate {
			e.shown = true
			return e.opts.showSnapshot(ctx, v.String())
		}
		return e.snapshot(ctx, v)
	}
	return app.WithHint(fmt.Errorf("%q is not a checkpoint, commit, session, snapshot or recorded file of this branch", what), "`entire log --commits` lists the checkpoints of this branch, `entire log --sessions` all sessions")
}

// matching reports whether a filter matches checkpoints. It reads their list, except with --json,
// where the list is printed while it is read.
func (e *explaining) matching(ctx context.Context, f query.CheckpointFilter) (bool, error) {
	if e.opts.json {
		_, points, err := e.reader.Open(ctx, f)
		if err != nil {
			return false, err
		}
		for _, err := range points {
			return err == nil, err
		}
		return false, nil
	}
	l, err := e.reader.List(ctx, f)
	if err != nil || len(l.Points) == 0 {
		return false, err
	}
	e.found = &l
	return true, nil
}
