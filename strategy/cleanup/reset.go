package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// Reset is a plan to forget the uncommitted work of a worktree's sessions.
type Reset struct {
	// Branch is the shadow branch, without refs/heads/. It is removed if Removes is set: it
	// exists, and no other session has work on it.
	Branch  string
	Removes bool
	// Sessions are the sessions whose states are removed.
	Sessions []*session.State
	// AtWork are those of them that have a turn under way.
	AtWork []string
	// Rescue is the ref that keeps the last commit of the removed branch.
	Rescue string

	spec string // the requested id
	tip  git.OID
}

// Empty reports whether there is nothing to reset.
func (r Reset) Empty() bool { return len(r.Sessions) == 0 && !r.Removes }

// Errors of a reset.
var (
	// ErrUnknownSession means that no session of this worktree has the id.
	ErrUnknownSession = errors.New("no such session in this worktree")
	// ErrMeanwhile means that sessions changed after the plan was made. Nothing was changed.
	ErrMeanwhile = errors.New("a session was continued meanwhile")
)

// PlanReset returns what a reset would forget: the session with an id, of this worktree or of
// a removed one, or for an empty id the sessions of this worktree whose work is based on HEAD;
// and their shadow branch. An id may be abbreviated. It writes nothing.
func (c Cleaner) PlanReset(ctx context.Context, id string) (Reset, error) {
	states, failed := c.w.Sessions.All()
	plan := Reset{spec: id}
	ref, err := c.choose(ctx, &plan, states)
	if err != nil {
		return Reset{}, err
	}
	for _, s := range plan.Sessions {
		if c.w.IsActive(s) {
			plan.AtWork = append(plan.AtWork, s.ID)
		}
	}
	plan.Branch = shortName(ref)
	tip, err := c.w.Repo.Commit(ctx, ref)
	if err != nil {
		return plan, git.UnlessMissing(err)
	}
	plan.tip = tip.OID
	base, worktree, _ := checkpoint.ParseShadow(plan.Branch)
	plan.Removes = len(failed) == 0 && !slices.ContainsFunc(states, func(s *session.State) bool {
		planned := slices.ContainsFunc(plan.Sessions, func(g *session.State) bool { return g.ID == s.ID })
		return !planned && has(s, base, worktree)
	})
	return plan, nil
}

// choose selects the sessions to forget, and returns their shadow branch.
func (c Cleaner) choose(ctx context.Context, plan *Reset, states []*session.State) (string, error) {
	if plan.spec != "" {
		mine := slices.DeleteFunc(slices.Clone(states), func(s *session.State) bool {
			if c.w.OwnsSession(s) {
				return false
			}
			_, err := os.Lstat(s.WorktreePath)
			return s.WorktreePath == "" || !errors.Is(err, fs.ErrNotExist)
		})
		s, err := named(mine, plan.spec)
		if err != nil {
			return "", err
		}
		plan.Sessions = []*session.State{s}
		return checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID), nil
	}
	at, err := c.w.Repo.Commit(ctx, "HEAD")
	if git.UnlessMissing(err) != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	for _, s := range states {
		if c.w.OwnsSession(s) && s.BaseCommit == string(at.OID) {
			plan.Sessions = append(plan.Sessions, s)
		}
	}
	return checkpoint.ShadowBranch(at.OID, c.w.Repo.WorktreeID), nil
}

// named returns the session with an id, which may be abbreviated.
func named(states []*session.State, id string) (*session.State, error) {
	var found []*session.State
	for _, s := range states {
		if s.ID == id {
			return s, nil
		}
		if strings.HasPrefix(s.ID, id) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("%s: %w", id, ErrUnknownSession)
	default:
		return nil, fmt.Errorf("%s names %d sessions", id, len(found))
	}
}

// Reset carries out a plan, or returns ErrMeanwhile if it is out of date. The branch's last
// commit is kept under Rescue.
func (c Cleaner) Reset(ctx context.Context, plan Reset) (Reset, error) {
	err := c.w.WithLock(ctx, func() error {
		now, err := New(c.anew()).PlanReset(ctx, plan.spec)
		if err != nil {
			return err
		}
		if plan.Branch != now.Branch || plan.Removes != now.Removes || plan.tip != now.tip ||
			!slices.Equal(plan.AtWork, now.AtWork) || !slices.Equal(session.IDs(plan.Sessions), session.IDs(now.Sessions)) {
			return ErrMeanwhile
		}
		if plan.Removes {
			at := strconv.FormatInt(c.w.Env.Now().UnixNano(), 10)
			plan.Rescue = checkpoint.HeldRefs + tracking.Lineage(c.w) + "-" + at
			err := git.UpdateRefs(ctx, c.w.Repo, "entire: reset", []git.RefChange{
				{Name: plan.Rescue, New: plan.tip},
				{Name: fullName(plan.Branch), Old: plan.tip},
			})
			if err != nil {
				return err
			}
		}
		for _, s := range plan.Sessions {
			// If the session continues, the present content of its transcript no longer counts
			// as its work.
			end := s.Recorder.Cursor
			if scan, err := transcript.Read(ctx, s.TranscriptPath, end); err == nil {
				end = scan.Cursor
			}
			if err := c.w.Sessions.Forget(s.ID, end); err != nil {
				return err
			}
		}
		return nil
	})
	return plan, err
}
