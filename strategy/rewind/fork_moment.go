package rewind

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ForkMoment is the source of a fork.
type ForkMoment struct {
	// Commit is the commit at which the fork's branch begins: HEAD at the moment.
	Commit git.OID
	// Guessed reports that the commit of the moment isn't recorded or no longer exists. Commit is
	// the current HEAD then.
	Guessed bool
	// Snapshot has the files. If its version is 0 they are those of Shadow, or else of Commit.
	Snapshot bands.Snapshot
	Shadow   git.OID
	// Message describes the moment. Session and Turn identify its session and turn.
	Message, Session, Turn string
	Date                   time.Time

	read bands.Stamp // time before [Maker.Now] took the snapshot
}

// ErrForkNoCommit means that the repository has no commit at which a branch could begin.
var ErrForkNoCommit = errors.New("no commit yet")

// ForkMomentNow takes a snapshot of this worktree and returns the current moment. If snapshots are disabled
// the error is [tracking.ErrNoBands].
func ForkMomentNow(ctx context.Context, w *workspace.Workspace, progress func(bands.Progress)) (ForkMoment, error) {
	head, err := head(ctx, w)
	if err != nil {
		return ForkMoment{}, err
	}
	if !w.Options.Bands.Enabled {
		return ForkMoment{}, tracking.ErrNoBands
	}
	store, err := tracking.MakeStore(ctx, w)
	if err != nil {
		return ForkMoment{}, err
	}
	held, err := tracking.HoldStore(ctx, store, tracking.HoldWait)
	if err != nil {
		return ForkMoment{}, err
	}
	read, err := stamp(w, store)
	var taken capture.Taken
	if err == nil {
		taken, err = tracking.TakeSnapshot(ctx, w, held, capture.TakeOptions{
			Cause: bands.Auto, Message: "forked", SkipUnchanged: true, Progress: progress,
		})
	}
	if err := errors.Join(err, held.Release()); err != nil {
		return ForkMoment{}, err
	}
	s := taken.Snapshot
	return ForkMoment{
		Commit: head, Snapshot: s, Message: "now", Session: s.Causality.Session, Turn: s.Causality.Turn, Date: w.Env.Now(),
		read: read,
	}, nil
}

// FindForkMoment returns the moment that a text names: a point in the form of [Points.FindPoint], a
// snapshot of another worktree, or any commit.
func FindForkMoment(ctx context.Context, w *workspace.Workspace, spec string) (ForkMoment, error) {
	if v, err := bands.ParseVersion(spec); err == nil && strings.HasPrefix(spec, "v") {
		return ofSnapshot(ctx, w, spec, v)
	}
	p, err := FindPoint(ctx, w, spec)
	if _, none := errors.AsType[*PointError](err); none {
		return ofCommit(ctx, w, spec, err)
	}
	if err != nil {
		return ForkMoment{}, err
	}
	switch {
	case p.Snapshot != 0:
		m, err := ofSnapshot(ctx, w, spec, p.Snapshot)
		if p.Commit != "" && err == nil {
			m.Commit, m.Guessed = p.Commit, false
		}
		m.Message = p.Message
		return m, err
	case p.Shadow != "":
		head, err := head(ctx, w)
		return ForkMoment{Commit: head, Shadow: p.Shadow, Message: p.Message, Session: p.Session, Date: p.Date}, err
	case p.Commit != "":
		return ForkMoment{Commit: p.Commit, Message: p.Message, Session: p.Session, Date: p.Date}, nil
	}
	return ofCommit(ctx, w, spec, &PointError{Spec: spec, Why: "its commit is unknown"})
}

// ofCommit returns the moment of a commit without a snapshot, or the error none if the text names
// no commit.
func ofCommit(ctx context.Context, w *workspace.Workspace, spec string, none error) (ForkMoment, error) {
	if strings.HasPrefix(spec, "-") {
		return ForkMoment{}, none
	}
	c, err := w.Repo.Commit(ctx, spec+"^{commit}")
	if err != nil {
		return ForkMoment{}, none
	}
	return ForkMoment{Commit: c.OID, Message: plain.FirstLine(c.Message), Date: c.Committer.When}, nil
}

// ofSnapshot returns the moment of a snapshot of any worktree of the repository.
func ofSnapshot(ctx context.Context, w *workspace.Workspace, spec string, v bands.Version) (ForkMoment, error) {
	store, err := tracking.OpenStore(w)
	if err != nil {
		return ForkMoment{}, &PointError{Spec: spec, Why: err.Error()}
	}
	s, err := store.Snapshot(v)
	if err != nil {
		return ForkMoment{}, err
	}
	if len(s.Only) > 0 {
		return ForkMoment{}, &PointError{Spec: spec, Why: "only has the files that a rewind changed; it belongs to " + tracking.TargetName(store, v)}
	}
	m := ForkMoment{
		Commit: git.OID(s.Causality.Commit), Snapshot: s, Message: MessageOf(s),
		Session: s.Causality.Session, Turn: s.Causality.Turn, Date: s.Created,
	}
	if n := len(s.Pairs); n > 0 {
		m.Commit = git.OID(s.Pairs[n-1].Commit)
	}
	if m.Commit != "" {
		if _, err := w.Repo.Commit(ctx, string(m.Commit)); err == nil {
			return m, nil
		}
	}
	if s.Lineage == tracking.Lineage(w) { // the reflog of HEAD is this worktree's
		at := strconv.FormatInt(s.Created.Unix(), 10)
		out, err := w.Repo.Run(ctx, "rev-parse", "--verify", "--quiet", "HEAD@{"+at+"}^{commit}")
		if err == nil {
			m.Commit = git.OID(strings.TrimSpace(string(out)))
			return m, nil
		}
	}
	m.Guessed = true
	m.Commit, err = head(ctx, w)
	return m, err
}

func head(ctx context.Context, w *workspace.Workspace) (git.OID, error) {
	head, born, err := w.Head(ctx)
	if err != nil {
		return "", fmt.Errorf("HEAD: %w", err)
	}
	if !born {
		return "", ErrForkNoCommit
	}
	return head.OID, nil
}
