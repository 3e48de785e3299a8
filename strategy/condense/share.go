package condense

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/journal"
)

// giveBack makes files pending again that a commit no longer contains.
func (sh *Sharer) giveBack(ctx context.Context, c *authorship.Slot, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	entries, err := sh.files.StoreContents(ctx, paths)
	if err != nil {
		return err
	}
	c.State.Touched(paths)
	maps.Copy(c.Rest.Entries, entries)
	c.Rest.Paths = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Rest.Paths, paths))))
	return nil
}

// settleShares narrows the shares to what was committed. For a commit that
// replaces another it adds what that one's sessions still have in it, and
// returns what each has no more.
func (sh *Sharer) settleShares(ctx context.Context, d journal.Decision, changes journal.Changes) (shares []journal.Share, dropped map[string][]string, err error) {
	files, renamed := map[string][]string{}, map[string][]journal.Rename{}
	var order []string
	add := func(id string, paths []string) {
		if _, ok := files[id]; !ok {
			order = append(order, id)
		}
		in := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { _, ok := changes[p]; return !ok })
		files[id] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(files[id], in))))
	}
	dropped = map[string][]string{}
	if d.Amend {
		old, err := sh.attribution.ReadCheckpoint(ctx, d.ID)
		if err != nil {
			return nil, nil, err
		}
		for _, slot := range old.Sessions {
			if slot.Meta.SessionID == "" {
				continue
			}
			kept, gone := sh.stillIn(slot.Meta.FilesTouched, changes)
			add(slot.Meta.SessionID, kept)
			dropped[slot.Meta.SessionID] = gone
		}
	}
	for _, share := range d.Shares {
		add(share.Session, share.Files)
		renamed[share.Session] = slices.DeleteFunc(slices.Clone(share.Renamed), func(m journal.Rename) bool { _, ok := changes[string(m.To)]; return !ok })
	}
	for _, id := range order {
		shares = append(shares, journal.Share{Session: id, Files: files[id], Renamed: renamed[id]})
	}
	return shares, dropped, nil
}

// stillIn returns the paths that a checkpoint lists, redacted as they are there,
// into those that the commit has and those that it has no more.
func (sh *Sharer) stillIn(listed []string, changes journal.Changes) (kept, gone []string) {
	redacted := make(map[string]string, len(changes))
	for p := range changes {
		redacted[sh.Redact.Path(p)] = p
	}
	for _, name := range listed {
		if p, ok := redacted[name]; ok {
			kept = append(kept, p)
		} else if sh.files.HasFile(name) {
			gone = append(gone, name)
		}
	}
	return kept, gone
}
