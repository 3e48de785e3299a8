package savedcontext

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// addCommits adds the commits since base with work of the checkpoint's session, and whether
// the last one is pushed, as far as refs show it. If git can't list them, only those that the
// transcript reports remain. It delays a prompt: commits are read from files, and at most one
// git process is started, for a commit that is not pushed.
func addCommits(ctx context.Context, w *workspace.Workspace, m *brief.Material, c recall.Checkpoint, base string) {
	head, reported := git.OID(c.State.Context.GitCommit), c.State.Analysis.Progress.Commits
	if head == "" || len(c.Checkpoints)+len(reported) == 0 {
		return
	}
	const most = 20
	for at, n := head, 0; base != "" && len(c.Checkpoints) > 0 && at != git.OID(base) && n < most; n++ {
		commit, err := w.Repo.Commit(ctx, string(at))
		if err != nil {
			w.Log.WarnContext(ctx, "commits of a saved context not listed", "error", err.Error())
			break
		}
		ours := func(id checkpoint.ID) bool { return slices.Contains(c.Checkpoints, string(id)) }
		if slices.ContainsFunc(checkpoint.IDsOf(commit), ours) {
			subject, _, _ := strings.Cut(strings.TrimSpace(commit.Message), "\n")
			m.Commits = append(m.Commits, recall.Commit{Hash: string(commit.OID), Subject: w.Redact.Text(subject)})
		}
		if len(commit.Parents) == 0 {
			break
		}
		at = commit.Parents[0]
	}
	isLast := len(reported) > 0 && reported[0].Hash != "" && strings.HasPrefix(string(head), reported[0].Hash) ||
		len(m.Commits) > 0 && m.Commits[0].Hash == string(head)
	if !isLast {
		return
	}
	// Find the remote-tracking branch of the commit: the one with the branch's own name, else
	// one whose tip is the commit.
	const remotes, origin = "refs/remotes/", "origin/"
	if m.Branch != "" {
		if tip, err := w.Repo.Commit(ctx, remotes+origin+m.Branch); err == nil && tip.OID == head {
			m.Remote = origin + m.Branch
			return
		}
	}
	if some, err := git.RefsExist(ctx, w.Repo, remotes); err != nil || !some {
		return
	}
	pushed, err := git.IsPushed(ctx, w.Repo, head)
	if err != nil || !pushed {
		m.Unpushed = err == nil
		return
	}
	m.Pushed = true
	list, err := git.ListRefs(ctx, w.Repo, remotes)
	if i := slices.IndexFunc(list, func(r git.Ref) bool { return r.OID == head }); err == nil && i >= 0 {
		m.Remote = w.Redact.Path(strings.TrimPrefix(list[i].Name, remotes))
	}
}
