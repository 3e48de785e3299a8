package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// realign restores the sessions of this worktree to their state at the restored tree: their
// pending files, their count and the shadow branch. Their former state is stored beside the
// rescue snapshot. It returns the sessions that it changed.
//
// If a session has worked since the operation that an undo or redo reverts, all sessions keep
// their work, and the files that were pending then become pending again in addition.
//
// If only some paths were restored, only these are examined: those equal to HEAD are no longer
// pending.
func realign(ctx context.Context, w *workspace.Workspace, store *bands.Store, done restore.Result, paths []string) ([]string, error) {
	if done.Target.Version == 0 {
		return nil, nil
	}
	var changed []string
	err := w.WithLock(ctx, func() error {
		states := w.AllSessions(ctx)
		if !tracking.HasSessionsBefore(store, done.Origin) { // else this continues an interrupted run
			if err := saveSessions(ctx, w, store, done.Origin, states); err != nil {
				return err
			}
		}
		if len(paths) > 0 {
			var err error
			changed, err = dropClean(ctx, w, states, paths)
			return err
		}
		var err error
		if len(done.Target.Only) > 0 && done.Target.Causality.Restores == 0 {
			changed, err = alignWithCommit(ctx, w, store, git.OID(done.Target.Causality.Shadow), states)
			return err
		}
		if done.Target.Cause == bands.Rescue && !tracking.HasSessionsBefore(store, done.Target.Version) {
			return nil // its restore was stopped before it changed the sessions
		}
		wanted, err := sessionsAt(ctx, w, store, done.Target, states)
		if err != nil {
			return err
		}
		worked := func(s *session.State) bool { // it began a turn, or HEAD moved, after the wanted state
			is, was := tracking.ReadSession(ctx, w, s), wanted[s.ID]
			return (is.Turn != "" || len(is.Files) > 0) && (is.Turn != was.Turn || is.Base != was.Base)
		}
		if done.Op != bands.OpRestore && slices.ContainsFunc(states, worked) {
			changed, err = addPending(ctx, w, states, wanted)
			return err
		}
		changed, err = restoreSessions(ctx, w, states, wanted)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the files are restored, but the sessions are not updated: %w", err)
	}
	return changed, nil
}

// saveSessions writes the states of the sessions, and keeps their shadow commits, which the
// branch may drop, under a ref.
func saveSessions(ctx context.Context, w *workspace.Workspace, store *bands.Store, rescue bands.Version, states []*session.State) error {
	if rescue == 0 {
		return nil
	}
	var p tracking.SessionsBefore
	hold := workspace.NewRefTransaction(w.Repo)
	for _, s := range states {
		m := tracking.ReadSession(ctx, w, s)
		p.Sessions = append(p.Sessions, m)
		if m.Shadow != "" {
			if err := hold.Set(ctx, tracking.HeldRef(tracking.Lineage(w), rescue), m.Shadow); err != nil {
				return err
			}
		}
	}
	if err := git.UpdateRefs(ctx, w.Repo, "entire: rewind", hold.Updates()); err != nil {
		return err
	}
	return tracking.WriteSessionsBefore(store, rescue, p)
}

// sessionsAt returns the state of each session at a snapshot, as recorded with that or else
// with the newest one before it. A session without a record had not done anything yet.
func sessionsAt(ctx context.Context, w *workspace.Workspace, store *bands.Store, target bands.Snapshot, states []*session.State) (map[string]tracking.SnapshotSession, error) {
	found := map[string]tracking.SnapshotSession{}
	kept, err := tracking.ReadSessionsBefore(store, target.Version)
	if err != nil {
		return nil, err
	}
	for _, m := range kept.Sessions {
		found[m.Session] = m
	}
	versions, err := store.Versions()
	if err != nil {
		return nil, err
	}
	for _, v := range slices.Backward(versions) {
		if v > target.Version {
			continue
		}
		if len(found) >= len(states) {
			break
		}
		recorded, err := tracking.SessionsAt(store, v)
		if err != nil {
			w.Log.WarnContext(ctx, "session states of the snapshot not read", "version", v.String(), "error", err.Error())
		}
		for _, m := range recorded {
			if _, newer := found[m.Session]; !newer {
				found[m.Session] = m
			}
		}
	}
	return found, nil
}

// restoreSessions restores the sessions to the wanted states, and moves the shadow branch of
// HEAD to the newest shadow commit among them. It returns the sessions that changed.
func restoreSessions(ctx context.Context, w *workspace.Workspace, states []*session.State, wanted map[string]tracking.SnapshotSession) ([]string, error) {
	head, born, err := w.Head(ctx)
	if err != nil || !born {
		return nil, err
	}
	var changed []string
	var save, rewrite []*session.State
	tip := git.OID("")
	for _, s := range states {
		m := wanted[s.ID]
		same := m.Base == head.OID
		if same && newerShadow(ctx, w, tip, m.Shadow) {
			tip = m.Shadow
		}
		before := pendingWork{slices.Clone(s.FilesTouched), s.CheckpointCount}
		// The files that were pending then; if HEAD is another commit now, only those that
		// differ from it.
		files := []string(m.Files)
		if !same {
			if files, err = differing(ctx, w, files); err != nil {
				return nil, err
			}
		}
		var added []string
		for _, p := range files {
			if !workspace.ContainsPath(s.FilesTouched, p) {
				added = append(added, p)
			}
		}
		s.Keep(files)
		s.Touch(added)
		s.CheckpointCount = 0
		if same {
			s.CheckpointCount = m.Count
		}
		moved := !same && len(s.FilesTouched) > 0
		if moved {
			rewrite = append(rewrite, s)
		}
		if !before.equal(s) {
			changed = append(changed, s.ID)
		}
		if moved || !before.equal(s) {
			save = append(save, s)
		}
	}
	if err := moveTip(ctx, w, head, tip, rewrite); err != nil {
		return nil, err
	}
	for _, s := range save {
		if err := w.Sessions.Save(s); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// pendingWork is the part of a session's state that a rewind changes.
type pendingWork struct {
	files []string
	count int
}

func (p pendingWork) equal(s *session.State) bool {
	return p.count == s.CheckpointCount && slices.Equal(p.files, s.FilesTouched)
}

// newerShadow reports whether the shadow commit b exists and is newer than a.
func newerShadow(ctx context.Context, w *workspace.Workspace, a, b git.OID) bool {
	if b == "" {
		return false
	}
	later, err := w.Repo.Commit(ctx, string(b))
	if err != nil {
		return false
	}
	if a == "" {
		return true
	}
	earlier, err := w.Repo.Commit(ctx, string(a))
	return err != nil || later.Committer.When.After(earlier.Committer.When)
}

// moveTip moves the shadow branch of HEAD to tip, or removes it, and commits the pending files
// of the sessions in rewrite to it.
func moveTip(ctx context.Context, w *workspace.Workspace, head git.Commit, tip git.OID, rewrite []*session.State) error {
	refs := workspace.NewRefTransaction(w.Repo)
	branch := checkpoint.ShadowBranch(head.OID, w.Repo.WorktreeID)
	if err := refs.Set(ctx, branch, tip); err != nil {
		return err
	}
	at, err := w.TipOf(ctx, refs, branch, head)
	if err != nil {
		return err
	}
	for _, s := range rewrite {
		entries, err := w.StoreContents(ctx, s.FilesTouched)
		if err != nil {
			return err
		}
		oid, err := checkpoint.WriteCarryForward(ctx, w.Repo, at, workspace.EditsOf(entries, s.FilesTouched), checkpoint.Carry{
			Session: s.ID, Strategy: w.StrategyName(), When: w.Env.Now(),
		})
		if err != nil {
			return err
		}
		c, err := w.Repo.Commit(ctx, string(oid))
		if err != nil {
			return err
		}
		at = checkpoint.Tip{Commit: oid, Tree: c.Tree}
		s.BaseCommit, s.CheckpointCount = string(head.OID), 1
		if err := refs.Set(ctx, branch, oid); err != nil {
			return err
		}
	}
	err = git.UpdateRefs(ctx, w.Repo, "entire: rewind", refs.Updates())
	if errors.Is(err, git.ErrRefMoved) {
		return fmt.Errorf("the shadow branch changed meanwhile: %w", err)
	}
	return err
}

// dropClean removes from the pending files those at or below the paths that don't differ from
// HEAD.
func dropClean(ctx context.Context, w *workspace.Workspace, states []*session.State, paths []string) ([]string, error) {
	entries, err := git.Status(ctx, w.Repo, paths...)
	if err != nil {
		return nil, err
	}
	differs := map[string]bool{}
	for _, e := range entries {
		differs[e.Path] = true
	}
	var changed []string
	for _, s := range states {
		keep := slices.DeleteFunc(slices.Clone(s.FilesTouched), func(p string) bool {
			return !differs[p] && slices.ContainsFunc(paths, func(dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") })
		})
		if len(keep) == len(s.FilesTouched) {
			continue
		}
		s.Keep(keep)
		if err := w.Sessions.Save(s); err != nil {
			return nil, err
		}
		changed = append(changed, s.ID)
	}
	return changed, nil
}

// alignWithCommit aligns the sessions with a turn checkpoint of the shadow branch: the branch
// is reset to it, and files that no longer differ from HEAD are not pending. For the commit of
// a rescue it restores the states at that time.
func alignWithCommit(ctx context.Context, w *workspace.Workspace, store *bands.Store, commit git.OID, states []*session.State) ([]string, error) {
	head, _, err := w.Head(ctx)
	if err != nil {
		return nil, err
	}
	branch := checkpoint.ShadowBranch(head.OID, w.Repo.WorktreeID)
	log, err := git.LastCommits(ctx, w.Repo, branch, PointCommits)
	if err != nil {
		log = nil // there is no such branch
	}
	at := slices.IndexFunc(log, func(c git.Commit) bool { return c.OID == commit })
	if at < 0 {
		return alignWithRescue(ctx, w, store, commit, states)
	}
	refs := workspace.NewRefTransaction(w.Repo)
	if err := refs.Set(ctx, branch, commit); err != nil {
		return nil, err
	}
	if err := git.UpdateRefs(ctx, w.Repo, "entire: rewind", refs.Updates()); err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, c := range log[:at] {
		counts[Trailer(c.Message, checkpoint.SessionKey)]++
	}
	entries, err := git.Changes(ctx, w.Repo, head.OID, commit)
	if err != nil {
		return nil, err
	}
	differs := map[string]bool{}
	for _, ch := range entries {
		differs[ch.Path] = true
	}
	var changed []string
	for _, s := range states {
		before := pendingWork{slices.Clone(s.FilesTouched), s.CheckpointCount}
		s.Keep(slices.DeleteFunc(slices.Clone(s.FilesTouched), func(f string) bool { return !differs[f] }))
		s.CheckpointCount = max(0, s.CheckpointCount-counts[s.ID])
		if before.equal(s) {
			continue
		}
		if err := w.Sessions.Save(s); err != nil {
			return nil, err
		}
		changed = append(changed, s.ID)
	}
	return changed, nil
}

// alignWithRescue restores the sessions to their states at the time of a rescue's commit; if
// these are unknown, files that don't differ from HEAD are no longer pending.
func alignWithRescue(ctx context.Context, w *workspace.Workspace, store *bands.Store, commit git.OID, states []*session.State) ([]string, error) {
	past, err := bands.ReadHistory(store, tracking.Lineage(w))
	if err != nil {
		return nil, err
	}
	for _, t := range slices.Concat(past.Undo, past.Redo) {
		rescue, err := store.Snapshot(t.Rescue)
		if err != nil || rescue.Causality.Shadow != string(commit) || !tracking.HasSessionsBefore(store, t.Rescue) {
			continue
		}
		wanted, err := sessionsAt(ctx, w, store, rescue, states)
		if err != nil {
			return nil, err
		}
		return restoreSessions(ctx, w, states, wanted)
	}
	var pending []string
	for _, s := range states {
		pending = append(pending, s.FilesTouched...)
	}
	if len(pending) == 0 {
		return nil, nil
	}
	return dropClean(ctx, w, states, pending)
}

// addPending makes files of the wanted states that differ from HEAD pending again, in shadow
// commits on top of the present ones. It returns the sessions that changed.
func addPending(ctx context.Context, w *workspace.Workspace, states []*session.State, wanted map[string]tracking.SnapshotSession) ([]string, error) {
	head, born, err := w.Head(ctx)
	if err != nil || !born {
		return nil, err
	}
	var again []*session.State
	counts := map[string]int{}
	for _, s := range states {
		files := slices.DeleteFunc(slices.Clone([]string(wanted[s.ID].Files)), func(p string) bool { return workspace.ContainsPath(s.FilesTouched, p) })
		if files, err = differing(ctx, w, files); err != nil {
			return nil, err
		}
		if len(files) > 0 {
			s.Touch(files)
			again, counts[s.ID] = append(again, s), s.CheckpointCount+1
		}
	}
	if len(again) == 0 {
		return nil, nil
	}
	shadow, err := workspace.NewRefTransaction(w.Repo).Get(ctx, checkpoint.ShadowBranch(head.OID, w.Repo.WorktreeID))
	if err != nil {
		return nil, err
	}
	if err := moveTip(ctx, w, head, shadow, again); err != nil {
		return nil, err
	}
	var changed []string
	for _, s := range again {
		s.CheckpointCount = counts[s.ID]
		if err := w.Sessions.Save(s); err != nil {
			return nil, err
		}
		changed = append(changed, s.ID)
	}
	return changed, nil
}

// differing returns the files that differ from HEAD.
func differing(ctx context.Context, w *workspace.Workspace, files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	entries, err := git.Status(ctx, w.Repo, files...)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for _, e := range entries {
		listed[e.Path] = true
	}
	return slices.DeleteFunc(slices.Clone(files), func(p string) bool { return !listed[p] }), nil
}
