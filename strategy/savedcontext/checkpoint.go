package savedcontext

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// changedSinceKept says whether there is more than the last kept checkpoint has.
func (w *recollection) changedSinceKept() bool { return w.mark().differs(w.m.Kept) }

// judge decides what is saved for a cause.
func (w *recollection) judge(ctx context.Context, cause recall.Cause) Verdict {
	w.checkKept(ctx)
	o := w.r.Options.Recall
	return Occasion{
		cause: cause, onClear: o.OnClear, verify: o.VerifyBeforeClear, auto: o.Auto,
		asked: w.m.Asked, changed: w.changedSinceKept(),
	}.verdict()
}

// checkKept drops marks of checkpoints that the user has discarded, or that were
// pruned: they keep nothing any more.
func (w *recollection) checkKept(ctx context.Context) {
	for _, m := range []*mark{w.m.Kept, w.m.Last} {
		if m == nil {
			continue
		}
		if _, err := w.r.Repo.Commit(ctx, contextRef(m.ID)); errors.Is(err, git.ErrMissing) {
			w.forget(m.ID)
		}
	}
}

// contextRef is the ref of a context checkpoint.
func contextRef(id string) string { return "refs/entire/context/" + id }

// save writes a checkpoint of what is known now and notes it in the memory. id
// is that of a checkpoint which it takes the place of, empty for a new one.
// The memory says beforehand what is being written, so that nobody who is
// stopped here leaves a checkpoint that is saved a second time.
func (w *recollection) save(ctx context.Context, want Saving, status recall.Status, id string) (recall.Checkpoint, error) {
	c, err := w.compose(ctx, want)
	if err != nil {
		return c, err
	}
	c.ID, c.Status = id, status
	now := w.mark()
	now.ID, now.Cause, now.Status, now.Summary = id, c.Cause, status, c.Summary
	now.At = c.CreatedAt
	w.m.Saving = &now
	if err := w.write(); err != nil {
		return c, err
	}
	c.ID, err = w.r.Contexts().Put(ctx, c)
	w.m.Saving = nil
	if err != nil {
		return c, fmt.Errorf("save context checkpoint: %w", err)
	}
	now.ID = c.ID
	w.saved(now)
	w.m.Unfinished = ""
	if w.at.rest {
		w.m.Unfinished = c.ID
	}
	return c, nil
}

// saved notes a checkpoint that is there.
func (w *recollection) saved(now mark) {
	w.m.Last = &now
	if now.Status == recall.Kept {
		w.m.Kept = &now
	}
}

// settleSaving finds out about a checkpoint whose writer was stopped.
func (w *recollection) settleSaving(ctx context.Context) error {
	half := w.m.Saving
	if half == nil {
		return nil
	}
	list, err := w.r.Contexts().List(ctx, recall.Filter{Session: w.s.ID, Limit: 1})
	if err != nil {
		return fmt.Errorf("list context checkpoints: %w", err)
	}
	w.m.Saving = nil
	if len(list) == 0 || list[0].CreatedAt.Before(half.At) || half.ID != "" && list[0].ID != half.ID {
		return nil
	}
	half.ID, half.Status = list[0].ID, list[0].Status
	w.saved(*half)
	w.recovered = true
	return nil
}

// compose makes the checkpoint of what is known now.
func (w *recollection) compose(ctx context.Context, want Saving) (recall.Checkpoint, error) {
	r, m := w.r, w.m
	src, err := w.sources(ctx)
	if err != nil {
		return recall.Checkpoint{}, err
	}
	mode := want.Mode
	if mode == "" {
		mode = recall.Mode(r.Options.Recall.Mode)
	}
	c := recall.Checkpoint{
		Summary: r.Redact.Text(want.Summary), Description: r.Redact.Text(want.Description), CreatedAt: r.Env.Now().UTC().Truncate(time.Second),
		Cause: want.Cause, Mode: mode, Sessions: []string{w.s.ID}, Checkpoints: slices.Clone(w.s.Recorder.Linked),
		Prompts: m.Digest.Prompts, Tokens: m.Digest.Tokens, Compaction: m.Digest.Compaction, Warnings: w.at.warnings,
	}
	for _, tag := range want.Tags {
		c.Tags = append(c.Tags, r.Redact.Text(tag))
	}
	if c.Summary == "" {
		c.Summary = m.Digest.Summary(src)
	}
	if r.Options.Recall.CaptureAnalysis {
		c.State.Analysis = m.Digest.Analysis(src)
		c.State.Context = m.Digest.Context(src)
		if c.Description == "" {
			c.Description = m.Digest.Description(src)
		}
	}
	c.State.Context.WorkingDirectory = r.Repo.Root
	c.State.Context.GitBranch, c.State.Context.GitCommit = w.at.branch, string(w.at.head.OID)
	w.addFiles(&c)
	return c, nil
}

// addFiles puts the files into the checkpoint, without contents where none are
// wanted, and where the name itself holds a secret.
func (w *recollection) addFiles(c *recall.Checkpoint) {
	c.State.Files = make(map[string]recall.File, len(w.m.Files))
	for path, known := range w.m.Files {
		f := known.File
		f.Path, f.Blob, f.Content = w.r.Redact.Path(path), known.Blob, ""
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
}

// sources is what an analysis is made from beside the digest.
func (w *recollection) sources(ctx context.Context) (recall.Sources, error) {
	src := recall.Sources{Root: w.r.Repo.Root, Branch: w.at.branch, Said: w.m.Said, Files: w.paths()}
	src.Files = slices.DeleteFunc(src.Files, func(p string) bool { _, ok := w.m.Files[p]; return !ok })
	for i, path := range src.Files {
		src.Files[i] = w.r.Redact.Path(path)
	}
	for _, f := range w.m.Files {
		src.Added += f.Added
		src.Removed += f.Removed
	}
	var err error
	src.Subjects, err = w.subjects(ctx)
	return src, err
}

// subjects are those of the commits that carry the session's checkpoints, the
// last one first. They are looked for among the newest commits, by the process
// that reads objects.
func (w *recollection) subjects(ctx context.Context) ([]string, error) {
	const newest = 50
	missing := slices.Clone(w.s.Recorder.Linked)
	var subjects []string
	for c, n := w.at.head, 0; c.OID != "" && len(missing) > 0 && n < newest; n++ {
		ids := checkpoint.IDs(c.Message)
		ours := func(linked string) bool { return slices.Contains(ids, checkpoint.ID(linked)) }
		if slices.ContainsFunc(missing, ours) {
			missing = slices.DeleteFunc(missing, ours)
			subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
			subjects = append(subjects, w.r.Redact.Text(subject[:min(len(subject), workspace.CutMargin)]))
		}
		if len(c.Parents) == 0 {
			break
		}
		var err error
		if c, err = w.r.Repo.Commit(ctx, string(c.Parents[0])); errors.Is(err, git.ErrMissing) {
			break // of a shallow clone
		} else if err != nil {
			return nil, fmt.Errorf("list commits: %w", err)
		}
	}
	return subjects, nil
}
