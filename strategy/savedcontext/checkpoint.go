package savedcontext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// changedSinceKept reports whether the context differs from the last kept checkpoint.
func (cc *contextComparer) changedSinceKept() bool { return cc.fingerprint().differs(cc.m.Kept) }

// judge returns the verdict on saving the context for a cause.
func (cc *contextComparer) judge(ctx context.Context, cause recall.Cause) Verdict {
	cc.checkKept(ctx)
	o := cc.w.Options.Recall
	return Occasion{
		cause: cause, onClear: o.OnClear, verify: o.VerifyBeforeClear, auto: o.Auto,
		asked: cc.m.Asked, changed: cc.changedSinceKept(),
	}.verdict()
}

// checkKept drops fingerprints of checkpoints that were discarded or pruned.
func (cc *contextComparer) checkKept(ctx context.Context) {
	for _, m := range []*fingerprint{cc.m.Kept, cc.m.Last} {
		if m == nil {
			continue
		}
		if _, err := cc.w.Repo.Commit(ctx, contextstore.Refs+m.ID); errors.Is(err, git.ErrMissing) {
			cc.forget(m.ID)
		}
	}
}

// save writes a checkpoint of the current context and records it in the context record. id is that of
// a checkpoint to replace, empty for a new one. The context record records the write beforehand, so
// that the checkpoint of a process killed here isn't saved a second time.
func (w *contextWriter) save(ctx context.Context, want Saving, status recall.Status, id string) (recall.Checkpoint, error) {
	c, err := w.compose(ctx, want)
	if err != nil {
		return c, err
	}
	c.ID, c.Status = id, status
	now := w.fingerprint()
	now.ID, now.Cause, now.Status, now.Summary = id, c.Cause, status, c.Summary
	now.At = c.CreatedAt
	w.m.Saving = &now
	if err := w.write(); err != nil {
		return c, err
	}
	c.ID, err = Contexts(w.w).Put(ctx, c)
	w.m.Saving = nil
	if err != nil {
		return c, fmt.Errorf("save context checkpoint: %w", err)
	}
	now.ID = c.ID
	w.saved(now)
	if err := keepLeft(w.w, c); err != nil {
		return c, err
	}
	w.m.Unfinished = ""
	if w.obs.rest {
		w.m.Unfinished = c.ID
	}
	return c, nil
}

// saved records a checkpoint that was written.
func (cc *contextComparer) saved(now fingerprint) {
	cc.m.Last = &now
	if now.Status == recall.Kept {
		cc.m.Kept = &now
	}
}

// settleSaving records the checkpoint of a writer that was killed, if it exists.
func (cc *contextComparer) settleSaving(ctx context.Context) error {
	half := cc.m.Saving
	if half == nil {
		return nil
	}
	list, err := Contexts(cc.w).List(ctx, contextstore.Filter{Session: cc.s.ID, Limit: 1})
	if err != nil {
		return err
	}
	cc.m.Saving = nil
	if len(list) == 0 || list[0].CreatedAt.Before(half.At) || half.ID != "" && list[0].ID != half.ID {
		return nil
	}
	half.ID, half.Status = list[0].ID, list[0].Status
	cc.saved(*half)
	cc.recovered = true
	return nil
}

// compose returns a checkpoint of the current context, not yet written.
func (w *contextWriter) compose(ctx context.Context, want Saving) (recall.Checkpoint, error) {
	m := w.m
	src := digest.Sources{Root: w.w.Repo.Root, Branch: w.obs.branch, Said: m.Said, Files: w.paths()}
	src.Files = slices.DeleteFunc(src.Files, func(p string) bool { _, ok := m.Files[p]; return !ok })
	for i, path := range src.Files {
		src.Files[i] = w.w.Redact.Path(path)
	}
	for _, f := range m.Files {
		src.Added += f.Added
		src.Removed += f.Removed
	}
	var err error
	if src.Subjects, err = w.subjects(ctx); err != nil {
		return recall.Checkpoint{}, err
	}
	c := recall.Checkpoint{
		Summary: w.w.Redact.Text(want.Summary), Description: w.w.Redact.Text(want.Description), CreatedAt: w.w.Env.Now().UTC().Truncate(time.Second),
		Worktree: w.w.Repo.Root, Cause: want.Cause, Mode: cmp.Or(want.Mode, recall.Mode(w.w.Options.Recall.Mode)),
		Sessions: []string{w.s.ID}, Checkpoints: slices.Clone(w.s.Recorder.Linked),
		Prompts: m.Digest.Prompts, Tokens: m.Digest.Tokens, Compaction: m.Digest.Compaction, Warnings: w.obs.warnings,
	}
	for _, tag := range want.Tags {
		c.Tags = append(c.Tags, w.w.Redact.Text(tag))
	}
	if c.Summary == "" {
		c.Summary = m.Digest.Summary(src)
	}
	if w.w.Options.Recall.CaptureAnalysis {
		c.State.Analysis = m.Digest.Analysis(src)
		c.State.Context = m.Digest.Context(src)
		if c.Description == "" {
			c.Description = m.Digest.Description(src)
		}
	}
	c.State.Context.WorkingDirectory = w.w.Repo.Root
	c.State.Context.GitBranch, c.State.Context.GitCommit = w.obs.branch, string(w.obs.head.OID)
	// A file has no content if the mode excludes it, or if the file's name holds a secret.
	c.State.Files = make(map[string]recall.File, len(m.Files))
	for path, known := range m.Files {
		f := known.File
		f.Path, f.Blob, f.Content = w.w.Redact.Path(path), known.Blob, ""
		switch {
		case f.Path != path:
			f.Blob, f.Omitted, f.Outline = "", recall.Secret, nil
		case c.Mode == recall.SummaryMode && f.Omitted == "":
			f.Blob, f.Omitted = "", recall.NotWanted
		case f.Blob != "":
			c.State.TotalSize += f.Size
		}
		c.State.Files[f.Path] = f
	}
	return c, nil
}

// subjects returns the subjects of the commits that carry the session's
// checkpoints, the newest first, from the newest 50 commits of HEAD.
func (cr *contextReader) subjects(ctx context.Context) ([]string, error) {
	const newest = 50
	missing := slices.Clone(cr.s.Recorder.Linked)
	var subjects []string
	for c, n := cr.obs.head, 0; c.OID != "" && len(missing) > 0 && n < newest; n++ {
		ids := checkpoint.IDsOf(c)
		ours := func(linked string) bool { return slices.Contains(ids, checkpoint.ID(linked)) }
		if slices.ContainsFunc(missing, ours) {
			missing = slices.DeleteFunc(missing, ours)
			subjects = append(subjects, cr.w.Redact.Text(plain.Head(c.Subject(), workspace.CutMargin)))
		}
		if len(c.Parents) == 0 {
			break
		}
		var err error
		if c, err = cr.w.Repo.Commit(ctx, string(c.Parents[0])); errors.Is(err, git.ErrMissing) {
			break // of a shallow clone
		} else if err != nil {
			return nil, fmt.Errorf("list commits: %w", err)
		}
	}
	return subjects, nil
}

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
			m.Commits = append(m.Commits, recall.Commit{Hash: string(commit.OID), Subject: w.Redact.Text(commit.Subject())})
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
