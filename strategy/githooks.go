package strategy

import (
	"context"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// PrepareCommitMsg decides whether the commit belongs to sessions, and writes the
// trailer into its message.
func PrepareCommitMsg(ctx context.Context, w *workspace.Workspace, m record.CommitMessage) error {
	if err := arriveAtCommit(ctx, w); err != nil {
		w.Log.WarnContext(ctx, "session of another repository not recorded here", "error", err.Error())
	}
	record.RepairCommitsHere(ctx, w)
	record.CloseTurns(ctx, w)
	record.EndDeadTurns(ctx, w)
	record.EndInterruptedTurns(ctx, w)
	record.EndLeftTurns(ctx, w)
	return record.PrepareCommitMsg(ctx, w, m)
}

// CommitMsg checks the message that the editor left in file.
func CommitMsg(ctx context.Context, w *workspace.Workspace, file string) error {
	return record.CommitMsg(ctx, w, file)
}

// PostCommit writes the checkpoint of the commit that was just made. If that
// fails the decision stays recorded, and the next hook tries again.
func PostCommit(ctx context.Context, w *workspace.Workspace) error {
	made, found, err := record.FindMade(ctx, w)
	if err != nil || !found {
		return err
	}
	record.EndDeadTurns(ctx, w)
	if err := record.FinishMade(ctx, w, made); err != nil {
		return err
	}
	for _, id := range made.Checkpoints() {
		record.SummarizeLater(ctx, w, id)
	}
	tracking.TakePairs(ctx, w)
	record.StartCompletions(ctx, w, agent.CallingSession(w.Env.Getenv))
	return nil
}

// PostRewrite follows the commits that git has rewritten, old id to new, by a rebase or an amend.
func PostRewrite(ctx context.Context, w *workspace.Workspace, byRebase bool, moved map[git.OID]git.OID) error {
	return record.PostRewrite(ctx, w, byRebase, moved)
}

// PrePush pushes the checkpoints beside the user's push.
func PrePush(ctx context.Context, w *workspace.Workspace) error { return sharing.PrePush(ctx, w) }
