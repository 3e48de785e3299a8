package savedcontext

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
)

// addCommits adds the commits since base that have work of the checkpoint's session, and
// whether the last one is pushed, as far as refs show it. Where git can't tell, the
// transcript's account is all there is.
func (br *Briefer) addCommits(ctx context.Context, m *brief.Material, c recall.Checkpoint, base string) {
	const most = 20
	head, reported := git.OID(c.State.Context.GitCommit), c.State.Analysis.Progress.Commits
	if head == "" || len(c.Checkpoints)+len(reported) == 0 {
		return
	}
	if base != "" && base != string(head) && len(c.Checkpoints) > 0 {
		list, err := gitlog.FirstParents(ctx, br.Repo, head, []git.OID{git.OID(base)}, most)
		if err != nil {
			br.Log.WarnContext(ctx, "commits of a saved context not listed", "error", err.Error())
			return
		}
		for _, commit := range list {
			subject, _, _ := strings.Cut(strings.TrimSpace(commit.Message), "\n")
			if slices.ContainsFunc(checkpoint.IDs(commit.Message), func(id checkpoint.ID) bool { return slices.Contains(c.Checkpoints, string(id)) }) {
				m.Commits = append(m.Commits, recall.Commit{Hash: string(commit.OID), Subject: br.Redact.Text(subject)})
			}
		}
	}
	isLast := len(reported) > 0 && reported[0].Hash != "" && strings.HasPrefix(string(head), reported[0].Hash) ||
		len(m.Commits) > 0 && m.Commits[0].Hash == string(head)
	if !isLast {
		return
	}
	remotes, err := gitref.List(ctx, br.Repo, "refs/remotes/")
	if err != nil || len(remotes) == 0 {
		return
	}
	if i := slices.IndexFunc(remotes, func(r gitref.Ref) bool { return r.OID == head }); i >= 0 {
		m.Remote = br.Redact.Path(strings.TrimPrefix(remotes[i].Name, "refs/remotes/"))
		return
	}
	remote, err := gitlog.OnRemote(ctx, br.Repo, head)
	if err == nil {
		m.Remote, m.Unpushed = br.Redact.Path(remote), remote == ""
	}
}
