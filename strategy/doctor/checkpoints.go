package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/record"
)

// lostBranch reports that the branch was deleted.
func (cc checkpointChecks) lostBranch(_ context.Context) ([]Finding, error) {
	was := cc.v1.deleted
	if was.OID == "" {
		return nil, nil
	}
	return []Finding{{
		Code: LostBranch, Severity: Error, Subject: "entire/checkpoints/v1",
		What: "the branch of the checkpoints was deleted",
		Why:  "no checkpoint can be read, and git gc will delete them",
		Fix:  "restore it as of " + was.Committer.When.Format("2006-01-02 15:04"),
		Repair: &Repair{Refs: []string{checkpoint.MetadataBranch}, Do: func(ctx context.Context) error {
			return cc.w.WithLock(ctx, func() error { return cc.setRef(ctx, checkpoint.MetadataBranch, was.OID) })
		}},
	}}, nil
}

// blockedBranch finds a branch that prevents git from creating the branch of checkpoints.
func (cc checkpointChecks) blockedBranch(ctx context.Context) ([]Finding, error) {
	name, err := record.BlockingBranch(ctx, cc.w)
	if err != nil || name == "" {
		return nil, err
	}
	return []Finding{{
		Code: BlockedBranch, Severity: Error, Subject: name,
		What: "the branch blocks entire/checkpoints/v1",
		Why:  "git can't create one branch below another, so no commit is linked",
		Hint: record.BlockingHint(name),
	}}, nil
}

// notAll reports that not all checkpoints are examined.
func (cc checkpointChecks) notAll(_ context.Context) ([]Finding, error) {
	if !cc.v1.partial {
		return nil, nil
	}
	return []Finding{{
		Code: PartlyExamined, Severity: Note, Subject: "entire/checkpoints/v1",
		What: fmt.Sprintf("of %d checkpoints, only the latest %d were examined", len(cc.v1.ids), len(cc.v1.list)),
		Why:  "older damage, large blobs and checkpoints without a commit are not reported",
		Hint: "`entire doctor --all` examines all, and takes longer",
	}}, nil
}

// unused reports checkpoints that no commit names any more.
func (cc checkpointChecks) unused(ctx context.Context) ([]Finding, error) {
	if len(cc.v1.list) == 0 || cc.v1.partial {
		return nil, nil
	}
	if err := cc.everywhere.wait(); err != nil {
		return nil, err
	}
	used := make(map[checkpoint.ID]bool, len(cc.everywhere.ids))
	for _, n := range cc.everywhere.ids {
		used[n.id] = true
	}
	byStrategy := map[bool][]string{}
	for i := range cc.v1.list {
		c := &cc.v1.list[i]
		isForgotten := cc.v1.imported[c.ID] && len(c.Sessions) == 0
		if !used[c.ID] && !c.Unlinked && !isForgotten {
			auto := c.Strategy == settings.AutoCommit
			byStrategy[auto] = append(byStrategy[auto], string(c.ID))
		}
	}
	var list []Finding
	for _, auto := range []bool{false, true} {
		ids := byStrategy[auto]
		if len(ids) == 0 {
			continue
		}
		f := Finding{
			Code: UnusedCheckpoints, Severity: Note, Subject: some(ids),
			What: "no commit in this clone names " + plain.Plural(len(ids), "checkpoint"),
			Why:  "their commits were dropped, squashed, or are in another clone; the checkpoints are kept",
		}
		if git.IsShallow(cc.repo) {
			f.Why, f.Hint = "this clone is shallow; the checkpoints are kept", "`git fetch --unshallow` fetches the commits"
		}
		if auto {
			f.Why = "their commits were dropped, or are in another clone"
			remotes := cc.remotes(ctx)
			isLocal := func(id string) bool { // as far as was fetched
				_, found := cc.onRemote(ctx, remotes, checkpoint.ID(id))
				return !found
			}
			if !git.IsShallow(cc.repo) && slices.ContainsFunc(ids, isLocal) {
				f.Hint = "`entire clean` removes those that no remote has"
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// unreadable finds damage on the metadata branch.
func (cc checkpointChecks) unreadable(ctx context.Context) ([]Finding, error) {
	if text := lines(cc.v1.err); len(text) > 0 {
		return []Finding{{
			Code: DamagedCheckpoint, Severity: Error, Subject: "entire/checkpoints/v1",
			What: "the branch can't be read: " + text[0],
			Why:  "no checkpoint can be read or written",
			Hint: "`git fsck` lists what is missing; fetch it from a clone that has it",
		}}, nil
	}
	var list []Finding
	gone := make([]*checkpoint.Inspected, 0, len(cc.v1.list))
	for i := range cc.v1.list {
		c := &cc.v1.list[i]
		switch {
		case len(c.Missing) > 0:
			gone = append(gone, c)
		case len(c.Lost) > 0:
			f := Finding{
				Code: DamagedCheckpoint, Severity: Error, Subject: string(c.ID),
				What: "the checkpoint is damaged: " + strings.Join(c.Lost, "; "),
				Why:  "that part can't be read",
				Hint: "fetch the branch from a clone with an undamaged copy",
			}
			covering := func(dir git.OID) bool { // it must have all other contents
				ok, err := c.Covers(ctx, cc.repo, dir)
				return err == nil && ok
			}
			if dir, ok := cc.earlier(ctx, c.ID, covering); ok {
				f.Fix, f.Hint = "replace it with its last undamaged version", ""
				f.Repair = cc.graft(c.ID, dir)
			}
			list = append(list, f)
		case c.Summary != "":
			repair := cc.rewrite(c.ID, "Summarize checkpoint "+string(c.ID)+" again", func(ctx context.Context, at checkpoint.Present) (git.OID, error) {
				return checkpoint.Resummarize(ctx, cc.repo, at, c.ID)
			})
			repair.Preview = func(context.Context) ([]string, error) {
				return []string{"write " + c.ID.Dir() + "/metadata.json"}, nil
			}
			list = append(list, Finding{
				Code: CheckpointSummary, Severity: Error, Subject: string(c.ID),
				What:   "the checkpoint is damaged: " + c.Summary,
				Why:    "its branch, tokens and files are not shown",
				Fix:    "rebuild its metadata from its sessions",
				Repair: repair,
			})
		}
	}
	absent, err := cc.absent(ctx, gone)
	return append(list, absent...), err
}

// absent returns the findings for checkpoints with objects that this clone lacks. They are never
// repaired: a clone with the objects can restore them as long as the checkpoint refers to them.
func (cc checkpointChecks) absent(ctx context.Context, gone []*checkpoint.Inspected) ([]Finding, error) {
	if len(gone) == 0 {
		return nil, nil
	}
	var list []Finding
	for _, r := range cc.remotes(ctx) {
		// The remote has the missing objects to which its branch, as it was fetched last, refers.
		there, _, err := objects(ctx, cc.repo, string(r.tip.OID))
		if err != nil {
			return nil, err
		}
		var ids []string
		gone = slices.DeleteFunc(gone, func(c *checkpoint.Inspected) bool {
			away := !slices.ContainsFunc(c.Missing, func(oid git.OID) bool { return !there[oid] })
			if away {
				ids = append(ids, string(c.ID))
			}
			return away
		})
		if len(ids) > 0 {
			list = append(list, Finding{
				Code: AbsentContent, Severity: Warning, Subject: some(ids),
				What: "contents of " + plain.Plural(len(ids), "checkpoint") + " are not in this clone; " + r.name + " has them",
				Why:  "those parts can't be shown",
				Hint: "`git fetch --refetch " + r.name + "` fetches everything that " + r.name + " has",
			})
		}
	}
	for _, c := range gone {
		list = append(list, Finding{
			Code: DamagedCheckpoint, Severity: Error, Subject: string(c.ID),
			What: "the checkpoint is damaged: " + strings.Join(c.Lost, "; "),
			Why:  "that part can't be read",
			Hint: "`git fsck` lists what is missing; fetch the branch from a clone that has it",
		})
	}
	return list, nil
}

// graft returns a repair that replaces a checkpoint's tree.
func (e *exam) graft(id checkpoint.ID, dir git.OID) *Repair {
	r := e.rewrite(id, "Restore checkpoint "+string(id), func(context.Context, checkpoint.Present) (git.OID, error) {
		return dir, nil
	})
	r.Preview = func(ctx context.Context) ([]string, error) {
		var now git.OID // empty for a checkpoint that doesn't exist
		records, err := e.w.LocalRecords(ctx)
		if err != nil {
			return nil, err
		}
		at, err := records.Locate(ctx, id)
		if err != nil && !errors.Is(err, checkpoint.ErrNotFound) {
			return nil, err
		}
		now = at.Dir
		changes, err := git.Changes(ctx, e.repo, now, dir)
		lines := make([]string, len(changes))
		for i, c := range changes {
			what := "write "
			if c.New == "" || c.NewMode == 0 {
				what = "remove "
			}
			lines[i] = what + id.Dir() + "/" + c.Path
		}
		return lines, err
	}
	return r
}

// rewrite returns a repair of one checkpoint by a commit with another directory.
func (e *exam) rewrite(id checkpoint.ID, message string, edit func(ctx context.Context, at checkpoint.Present) (git.OID, error)) *Repair {
	change := checkpoint.Change{ID: id, Next: func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
		next, err := edit(ctx, at)
		return next, message + "\n", err
	}}
	return &Repair{Checkpoints: []checkpoint.ID{id}, Do: func(ctx context.Context) error {
		return e.w.WithLock(ctx, func() error { return e.w.UpdateRecords(ctx, []checkpoint.Change{change}) })
	}}
}

// olderRules reports the number of checkpoints that were masked by older rules. Of a long record the
// index has the rules of all; without it those of the examined checkpoints count.
func (cc checkpointChecks) olderRules(ctx context.Context) ([]Finding, error) {
	n, of := 0, ""
	for i := range cc.v1.list {
		if c := &cc.v1.list[i]; len(c.Sessions) > 0 && c.Rules < redact.RulesVersion {
			n++
		}
	}
	if cc.v1.partial {
		of = fmt.Sprintf(" of the %d examined", len(cc.v1.list))
		if older, err := cc.maskedBefore(ctx, redact.RulesVersion); err == nil {
			n, of = older, ""
		}
	}
	if n == 0 {
		return nil, ctx.Err()
	}
	return []Finding{{
		Code: OlderRules, Severity: Note, Subject: "entire/checkpoints/v1",
		What: "secrets were masked by older rules or another program in " + plain.Plural(n, "checkpoint") + of,
		Why:  "the current rules may mask more",
		Hint: "`entire redact --scan` lists what they would mask, `entire redact --apply` masks it",
	}}, nil
}

// maskedBefore returns the number of checkpoints of the branch with lower redaction rules, as the index
// has them. An index that isn't up to date is an error.
func (cc checkpointChecks) maskedBefore(ctx context.Context, rules int) (n int, err error) {
	r, err := query.CurrentIndex(ctx, cc.w)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	names, err := r.MaskedBefore(ctx, rules)
	for _, name := range names {
		if cc.v1.ids[checkpoint.ID(name)] {
			n++
		}
	}
	return n, err
}

// oversized finds objects that hosts refuse.
func (cc checkpointChecks) oversized(ctx context.Context) ([]Finding, error) {
	var list []Finding
	if n := len(cc.v1.large); n > 0 {
		list = append(list, Finding{
			Code: OversizedBlob, Severity: Error, Subject: "entire/checkpoints/v1",
			What: fmt.Sprintf("%s of more than 95 MiB: %s", plain.Plural(n, "blob"), some(texts(cc.v1.large))),
			Why:  "most hosts will refuse to accept the branch from now on",
			Hint: "set strategy_options.push_remote to a remote that accepts files of this size",
		})
	}
	refs, err := git.ListRefs(ctx, cc.repo, checkpoint.BranchRefs)
	var shadows []string
	for _, ref := range refs {
		if checkpoint.IsShadow(ref.Name) {
			shadows = append(shadows, ref.Name)
		}
	}
	if err != nil || len(shadows) == 0 {
		return list, err
	}
	revs := append(shadows, "--not", "--exclude=entire/*", "--branches") //nolint:gocritic // a list of its own
	_, large, err := objects(ctx, cc.repo, revs...)
	if err != nil {
		return list, nil //nolint:nilerr // a broken branch is reported by another check
	}
	if n := len(large); n > 0 {
		list = append(list, Finding{
			Code: OversizedBlob, Severity: Note, Subject: some(texts(large)),
			What: fmt.Sprintf("shadow branches hold %s of more than 95 MiB", plain.Plural(n, "file")),
			Why:  "hosts refuse them if `git push --all` sends those branches; the next commit deletes them",
		})
	}
	return list, nil
}

func texts(oids []git.OID) []string {
	list := make([]string, len(oids))
	for i, oid := range oids {
		list[i] = oid.Short()
	}
	return list
}
