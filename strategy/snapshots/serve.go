package snapshots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/moments"
)

// StartServer lets a child serve the requests for snapshots.
func (r *Server) StartServer(ctx context.Context) {
	if err := r.Env.Detach("hooks", "snapshot"); err != nil {
		r.Log.WarnContext(ctx, "detached child not started", "error", err.Error())
	}
}

// Snapshot serves the requests for snapshots of this worktree. One process
// does so at a time and one waits for it; any other leaves its request to that
// one.
func (r *Server) Snapshot(ctx context.Context) error {
	if !r.Options.Bands.Enabled {
		return nil
	}
	store, err := r.snapshots.MakeStore(ctx)
	if err != nil {
		return fmt.Errorf("open the store of snapshots: %w", err)
	}
	turn, err := r.myTurn(ctx)
	if err != nil || turn == nil {
		return err
	}
	defer func() { _ = turn.Unlock() }()
	for list := r.requests.Requests(ctx); len(list) > 0; list = r.requests.Requests(ctx) {
		err := r.serve(ctx, store, list)
		if errors.Is(err, bands.ErrNoRoom) {
			err = r.serveFull(ctx, store, list)
		}
		if err != nil {
			return err
		}
	}
	return r.tidy(ctx, store)
}

// tidy removes what killed processes left, and what there is no room for.
func (r *Server) tidy(ctx context.Context, store *bands.Store) error {
	held, err := Hold(ctx, store, r.Options.LockTimeout)
	if err != nil {
		return err
	}
	return errors.Join(held.Sweep(), r.prune(ctx, held, (*bands.Held).MaybePrune), held.Release())
}

// myTurn answers the lock of the child that serves, nil if another one waits
// for it already.
func (r *Server) myTurn(ctx context.Context) (*disk.FileLock, error) {
	soon, cancel := context.WithTimeout(ctx, HookWait)
	defer cancel()
	waits, err := disk.Lock(soon, filepath.Join(r.snapshots.StoreDir(), "next-"+r.snapshots.Lineage()))
	if errors.Is(err, disk.ErrLocked) {
		return nil, nil //nolint:nilnil // the one that waits serves all
	}
	if err != nil {
		return nil, err
	}
	runs, err := disk.Lock(ctx, filepath.Join(r.snapshots.StoreDir(), "child-"+r.snapshots.Lineage()))
	return runs, errors.Join(err, waits.Unlock())
}

// serve takes one snapshot for all the requests.
func (r *Server) serve(ctx context.Context, store *bands.Store, list []Request) (err error) {
	held, err := Hold(ctx, store, r.Options.LockTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	lead := leading(list)
	taken, err := r.snapshots.Take(ctx, held, bands.TakeOptions{
		Cause: lead.Cause, Message: lead.message(), Causality: lead.Causality, SkipUnchanged: true,
	})
	if err != nil {
		return err
	}
	since := r.lastChange(ctx, store, taken)
	for _, q := range list {
		if err := r.settleRequest(ctx, held, taken, q, since); err != nil {
			return err
		}
	}
	return Served(list)
}

// serveFull makes room in the store and serves the requests, or gives them up.
func (r *Server) serveFull(ctx context.Context, store *bands.Store, list []Request) error {
	held, err := Hold(ctx, store, r.Options.LockTimeout)
	if err != nil {
		return err
	}
	if err := errors.Join(r.prune(ctx, held, (*bands.Held).MakeRoom), held.Release()); err != nil {
		return err
	}
	err = r.serve(ctx, store, list)
	if !errors.Is(err, bands.ErrNoRoom) {
		return err
	}
	r.Log.WarnContext(ctx, "no snapshot", "error", err.Error())
	return r.missAll(list)
}

// missAll gives up what was asked for.
func (r *Server) missAll(list []Request) error {
	var rest []Request
	failed := make([]error, 0, len(list))
	for _, q := range list {
		if q.Pair == "" {
			rest = append(rest, q)
			continue
		}
		failed = append(failed, NoteMissed(q))
	}
	return errors.Join(append(failed, Served(rest))...)
}

// settleRequest pairs the snapshot with what it was asked for, and marks it
// where it came too late to be exact.
func (r *Server) settleRequest(ctx context.Context, held *bands.Held, taken bands.Taken, q Request, since time.Time) error {
	switch {
	case q.Pair != "":
		late := q.Late || !taken.Unchanged && !since.Before(q.asked)
		return r.requests.pair(held, taken.Snapshot, q, late)
	case q.Cause == bands.Prompt && !taken.Unchanged && r.turnWrote(ctx, q):
		return held.MarkLate(taken.Snapshot.Version)
	case q.Cause == bands.Auto && !taken.Unchanged:
		return r.annotateLater(ctx, held, taken.Snapshot.Version, q)
	default:
		return nil
	}
}

// annotateLater records the session's state with the snapshot of a stop or a
// subagent's event that a child takes, if the turn is still the same and, at a
// stop, has not gone on.
func (r *Server) annotateLater(ctx context.Context, held *bands.Held, v bands.Version, q Request) error {
	s, err := r.Sessions.Load(q.Causality.Session)
	if err != nil || s.TurnID != q.Causality.Turn || (s.Phase == session.Active && q.Message == "") {
		return nil //nolint:nilerr // a later event of the session records more
	}
	m := r.reader.Current(ctx, s)
	m.Later = true
	return moments.Write(held.Store, v, m)
}

// turnWrote says whether the turn that a prompt began has called a tool that
// writes: then the snapshot may hold some of what it did.
func (r *Server) turnWrote(ctx context.Context, q Request) bool {
	s, err := r.Sessions.Load(q.Causality.Session)
	if err != nil || s.TurnID != q.Causality.Turn {
		return !errors.Is(err, session.ErrNotFound)
	}
	scan, err := transcript.Read(ctx, s.TranscriptPath, s.Recorder.Cursor)
	return err == nil && len(scan.Calls)+len(scan.Edits) > 0
}

// MaxTimes bounds the paths whose times are looked at.
const MaxTimes = 10_000

// lastChange is the time of the newest change among those that the snapshot
// took up, by the file system's clock; the distant future where there are too
// many to tell.
func (r *Server) lastChange(ctx context.Context, store *bands.Store, taken bands.Taken) time.Time {
	future := r.Env.Now().Add(time.Hour)
	if taken.Unchanged || taken.Snapshot.Parent == 0 {
		return future
	}
	var latest time.Time
	seen := 0
	err := ChangesSince(ctx, store, taken.Snapshot, taken.Snapshot.Parent, func(c tree.Change) error {
		if seen++; seen > MaxTimes {
			return ErrTooMany
		}
		for _, p := range []string{c.Path, filepath.Dir(c.Path)} {
			if info, err := os.Lstat(filepath.Join(r.Repo.Root, p)); err == nil && disk.Changed(info).After(latest) {
				latest = disk.Changed(info)
			}
		}
		return nil
	})
	if err != nil {
		return future
	}
	return latest
}

var ErrTooMany = errors.New("too many changes")

// ChangesSince lists what differs between an older snapshot and s.
func ChangesSince(ctx context.Context, store *bands.Store, s bands.Snapshot, older bands.Version, visit func(tree.Change) error) error {
	before, err := store.Snapshot(older)
	if err != nil {
		return err
	}
	return store.Changes(ctx, before, s, visit)
}

// prune lets snapshots go that the store has no room for, and the shadow commits
// that only they held.
func (r *Server) prune(ctx context.Context, held *bands.Held, how func(*bands.Held, context.Context, bands.Policy) (bands.Pruned, error)) error {
	policy, on := r.policy(ctx, held)
	if !on {
		return nil
	}
	pruned, err := how(held, ctx, policy)
	if err != nil || len(pruned.Versions) == 0 {
		return err
	}
	r.Log.InfoContext(ctx, "snapshots thinned", "removed", len(pruned.Versions), "freed", pruned.Freed)
	if known := r.Env.Registry; known != nil {
		if err := known.Forget(ctx, held.Store, pruned.Versions...); err != nil {
			r.Log.WarnContext(ctx, "catalog not up to date", "error", err.Error())
		}
	}
	return r.release(ctx, held)
}

// policy is what stays in the store, false if the user lets nothing go.
func (r *Server) policy(ctx context.Context, held *bands.Held) (bands.Policy, bool) {
	policy := bands.Policy{Now: r.Env.Now(), Cap: bands.CapAt(held.Dir(), r.Options.Bands.Cap)}
	if r.Env.Registry == nil {
		return policy, true
	}
	config, err := r.Env.Registry.Config()
	if err != nil {
		r.Log.WarnContext(ctx, "settings of the store", "error", err.Error())
	}
	policy.Keep = config.Keep
	return policy, !config.NoPrune
}

// release drops the refs of rescue snapshots that have gone.
func (r *Server) release(ctx context.Context, held *bands.Held) error {
	refs, err := r.Repo.Refs(ctx, moments.HeldRefs)
	if err != nil {
		return err
	}
	var gone []git.RefUpdate
	for _, ref := range refs {
		_, name, _ := strings.Cut(strings.TrimPrefix(ref.Name, moments.HeldRefs), "-")
		v, err := bands.ParseVersion(name)
		if err != nil || name[0] != 'v' {
			continue
		}
		if _, err := held.Snapshot(v); errors.Is(err, bands.ErrNoSnapshot) {
			gone = append(gone, git.RefUpdate{Name: ref.Name, Old: ref.OID})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return r.Repo.UpdateRefs(ctx, "entire: rewind", gone)
}
