package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// damaged finds damage to the snapshots that shows without reading all of them.
func (sc storeChecks) damaged(_ context.Context) ([]Finding, error) {
	dir := tracking.StoreDir(sc.w)
	store, err := bands.Open(dir)
	switch {
	case errors.Is(err, bands.ErrNoStore) && !isDir(filepath.Join(dir, "checkpoints")):
		return nil, nil
	case errors.Is(err, bands.ErrNoStore), errors.Is(err, bands.ErrDamaged):
		return []Finding{{
			Code: DamagedStore, Severity: Error, Subject: dir,
			What:   "the snapshot store's description is missing or damaged",
			Why:    "no snapshot can be taken or restored",
			Fix:    "rebuild it from the snapshots",
			Repair: sc.rebuild(),
		}}, nil
	case err != nil:
		return nil, err
	}
	bad, err := registry.Describe(store)
	list := make([]Finding, 0, len(bad)+1)
	for _, b := range bad {
		list = append(list, Finding{
			Code: DamagedSnapshot, Severity: Error, Subject: b.Version.String(),
			What: "the snapshot is damaged: " + lines(b.Err)[0],
			Why:  "it can't be restored completely",
			Hint: "`entire snapshot verify " + b.Version.String() + "` lists what is lost, `entire snapshot delete " + b.Version.String() + "` removes it",
		})
	}
	if known, failed := store.Damaged(); failed == nil && len(known) > 0 {
		list = append(list, Finding{
			Code: DamagedSnapshot, Severity: Error, Subject: dir,
			What: fmt.Sprintf("%d records in the snapshot store can't be read", len(known)),
			Why:  "files of some snapshots can't be restored",
			Hint: "`entire snapshot create` repairs those whose files are unchanged, `entire snapshot verify` lists the rest",
		})
	}
	return list, err
}

// rebuild returns a repair that does the work of `agentfs doctor`.
func (sc storeChecks) rebuild() *Repair {
	known := sc.w.Env.Registry
	if known == nil {
		return nil
	}
	dir, path := tracking.StoreDir(sc.w), known.CatalogPath()
	return &Repair{
		Files: []string{
			path, path + "-wal", path + "-shm", filepath.Join(known.Home, "stores.list"),
			filepath.Join(dir, "store.json"), filepath.Join(dir, "version"),
		},
		Do: func(ctx context.Context) error {
			_, err := known.Doctor(ctx, nil, dir) // remaining faults are found again
			return err
		},
	}
}

// interruptedRewinds finds rewinds that were not completed.
func (sc storeChecks) interruptedRewinds(_ context.Context) ([]Finding, error) {
	store, noStore := bands.Open(tracking.StoreDir(sc.w)) // reported by another check
	var list []Finding
	for _, w := range git.Worktrees(sc.repo) {
		if w.ID != sc.repo.WorktreeID && !isDir(w.Root) {
			continue // removed without git
		}
		lineage := checkpoint.WorktreeHash(w.ID)
		if noStore == nil {
			if j, found := bands.InterruptedRestore(store, lineage); found {
				list = append(list, interruptedFinding(w.Root, tracking.TargetName(store, j.Target), j.Other()))
			} else if stopped, found := rewind.FindUnfinished(store, sc.w.Sessions, w.ID); found {
				// It was stopped after the files, before the conversation or the sessions were
				// complete.
				what, hint := stopped.Explain()
				why := "the conversation doesn't match the files"
				if stopped.Sessions {
					why = "the next commit may be linked to changes that the rewind removed"
				}
				list = append(list, Finding{Code: InterruptedRestore, Severity: Warning, Subject: w.Root, What: what, Why: why, Hint: hint})
			}
		}
		if former, found := tracking.ReadFormerRewind(sc.w.Repo.CommonDir, lineage); found && former.Interrupted {
			f := interruptedFinding(w.Root, former.To.Short(), false)
			f.Hint = former.Hint()
			list = append(list, f)
		}
	}
	return list, nil
}

// interruptedFinding returns the finding for a rewind of a worktree that was not completed. other
// reports that another version of the program began it.
func interruptedFinding(root, target string, other bool) Finding {
	f := Finding{Code: InterruptedRestore, Severity: Warning, Subject: root}
	if other {
		f.Why = "some files may be restored, others not"
		f.What = "a rewind by another version of entire was interrupted"
		f.Hint = "use that version to complete or undo it"
		return f
	}
	f.What = "the rewind to " + target + " was interrupted: some files are from " + target + ", some are not"
	f.Hint = "`entire undo` undoes it, `entire rewind --to " + target + "` completes it"
	return f
}

// damagedCatalog finds a catalog that can't be read. A catalog that doesn't agree with the store is
// rebuilt without asking, because all of its data is derived. It is reported only if the rebuild
// fails.
func (sc storeChecks) damagedCatalog(ctx context.Context) ([]Finding, error) {
	known := sc.w.Env.Registry
	store, err := bands.Open(tracking.StoreDir(sc.w))
	if err != nil || known == nil {
		return nil, nil //nolint:nilerr // reported by another check
	}
	differs, err := known.Rows().Compare(ctx, store)
	if err == nil && len(differs) > 0 {
		if err := sc.rebuild().Do(ctx); err != nil {
			return nil, err
		}
		differs, err = known.Rows().Compare(ctx, store)
	}
	f := Finding{
		Code: CatalogBehind, Severity: Warning, Subject: known.CatalogPath(),
		Why: "lists of snapshots may be outdated; no snapshot is lost",
		Fix: "rebuild the catalog from the stores", Repair: sc.rebuild(),
	}
	switch {
	case errors.Is(err, catalog.ErrDamaged):
		f.Code, f.Severity, f.What = DamagedCatalog, Error, "the catalog of snapshots is damaged"
		f.Why = "commands are slower without it; no snapshot is lost"
	case errors.Is(err, catalog.ErrNewer):
		f.Code, f.Severity, f.What = DamagedCatalog, Note, "the catalog of snapshots is from a newer version"
		f.Why, f.Fix, f.Repair = "commands of this version are slower without it", "", nil
	case err != nil:
		return nil, err
	case len(differs) > 0:
		f.What = "the catalog of snapshots is outdated: " + some(differs)
	default:
		return nil, nil
	}
	return []Finding{f}, nil
}
