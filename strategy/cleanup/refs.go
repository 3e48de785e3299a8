package cleanup

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// shadows lists the shadow branches without work of any session that are based on no
// worktree's HEAD and to which no rewind to a snapshot would reset a session.
func (v *view) shadows(ctx context.Context) ([]Item, error) {
	if v.unread > 0 {
		return nil, nil // a damaged state may need any of them
	}
	var loose []git.Ref
	for _, ref := range v.refs {
		base, worktree, ok := checkpoint.ParseShadow(ref.Name)
		// The checkpoints on a branch based on a worktree's HEAD are points to rewind to.
		onHead := func(h head) bool { return (worktree == "" || worktree == h.worktree) && hangsOn(base, h.commit) }
		hasWork := func(s *session.State) bool { return has(s, base, worktree) }
		if ok && !slices.ContainsFunc(v.heads, onHead) && !slices.ContainsFunc(v.states, hasWork) {
			loose = append(loose, ref)
		}
	}
	if len(loose) == 0 {
		return nil, nil
	}
	wanted, known := v.wanted()
	var items []Item
	for _, ref := range loose {
		needed, err := v.reaches(ctx, ref.OID, wanted)
		if err != nil {
			return nil, err
		}
		if known && !needed {
			items = append(items, Item{Kind: Shadow, Name: shortName(ref.Name), Why: "no session needs it", oid: ref.OID})
		}
	}
	return items, nil
}

// hangsOn reports whether base, from a branch's name, names the commit; zeros stand for no
// commit.
func hangsOn(base string, commit git.OID) bool {
	if commit == "" {
		return strings.Trim(base, "0") == ""
	}
	return strings.HasPrefix(string(commit), base) || strings.HasPrefix(base, string(commit))
}

// has reports whether the session is active or has uncommitted work on the shadow branch with
// that base and worktree.
func has(s *session.State, base, worktree string) bool {
	if s.Phase != session.Active && s.CheckpointCount == 0 && !unfinished(s) {
		return false
	}
	return (worktree == "" || worktree == checkpoint.WorktreeHash(s.WorktreeID)) && hangsOn(base, git.OID(s.BaseCommit))
}

// unfinished reports whether the session has work still to be written or committed.
func unfinished(s *session.State) bool {
	return len(s.FilesTouched)+len(s.TurnCheckpointIDs)+len(s.Recorder.Incomplete) > 0
}

// wanted returns the shadow commits to which a rewind to a snapshot would reset sessions,
// except sessions that are over; false if they can't be determined.
func (v *view) wanted() (map[git.OID]bool, bool) {
	store, versions, err := v.store()
	if err != nil {
		return nil, false
	}
	live := map[string]bool{}
	for _, s := range v.states {
		if _, over := v.over(s); !over {
			live[s.ID] = true
		}
	}
	wanted := map[git.OID]bool{}
	for _, version := range versions {
		oids, err := strategy.ShadowsOf(store, version, live)
		if err != nil {
			return nil, false
		}
		for _, oid := range oids {
			wanted[oid] = true
		}
	}
	return wanted, true
}

// store opens the repository's snapshots, whether or not new ones are taken; no versions if
// there are none.
func (v *view) store() (*bands.Store, []bands.Version, error) {
	store, found, err := tracking.FindStore(v.w)
	if err != nil || !found {
		return nil, nil, err
	}
	versions, err := store.Versions()
	return store, versions, err
}

// reaches reports whether one of the wanted commits is in the history of a shadow branch. A
// damaged history is assumed to contain one.
func (v *view) reaches(ctx context.Context, tip git.OID, wanted map[git.OID]bool) (bool, error) {
	for oid := tip; oid != "" && len(wanted) > 0; {
		if wanted[oid] {
			return true, nil
		}
		c, err := v.w.Repo.Commit(ctx, string(oid))
		if err != nil {
			return errors.Is(err, git.ErrMissing), git.UnlessMissing(err)
		}
		oid = c.FirstParent()
	}
	return false, nil
}

// rescues lists the refs of rewinds and resets whose snapshot was removed, or that never had
// one and are old.
func (v *view) rescues(ctx context.Context) ([]Item, error) {
	_, versions, err := v.store()
	known := err == nil
	var items []Item
	for _, ref := range v.refs {
		name, held := strings.CutPrefix(ref.Name, checkpoint.HeldRefs)
		if !held {
			continue
		}
		_, of, _ := strings.Cut(name, "-")
		if version, err := bands.ParseVersion(of); err == nil && strings.HasPrefix(of, "v") {
			if known && !slices.Contains(versions, version) {
				items = append(items, Item{Kind: Rescue, Name: ref.Name, Why: "snapshot " + of + " was deleted", oid: ref.OID})
			}
			continue
		}
		const least = 16    // digits of nanoseconds, more than an abbreviated id has
		var since time.Time // by its name or, if that is a commit's id, by the commit
		if n, err := strconv.ParseInt(of, 10, 64); err == nil && len(of) >= least {
			since = time.Unix(0, n)
		} else {
			c, err := v.w.Repo.Commit(ctx, string(ref.OID))
			if git.UnlessMissing(err) != nil {
				return nil, err
			}
			since = c.Committer.When
		}
		if !since.IsZero() && v.now.Sub(since) > copyAge {
			items = append(items, Item{Kind: Rescue, Name: ref.Name, Why: "older than 30 days", oid: ref.OID})
		}
	}
	return items, nil
}
