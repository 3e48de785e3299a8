package record

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// settle removes the files that a commit contains from the pending files of sessions without a
// share in it. linked has the ids of the sessions with a share.
func settle(ctx context.Context, w *workspace.Workspace, head git.Commit, linked map[string]bool) error {
	var waiting []*session.State
	for _, s := range w.PendingSessions(ctx) {
		if len(s.FilesTouched)+len(s.Recorder.Withheld) > 0 && !linked[s.ID] {
			waiting = append(waiting, s)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	changes, err := ChangesOf(ctx, w, head)
	if err != nil {
		return err
	}
	if err := noteUnsure(ctx, w, head, changes, waiting); err != nil && ctx.Err() == nil {
		w.Log.WarnContext(ctx, "unsure lines not noted", "commit", string(head.OID), "error", err.Error())
	}
	for _, s := range waiting {
		if len(s.Recorder.Withheld) == 0 && !slices.ContainsFunc(s.FilesTouched, func(p string) bool { _, ok := changes[p]; return ok }) {
			continue
		}
		if err := settleSession(ctx, w, s.ID, authorship.Committed{Commit: head.OID, Changes: changes}); err != nil {
			return err
		}
	}
	return nil
}

// noteUnsure adds a note to a commit without a checkpoint that lists the lines that sessions wrote
// in files created by the commit that are no session's share. Without the note these lines would
// count as a person's.
func noteUnsure(ctx context.Context, w *workspace.Workspace, head git.Commit, changes tracking.CommitChanges, waiting []*session.State) error {
	if len(checkpoint.IDsOf(head)) > 0 || checkpoint.Declines(head.Message) {
		return nil
	}
	files := authorship.NewCreated(w, changes, waiting)
	text := head.Note
	for _, s := range waiting {
		for _, p := range s.FilesTouched {
			if change, ok := changes[p]; !ok || change.OldMode != 0 {
				continue
			}
			wrote, err := files.Wrote(ctx, s, p)
			if err != nil {
				return err
			}
			line := checkpoint.UnsureLines{Path: p, Blob: changes[p].New, Lines: wrote}.String() + "\n"
			if len(wrote) > 0 && !strings.Contains(text, line) {
				text += line
			}
		}
	}
	if text == head.Note {
		return nil
	}
	by := git.Signature{Name: head.Committer.Name, Email: head.Committer.Email, When: w.Env.Now()}
	return git.WriteNotes(ctx, w.Repo, by, map[git.OID]string{head.OID: text})
}

// settleSession removes the files that a commit contains from a session's pending files. As for a
// step, the work is done without the lock, and repeated if another hook saved the session
// meanwhile.
func settleSession(ctx context.Context, w *workspace.Workspace, id string, m authorship.Committed) error {
	return w.Retry(func() error {
		stamp := w.Stamp(id)
		s, err := w.Sessions.Load(id)
		if errors.Is(err, session.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		rest, err := FindRemaining(ctx, w, s, m, tracking.Share{Session: s.ID})
		if err != nil {
			return err
		}
		s.Keep(rest.Paths)
		s.Withhold(rest.Withheld)
		n := new(tracking.Pending)
		if err := tracking.SettleSteps(ctx, w, s, n, slices.Concat(rest.Paths, s.Recorder.Withheld)); err != nil {
			return err
		}
		return tracking.SaveUnchanged(ctx, w, s, n, stamp, nil)
	})
}
