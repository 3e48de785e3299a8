package condense

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// attemptsToApply is the number of attempts to prepare a checkpoint without the lock before it is
// prepared under it.
const attemptsToApply = 3

// ErrUnfinished means that a checkpoint was written, but that updating a session's state or the
// journal failed after it.
var ErrUnfinished = errors.New("checkpoint written, sessions not updated")

// Apply carries out a decision after its commit was made: it writes the checkpoint with every
// session that has a share, carries their remaining files forward, updates their states, and
// finally removes the decision. It is idempotent, so that it can be repeated after a crash. The
// error is [ErrUnfinished] if the checkpoint was written and a later step failed.
//
// Everything is prepared without the lock, which is held only while refs, states and the journal
// change. If another hook saved one of the sessions meanwhile, or something was forgotten, the
// preparation is repeated.
func (co *Condenser) Apply(ctx context.Context, d journal.Decision, commit journal.LinkedCommit) error {
	if d.ID == "" {
		return co.journal.Remove(d)
	}
	if err := co.tombstones.Check(); err != nil {
		return err
	}
	if err := co.tombstones.LearnHere(ctx); err != nil {
		return err
	}
	var p pendingCheckpoint
	err := workspace.ErrStale
	for attempt := 1; attempt <= attemptsToApply && errors.Is(err, workspace.ErrStale); attempt++ {
		if p, err = co.prepareCheckpoint(ctx, d, commit); err == nil {
			err = co.WithLock(ctx, func() error { return co.writeCheckpoint(ctx, p) })
		}
		if errors.Is(err, workspace.ErrStale) {
			co.Retried++
		}
	}
	if errors.Is(err, workspace.ErrStale) {
		err = co.WithLock(ctx, func() (err error) {
			if p, err = co.prepareCheckpoint(ctx, d, commit); err == nil {
				err = co.writeCheckpoint(ctx, p)
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	for _, c := range p.todo {
		if !c.Complete {
			co.children.RequestCompletion(ctx, c.State.ID)
		}
	}
	return nil
}

// pendingCheckpoint is a checkpoint that is ready to be written.
type pendingCheckpoint struct {
	decision journal.Decision
	commit   journal.LinkedCommit
	changes  journal.Changes
	shares   []journal.Share
	todo     []authorship.Slot
	puts     []checkpoint.Change
}

// prepareCheckpoint reads and stores everything that the checkpoint needs. It changes no ref and no
// state.
func (co *Condenser) prepareCheckpoint(ctx context.Context, d journal.Decision, commit journal.LinkedCommit) (pendingCheckpoint, error) {
	p := pendingCheckpoint{decision: d, commit: commit}
	if !co.journal.IsRecorded(d) {
		return p, nil // another hook has carried it out
	}
	ahead := co.authors.StartPrompts(d.Shares)
	defer ahead.Wait()
	diff := co.attribution.StartDiff(ctx, commit.Commit)
	defer diff.Group.Wait()
	var err error
	if p.changes, err = co.ChangesOf(ctx, commit.Commit); err != nil {
		return p, err
	}
	var dropped map[string][]string
	if p.shares, dropped, err = co.sharer.settleShares(ctx, d, p.changes); err != nil {
		return p, err
	}
	m := authorship.Committed{Commit: commit.OID, Changes: p.changes, Ahead: ahead, Lines: diff}
	for _, share := range p.shares {
		c, err := co.condense(ctx, d, share, m)
		if errors.Is(err, errApplied) {
			continue
		}
		if err != nil {
			return p, err
		}
		if paths := dropped[share.Session]; len(paths) > 0 { // they are pending again
			entries, err := co.files.StoreContents(ctx, paths)
			if err != nil {
				return p, err
			}
			c.State.Touched(paths)
			maps.Copy(c.Rest.Entries, entries)
			c.Rest.Paths = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Rest.Paths, paths))))
		}
		p.todo = append(p.todo, c)
	}
	if len(p.todo) == len(p.shares) { // else the checkpoint has it already
		co.attribution.Attribute(ctx, d, commit.Commit, m, p.todo)
	}
	// The session that wrote most of the commit comes last; of several the one that was active last
	// when the commit was decided about. Other versions show the session of the last slot. The
	// decision's shares begin with the session that was active last. Sessions that aren't in the
	// decision are those of a commit that this one replaces.
	lines, age := make(map[string]int, len(p.todo)), make(map[string]int, len(p.todo))
	for _, c := range p.todo {
		lines[c.State.ID] = checkpoint.SessionMeta{Attribution: c.Attribution}.Lines()
		age[c.State.ID] = len(d.Shares)
	}
	for i, s := range d.Shares {
		age[s.Session] = i
	}
	slices.SortStableFunc(p.todo, func(a, b authorship.Slot) int {
		return cmp.Or(cmp.Compare(lines[a.State.ID], lines[b.State.ID]), cmp.Compare(age[b.State.ID], age[a.State.ID]))
	})
	for _, c := range p.todo {
		condense := func(*session.State) error {
			put, err := co.WriteSlot(ctx, d, c)
			p.puts = append(p.puts, put)
			return err
		}
		c.State.Phase, err = session.Fire(c.State, session.GitCommit, session.Work{Now: co.Env.Now, Condense: condense})
		if err != nil {
			return p, err
		}
	}
	return p, co.Repo.SyncObjects() // the rest is synced under the lock, before the refs move
}

// writeCheckpoint moves the refs, saves the states and removes the decision. It returns ErrStale if
// a session was saved since the checkpoint was prepared. The caller must hold the lock.
func (co *Condenser) writeCheckpoint(ctx context.Context, p pendingCheckpoint) error {
	d, head := p.decision, p.commit.Commit
	if !co.journal.IsRecorded(d) {
		return nil // another hook has carried it out
	}
	for _, c := range p.todo {
		if co.Stamp(c.State.ID) != c.Stamp {
			return workspace.ErrStale
		}
	}
	leaving := make([]string, len(p.shares))
	for i, share := range p.shares {
		leaving[i] = share.Session
	}
	refs := workspace.NewRefTransaction(co.Repo)
	for _, c := range p.todo {
		if err := co.carry(ctx, refs, c, head, leaving); err != nil {
			return err
		}
	}
	if len(p.puts) > 0 {
		by := git.Signature{Name: head.Committer.Name, Email: head.Committer.Email, When: co.Env.Now()}
		err := co.Repo.WriteTogether(git.SmallBatch, func() error {
			_, err := checkpoint.Update(ctx, co.Repo, by, p.puts, refs.Updates())
			return err
		})
		if err != nil {
			return fmt.Errorf("write checkpoint %s: %w", d.ID, err)
		}
	}
	if err := co.finalizer.commitStates(ctx, d, head, p.todo); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, err)
	}
	blobs := map[string]git.OID{} // the committed contents of the sessions' files
	for _, share := range p.shares {
		for _, path := range share.Files {
			blobs[path] = p.changes[path].New
		}
	}
	if err := co.links.Remember(journal.Link{ID: d.ID, Commit: p.commit.Holder, Worktree: d.Worktree, Blobs: blobs}); err != nil {
		co.Log.WarnContext(ctx, "link not remembered", "error", err.Error())
	}
	co.links.Relink(ctx, d, p.commit.Holder)
	co.requests.AddPair(ctx, d.ID, p.commit)
	if err := co.journal.Remove(d); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, err)
	}
	return nil
}

// ChangesOf returns the changes of a commit against its first parent, for a merge only those
// against every parent.
func (co *Condenser) ChangesOf(ctx context.Context, c git.Commit) (journal.Changes, error) {
	if len(c.Parents) == 0 {
		list, err := gitdiff.Changes(ctx, co.Repo, "", c.OID)
		return journal.ByPath(list), err
	}
	var changes journal.Changes
	for i, p := range c.Parents {
		list, err := gitdiff.Changes(ctx, co.Repo, p, c.OID)
		if err != nil {
			return nil, fmt.Errorf("read changes of %s: %w", c.OID.Short(), err)
		}
		differs := journal.ByPath(list)
		if i == 0 {
			changes = differs
			continue
		}
		maps.DeleteFunc(changes, func(p string, _ gitdiff.Change) bool { _, ok := differs[p]; return !ok })
	}
	return changes, nil
}

// errApplied means that the session's state already contains the decision.
var errApplied = errors.New("already applied")

// condense updates a session from its transcript and determines the files that the commit left
// pending.
func (co *Condenser) condense(ctx context.Context, d journal.Decision, share journal.Share, m authorship.Committed) (authorship.Slot, error) {
	stamp := co.Stamp(share.Session)
	s, err := co.Sessions.Load(share.Session)
	if errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrCorrupt) {
		// Only its id is known: the slot records that.
		co.Log.WarnContext(ctx, "session without state", "session_id", share.Session, "error", err.Error())
		s, err = &session.State{ID: share.Session, WorktreePath: co.Repo.Root, Phase: session.Ended, AgentType: agent.Default().Label}, nil
		s.Recorder.Rules = redact.RulesVersion
	}
	if err != nil {
		return authorship.Slot{}, err
	}
	if s.Recorder.Applied == d.Nonce {
		return authorship.Slot{}, errApplied
	}
	if err := co.finalizer.recount(ctx, s); err != nil {
		return authorship.Slot{}, err
	}
	notes := new(tracking.Pending)
	if err := co.transcripts.CatchUp(ctx, s, notes); err != nil {
		return authorship.Slot{}, err
	}
	complete, err := co.transcripts.StoreMasked(ctx, s, notes, tracking.RedactNow)
	if err != nil {
		return authorship.Slot{}, err
	}
	// Pending files get the names that they have in the share, unless they still exist under the
	// old names.
	for _, m := range share.Renamed {
		if !co.files.HasFile(string(m.From)) {
			s.Rename(string(m.From), string(m.To))
		}
	}
	rest, err := co.FindRemaining(ctx, s, m, share)
	if err != nil {
		return authorship.Slot{}, err
	}
	if err := co.turns.DropCommitted(s, notes, m.Changes); err != nil {
		return authorship.Slot{}, err
	}
	// The transcript may lag behind the input of the last stop.
	complete = complete && (s.Phase == session.Active || s.Recorder.Expect == "")
	c := authorship.Slot{State: s, Stamp: stamp, Notes: notes, Files: share.Files, Share: share, Rest: rest, Complete: complete, Pending: slices.Clone(s.FilesTouched)}
	if a, ok := m.Ahead.Take(s); ok && !notes.Masked {
		notes.Texts, notes.TextsEnd, c.Written = a.Texts, a.End, a.Written
	}
	return c, nil
}
