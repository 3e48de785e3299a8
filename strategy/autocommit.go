package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

const (
	// turnVariable tells the hooks of a turn's commit which turn that is.
	turnVariable = "ENTIRE_AUTO_COMMIT"
	// turnCommitTimeout bounds the commit of a turn, with what the user's hooks
	// do in it.
	turnCommitTimeout = 60 * time.Second
	// tidyTimeout bounds what has to be done after it, however it ended.
	tidyTimeout = 5 * time.Second
)

// NotCommitted says why the changes of a turn are not committed. They are as
// they were, and the next stop tries again.
type NotCommitted struct{ Reason string } // one line, redacted

func (e *NotCommitted) Error() string { return "not committed: " + e.Reason }

// strategy is the name that goes into metadata.
func (r *Recorder) strategy() string { return cmp.Or(r.Options.Strategy, Name) }

// CommitTurn commits what the session's turns have changed, where the strategy
// wants it: exactly those files, and none that the user has staged. It is called
// when a stop is saved and holds no lock that a commit's hooks need. The error
// is a *NotCommitted if there was something to commit and git or the state of
// the repository stood against it.
func (r *Recorder) CommitTurn(ctx context.Context, id string) error {
	if r.Options.Strategy != AutoCommit && !r.intended() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, turnCommitTimeout)
	defer cancel()
	return r.oneCommit(ctx, func() error {
		if err := r.withdraw(ctx); err != nil { // of a stop that was killed
			return r.notCommitted(ctx, err)
		}
		s, err := r.Sessions.Load(id)
		switch {
		case r.Options.Strategy != AutoCommit, errors.Is(err, session.ErrNotFound):
			return nil
		case err != nil:
			return err
		case s.Phase == session.Active || !r.here(s):
			return nil // the next stop does it
		}
		return r.commitDue(ctx, s)
	})
}

// oneCommit runs do while no other stop of this worktree commits.
func (r *Recorder) oneCommit(ctx context.Context, do func() error) error {
	lock, err := disk.Lock(ctx, r.commitFile(".lock"))
	if err != nil {
		return err
	}
	return errors.Join(do(), lock.Unlock())
}

// commitDue commits the files that are due.
func (r *Recorder) commitDue(ctx context.Context, s *session.State) error {
	plan, err := r.planCommit(ctx, s)
	if err != nil || len(plan.paths) == 0 {
		return err
	}
	doing, err := r.Repo.InProgress(ctx)
	if err != nil {
		return err
	}
	if name := doing.Name(); name != "" {
		return &NotCommitted{"a " + name + " is in progress"}
	}
	before, _, err := r.head(ctx)
	if err != nil {
		return err
	}
	if err = r.intend(ctx, plan.fresh); err == nil {
		err = r.Repo.CommitPaths(ctx, git.PathCommit{
			Paths: plan.paths, Message: s.Recorder.Due.Subject,
			Env: []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=" + s.ID, turnVariable + "=" + s.TurnID},
		})
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTimeout)
	defer cancel()
	head, born, failed := r.head(after)
	if failed != nil {
		return errors.Join(err, failed)
	}
	made := born && head.OID != before.OID && firstParent(head) == before.OID
	if err != nil && !made { // one whose last hook was cut short is made
		return errors.Join(r.notCommitted(ctx, err), r.withdraw(after))
	}
	r.Log.InfoContext(ctx, "turn committed", "session_id", s.ID, "commit", head.OID.Short(), "files", len(plan.paths))
	return errors.Join(r.dropIntent(), r.afterTurnCommit(after, s, head, plan.paths))
}

func firstParent(c git.Commit) git.OID {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// afterTurnCommit brings the index in line with what the user's hooks have
// changed in the commit, and does what our own hooks should have done if they
// didn't run.
func (r *Recorder) afterTurnCommit(ctx context.Context, s *session.State, head git.Commit, paths []string) error {
	stale, err := r.staleInIndex(ctx, head, paths)
	if err == nil {
		err = r.Repo.Unstage(ctx, stale)
	}
	if err != nil {
		return fmt.Errorf("bring the index in line with %s: %w", head.OID.Short(), err)
	}
	now, err := r.Sessions.Load(s.ID)
	if err != nil || now.BaseCommit == string(head.OID) {
		return err
	}
	if err := r.PostCommit(ctx); err != nil {
		return err
	}
	if now, err = r.Sessions.Load(s.ID); err == nil && now.BaseCommit != string(head.OID) {
		err = &NotLinked{Commit: head.OID}
	}
	return err
}

// NotLinked says that a turn's commit has no checkpoint, since git didn't run
// our hooks.
type NotLinked struct{ Commit git.OID }

func (e *NotLinked) Error() string {
	return "committed as " + e.Commit.Short() + ", but not linked: git doesn't run our hooks"
}

// notCommitted is the error for the user: the first line of what git or one of
// their hooks said.
func (r *Recorder) notCommitted(ctx context.Context, err error) error {
	const longest = 200
	reason := err.Error()
	if exit, ok := errors.AsType[*git.ExitError](err); ok {
		reason = cmp.Or(firstLine(exit.Stderr), reason)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		reason = fmt.Sprintf("git took more than %v", turnCommitTimeout)
	}
	reason = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, r.Redact.Text(reason))
	r.Log.WarnContext(ctx, "turn not committed", "error", r.Redact.Text(err.Error()))
	return &NotCommitted{string([]rune(reason)[:min(longest, len([]rune(reason)))])}
}

// commitsTurnOf says whether the commit that is being made is the one that the
// strategy makes of the session's last turn.
func (r *Recorder) commitsTurnOf(s *session.State) bool {
	turn := r.Env.Getenv(turnVariable)
	return turn != "" && turn == s.TurnID && s.Phase != session.Active
}
