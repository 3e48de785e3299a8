package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// MadeCommit is the current commit of HEAD, with the decisions of its worktree.
type MadeCommit struct {
	head      git.Commit
	decisions []tracking.Decision
	doing     git.Operation
}

// Checkpoints returns the checkpoints that the commit's message names and that a decision of this
// worktree has.
func (m MadeCommit) Checkpoints() []checkpoint.ID {
	named := checkpoint.IDsOf(m.head)
	var ids []checkpoint.ID
	for _, d := range m.decisions {
		if d.ID != "" && slices.Contains(named, d.ID) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// FindMade returns the current commit of HEAD. It returns false if nothing has to be done for it.
func FindMade(ctx context.Context, w *workspace.Workspace) (MadeCommit, bool, error) {
	doing, err := git.OperationInProgress(ctx, w.Repo)
	if err != nil {
		return MadeCommit{}, false, err
	}
	mine := tracking.WorktreeDecisions(ctx, w)
	if doing.Rebase { // a rebase in progress: remove the decisions about its commits
		for _, d := range mine {
			if d.ID != "" || (isLive(w, d) && !isCaller(w, d)) {
				continue
			}
			if err := tracking.RemoveDecision(d); err != nil {
				return MadeCommit{}, false, err
			}
		}
		return MadeCommit{}, false, markSeenAside(ctx, w, mine)
	}
	hasFiles := func(s *session.State) bool {
		return len(s.FilesTouched)+len(s.TurnCheckpointIDs)+len(s.Recorder.Withheld) > 0
	}
	if len(mine) == 0 && !slices.ContainsFunc(w.PendingSessions(ctx), hasFiles) {
		return MadeCommit{}, false, errors.Join(MarkHeadPassed(ctx, w), markHeadSeen(ctx, w, doing))
	}
	head, born, err := w.Head(ctx)
	return MadeCommit{head: head, decisions: mine, doing: doing}, err == nil && born, err
}

// FinishMade carries out the decision about the commit. If it fails the decision remains, and the next
// hook of any kind retries.
func FinishMade(ctx context.Context, w *workspace.Workspace, m MadeCommit) error {
	err := afterCommit(ctx, w, m)
	if err == nil {
		err = MarkPassed(ctx, w, m.head)
	}
	if errors.Is(err, disk.ErrLocked) || ctx.Err() != nil {
		w.RequestCompletion(ctx, "")
	}
	switch {
	case err == nil:
		return nil
	case len(m.Checkpoints()) == 0:
		return fmt.Errorf("record the work pending after %s: %w", m.head.OID.Short(), err)
	case errors.Is(err, ErrUnfinished):
		return fmt.Errorf("the checkpoint of %s is written, but its sessions are not updated; the next hook tries again: %w", m.head.OID.Short(), err)
	default:
		return fmt.Errorf("the checkpoint of %s is not written; the next hook tries again: %w", m.head.OID.Short(), err)
	}
}

// afterCommit applies the decisions about head, and updates the other sessions of the worktree. It
// ignores a decision whose git process is still running: it is about another commit that is being
// made in this worktree. A commit in which no session has a share is added to the register of seen
// commits.
func afterCommit(ctx context.Context, w *workspace.Workspace, m MadeCommit) error {
	head := m.head
	ids := checkpoint.IDsOf(head)
	linked := map[string]bool{}
	isSeen := len(ids) == 0 && !checkpoint.IsDeclined(head)
	var kept, elsewhere []tracking.Decision
	for _, d := range m.decisions {
		own := isCaller(w, d)
		switch {
		case !own && isLive(w, d):
		case d.ID == "":
			kept, isSeen = append(kept, d), isSeen && !d.Unseen
		case slices.Contains(ids, d.ID):
			if err := ApplyDecision(ctx, w, d, tracking.LinkedCommit{Commit: head, Holder: head.OID}); err != nil {
				return err
			}
			for _, share := range d.Shares {
				linked[share.Session] = true
			}
		case own:
			// Another commit was made on top of it already, or its message lost the trailer.
			elsewhere, isSeen = append(elsewhere, d), false
		}
	}
	if len(kept) > 0 { // they request no checkpoint
		err := w.WithLock(ctx, func() error {
			for _, d := range kept {
				tracking.Relink(ctx, w, d, head.OID)
				if err := tracking.RemoveDecision(d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if _, err := finishAll(ctx, w, elsewhere, tracking.RecentCommits); err != nil {
		return err
	}
	if err := settle(ctx, w, head, linked); err != nil || !isSeen {
		return err
	}
	return markSeen(ctx, w, m.doing, head.OID)
}

// PostRewrite updates links and notes after git has rewritten commits, given as a map of old ids to
// new ids. After a rebase it carries out the decisions that had to wait for its end.
func PostRewrite(ctx context.Context, w *workspace.Workspace, byRebase bool, moved map[git.OID]git.OID) error {
	if byRebase { // before the links follow: they lead to the commits that were replaced
		if err := FinishRebased(ctx, w); err != nil {
			return err
		}
	}
	if len(moved) == 0 {
		return nil
	}
	if err := FollowRewritten(ctx, w, moved); err != nil {
		return err
	}
	if byRebase { // post-commit has decided about an amended commit
		if err := followSeen(ctx, w, moved); err != nil {
			return err
		}
	}
	if head, born, err := w.Head(ctx); err == nil && born {
		if err := MarkExamined(w, head.OID); err != nil {
			return err
		}
	}
	if len(tracking.Links(w)) == 0 {
		return nil
	}
	return w.WithLock(ctx, func() error { return tracking.MoveLinks(w, moved) })
}

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
