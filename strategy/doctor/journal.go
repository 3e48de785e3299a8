package doctor

import (
	"context"
	"path/filepath"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/strategy/forget"
	"github.com/seed-3aff656d/entire/strategy/record"
)

// unfinished finds commits whose decision was never carried out.
func (jc journalChecks) unfinished(ctx context.Context) ([]Finding, error) {
	list := make([]Finding, 0, len(jc.open))
	if forget.IsInterrupted(jc.repo.CommonDir) {
		list = append(list, Finding{
			Code: InterruptedForget, Severity: Error, Subject: filepath.Base(forget.JournalPath(jc.repo.CommonDir)),
			What: "forgetting was interrupted",
			Why:  "some of the content to forget is still recorded",
			Hint: "run the same `entire forget` command again to continue",
		})
	}
	if _, err := checkpoint.LoadTombstones(jc.repo.CommonDir); err != nil {
		list = append(list, Finding{
			Code: DamagedTombstones, Severity: Error, Subject: "forgotten.json",
			What: "the list of forgotten content can't be read",
			Why:  "nothing is recorded until it can be read, since forgotten content could be recorded again",
			Hint: "restore " + checkpoint.TombstonesPath(jc.repo.CommonDir) + " from a backup, or delete it and forget the content again",
		})
	}
	for _, o := range jc.open {
		repair := &Repair{ // with everything that applying the entry may change
			Kind:  "journal",
			Files: []string{o.Path, o.Path + ".corrupt", filepath.Join(jc.repo.CommonDir, "entire", "links.json")},
			Do:    func(ctx context.Context) error { return record.FinishCommits(ctx, jc.w) },
		}
		if o.ID != "" {
			repair.Checkpoints = []checkpoint.ID{o.ID}
		}
		for _, share := range o.Shares {
			repair.Files = append(repair.Files, jc.sessionFiles(share.Session)...)
			for _, s := range jc.states {
				if s.ID == share.Session {
					repair.Refs = append(repair.Refs, jc.of(ctx, s, nil, nil).Refs...)
				}
			}
		}
		if o.Commit != "" {
			repair.Refs = append(repair.Refs, checkpoint.ShadowBranch(o.Commit, o.Worktree))
		}
		f := Finding{Severity: Warning, Subject: string(o.ID), Repair: repair}
		switch {
		case o.Err != nil:
			f.Code, f.Severity, f.Subject = DamagedJournal, Error, filepath.Base(o.Path)
			f.What = "a journal entry can't be read"
			f.Why = "a commit may lack part of its checkpoint"
			f.Fix = "move it aside"
		case o.Commit != "" && o.Amend:
			f.Code = UnfinishedCommit
			f.What = "commit " + o.Commit.Short() + " was amended, but its checkpoint was not updated"
			f.Why = "the checkpoint is still that of the replaced commit"
			f.Fix = "update the checkpoint, as the hook would have"
		case o.Commit != "":
			f.Code = UnfinishedCommit
			f.What = "commit " + o.Commit.Short() + " has no checkpoint: the hook that writes it was interrupted"
			f.Why = "its trailer names a missing checkpoint"
			f.Fix = "write the checkpoint, as the hook would have"
		case o.Stale:
			f.Code = StaleDecision
			f.What = "a commit was started on " + o.Created.Format("2006-01-02") + " and abandoned"
			f.Why = "its journal entry is no longer needed"
			f.Fix = "remove the entry"
		default:
			continue // an editor may still be open
		}
		list = append(list, f)
	}
	return list, jc.openErr
}
