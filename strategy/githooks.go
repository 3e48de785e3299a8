package strategy

import (
	"context"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/commits"
)

// GitHooks links commits to sessions. Each method is one hook of git.
type GitHooks struct{ rec *Recorder }

// GitHooks returns the hooks of git.
func (r *Recorder) GitHooks() *GitHooks { return &GitHooks{r} }

// PrepareCommitMsg decides whether the commit belongs to sessions, and writes the
// trailer into its message.
func (g *GitHooks) PrepareCommitMsg(ctx context.Context, m commits.Message) error {
	services, machine := g.rec.Commits(), g.rec.Lifecycle().Machine
	services.Repairer.RepairHere(ctx)
	machine.CloseTurns(ctx)
	machine.EndDeadTurns(ctx)
	machine.EndInterruptedTurns(ctx)
	machine.EndLeftTurns(ctx)
	return services.Preparer.PrepareCommitMsg(ctx, m)
}

// CommitMsg checks the message that the editor left in file.
func (g *GitHooks) CommitMsg(ctx context.Context, file string) error {
	return g.rec.Commits().Preparer.CommitMsg(ctx, file)
}

// PostCommit writes the checkpoint of the commit that was just made. If that
// fails the decision stays recorded, and the next hook tries again.
func (g *GitHooks) PostCommit(ctx context.Context) error {
	committed := g.rec.Commits().Committed
	made, found, err := committed.FindMade(ctx)
	if err != nil || !found {
		return err
	}
	g.rec.Lifecycle().Machine.EndDeadTurns(ctx)
	if err := committed.Finish(ctx, made); err != nil {
		return err
	}
	for _, id := range made.Checkpoints() {
		g.rec.Summaries().Summarizer.SummarizeLater(ctx, id)
	}
	g.rec.Snapshots().Server.TakePairs(ctx)
	committed.StartCompletions(ctx, agent.CallingSession(g.rec.Env.Getenv))
	return nil
}

// PostRewrite follows the commits that git has rewritten, old id to new, by a rebase or an amend.
func (g *GitHooks) PostRewrite(ctx context.Context, byRebase bool, moved map[git.OID]git.OID) error {
	return g.rec.Commits().Committed.PostRewrite(ctx, byRebase, moved)
}

// PrePush pushes the checkpoints beside the user's push.
func (g *GitHooks) PrePush(ctx context.Context) error { return g.rec.Sharing().Pusher.PrePush(ctx) }
