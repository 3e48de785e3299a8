package record

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// settleShares reduces the shares to the committed files. For a commit that replaces another it
// adds the files that the other commit's sessions still have in it, and returns the files that each
// session no longer has.
func settleShares(ctx context.Context, w *workspace.Workspace, d tracking.Decision, changes tracking.CommitChanges) (shares []tracking.Share, dropped map[string][]string, err error) {
	files, renamed := map[string][]string{}, map[string][]tracking.CommitRename{}
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
		old, err := authorship.ReadCheckpoint(ctx, w, d.ID)
		if err != nil {
			return nil, nil, err
		}
		redacted := make(map[string]string, len(changes)) // as a checkpoint lists them
		for p := range changes {
			redacted[w.Redact.Path(p)] = p
		}
		for _, slot := range old.Sessions {
			if slot.Meta.SessionID == "" {
				continue
			}
			var kept, gone []string
			for _, name := range slot.Meta.FilesTouched {
				if p, ok := redacted[name]; ok {
					kept = append(kept, p)
				} else if w.HasFile(name) {
					gone = append(gone, name)
				}
			}
			add(slot.Meta.SessionID, kept)
			dropped[slot.Meta.SessionID] = gone
		}
	}
	for _, share := range d.Shares {
		add(share.Session, share.Files)
		renamed[share.Session] = slices.DeleteFunc(slices.Clone(share.Renamed), func(m tracking.CommitRename) bool { _, ok := changes[string(m.To)]; return !ok })
	}
	for _, id := range order {
		shares = append(shares, tracking.Share{Session: id, Files: files[id], Renamed: renamed[id]})
	}
	return shares, dropped, nil
}
