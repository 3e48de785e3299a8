package fork

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
	"github.com/seed-3aff656d/entire/strategy/points"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Moment is the source of a fork.
type Moment struct {
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

// ErrNoCommit means that the repository has no commit at which a branch could begin.
var ErrNoCommit = errors.New("there is no commit yet")

// MomentNow takes a snapshot of this worktree and returns the current moment. If snapshots are disabled
// the error is [snapshots.ErrNoBands].
func MomentNow(ctx context.Context, w *workspace.Workspace, progress func(bands.Progress)) (Moment, error) {
	head, err := head(ctx, w)
	if err != nil {
		return Moment{}, err
	}
	if !w.Options.Bands.Enabled {
		return Moment{}, snapshots.ErrNoBands
	}
	store, err := snapshots.MakeStore(ctx, w)
	if err != nil {
		return Moment{}, err
	}
	held, err := snapshots.Hold(ctx, store, snapshots.HoldWait)
	if err != nil {
		return Moment{}, err
	}
	read, err := stamp(w, store)
	var taken capture.Taken
	if err == nil {
		taken, err = snapshots.Take(ctx, w, held, capture.TakeOptions{
			Cause: bands.Auto, Message: "forked", SkipUnchanged: true, Progress: progress,
		})
	}
	if err := errors.Join(err, held.Release()); err != nil {
		return Moment{}, err
	}
	s := taken.Snapshot
	return Moment{
		Commit: head, Snapshot: s, Message: "now", Session: s.Causality.Session, Turn: s.Causality.Turn, Date: w.Env.Now(),
		read: read,
	}, nil
}

// FindMoment returns the moment that a text names: a point in the form of [points.Points.FindPoint], a
// snapshot of another worktree, or any commit.
func FindMoment(ctx context.Context, w *workspace.Workspace, spec string) (Moment, error) {
	if v, err := bands.ParseVersion(spec); err == nil && strings.HasPrefix(spec, "v") {
		return ofSnapshot(ctx, w, spec, v)
	}
	p, err := points.FindPoint(ctx, w, spec)
	if _, none := errors.AsType[*points.PointError](err); none {
		return ofCommit(ctx, w, spec, err)
	}
	if err != nil {
		return Moment{}, err
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
		return Moment{Commit: head, Shadow: p.Shadow, Message: p.Message, Session: p.Session, Date: p.Date}, err
	case p.Commit != "":
		return Moment{Commit: p.Commit, Message: p.Message, Session: p.Session, Date: p.Date}, nil
	}
	return ofCommit(ctx, w, spec, &points.PointError{Spec: spec, Why: "no commit is known for it"})
}

// ofCommit returns the moment of a commit without a snapshot, or the error none if the text names
// no commit.
func ofCommit(ctx context.Context, w *workspace.Workspace, spec string, none error) (Moment, error) {
	if strings.HasPrefix(spec, "-") {
		return Moment{}, none
	}
	c, err := w.Repo.Commit(ctx, spec+"^{commit}")
	if err != nil {
		return Moment{}, none
	}
	return Moment{Commit: c.OID, Message: workspace.FirstLine(c.Message), Date: c.Committer.When}, nil
}

// ofSnapshot returns the moment of a snapshot of any worktree of the repository.
func ofSnapshot(ctx context.Context, w *workspace.Workspace, spec string, v bands.Version) (Moment, error) {
	store, err := snapshots.OpenStore(w)
	if err != nil {
		return Moment{}, &points.PointError{Spec: spec, Why: err.Error()}
	}
	s, err := store.Snapshot(v)
	if err != nil {
		return Moment{}, err
	}
	if len(s.Only) > 0 {
		return Moment{}, &points.PointError{Spec: spec, Why: "has only what a rewind changed; its point is " + rewindstate.TargetName(store, v)}
	}
	m := Moment{
		Commit: git.OID(s.Causality.Commit), Snapshot: s, Message: points.MessageOf(s),
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
	if s.Lineage == snapshots.Lineage(w) { // the reflog of HEAD is this worktree's
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
		return "", ErrNoCommit
	}
	return head.OID, nil
}
