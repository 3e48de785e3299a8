package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// attemptsToApply is the number of attempts to prepare a checkpoint without the lock before it is
// prepared under it.
const attemptsToApply = 3

// ErrUnfinished means that a checkpoint was written, but that updating a session's state or the
// journal failed after it.
var ErrUnfinished = errors.New("checkpoint written, sessions not updated")

// ApplyDecision carries out a decision after its commit was made: it writes the checkpoint with every
// session that has a share, carries their remaining files forward, updates their states, and
// finally removes the decision. It is idempotent, so that it can be repeated after a crash. The
// error is [ErrUnfinished] if the checkpoint was written and a later step failed.
//
// Everything is prepared without the lock, which is held only while refs, states and the journal
// change. If another hook saved one of the sessions meanwhile, or something was forgotten, the
// preparation is repeated.
func ApplyDecision(ctx context.Context, w *workspace.Workspace, d tracking.Decision, commit tracking.LinkedCommit) error {
	if d.ID == "" {
		return tracking.RemoveDecision(d)
	}
	if err := w.CheckTombstones(); err != nil {
		return err
	}
	if err := w.LearnTombstonesHere(ctx); err != nil {
		return err
	}
	var p pendingCheckpoint
	attempt := 0
	err := w.Retry(func() (err error) {
		if attempt++; attempt > attemptsToApply {
			return w.WithLock(ctx, func() (err error) {
				if p, err = prepareCheckpoint(ctx, w, d, commit); err == nil {
					err = writeCheckpoint(ctx, w, p)
				}
				return err
			})
		}
		if p, err = prepareCheckpoint(ctx, w, d, commit); err == nil {
			err = w.WithLock(ctx, func() error { return writeCheckpoint(ctx, w, p) })
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range p.todo {
		if !c.Complete {
			w.RequestCompletion(ctx, c.State.ID)
		}
	}
	return nil
}

// pendingCheckpoint is a checkpoint that is ready to be written.
type pendingCheckpoint struct {
	decision tracking.Decision
	commit   tracking.LinkedCommit
	changes  tracking.CommitChanges
	shares   []tracking.Share
	todo     []authorship.Slot
	puts     []checkpoint.Change
}

// prepareCheckpoint reads and stores everything that the checkpoint needs. It changes no ref and no
// state.
func prepareCheckpoint(ctx context.Context, w *workspace.Workspace, d tracking.Decision, commit tracking.LinkedCommit) (pendingCheckpoint, error) {
	p := pendingCheckpoint{decision: d, commit: commit}
	if !tracking.IsDecisionRecorded(d) {
		return p, nil // another hook has carried it out
	}
	ahead := authorship.StartPrompts(w, d.Shares)
	defer ahead.Wait()
	diff := authorship.StartDiff(ctx, w, commit.Commit)
	defer diff.Group.Wait()
	var err error
	if p.changes, err = ChangesOf(ctx, w, commit.Commit); err != nil {
		return p, err
	}
	var dropped map[string][]string
	if p.shares, dropped, err = settleShares(ctx, w, d, p.changes); err != nil {
		return p, err
	}
	m := authorship.Committed{Commit: commit.OID, Changes: p.changes, Ahead: ahead, Lines: diff}
	for _, share := range p.shares {
		c, err := condense(ctx, w, d, share, m)
		if errors.Is(err, errApplied) {
			continue
		}
		if err != nil {
			return p, err
		}
		if paths := dropped[share.Session]; len(paths) > 0 { // they are pending again
			entries, err := w.StoreContents(ctx, paths)
			if err != nil {
				return p, err
			}
			c.State.Touch(paths)
			maps.Copy(c.Rest.Entries, entries)
			c.Rest.Paths = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Rest.Paths, paths))))
		}
		p.todo = append(p.todo, c)
	}
	if len(p.todo) == len(p.shares) { // else the checkpoint has it already
		authorship.Attribute(ctx, w, d, commit.Commit, m, p.todo)
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
			put, err := WriteSlot(ctx, w, d, c)
			p.puts = append(p.puts, put)
			return err
		}
		c.State.Phase, err = session.Fire(c.State, session.GitCommit, session.Work{Now: w.Env.Now, Condense: condense})
		if err != nil {
			return p, err
		}
	}
	return p, w.Repo.SyncObjects() // the rest is synced under the lock, before the refs move
}

// writeCheckpoint moves the refs, saves the states and removes the decision. It returns ErrStale if
// a session was saved since the checkpoint was prepared. The caller must hold the lock.
func writeCheckpoint(ctx context.Context, w *workspace.Workspace, p pendingCheckpoint) error {
	d, head := p.decision, p.commit.Commit
	if !tracking.IsDecisionRecorded(d) {
		return nil // another hook has carried it out
	}
	for _, c := range p.todo {
		if w.Stamp(c.State.ID) != c.Stamp {
			return workspace.ErrStale
		}
	}
	leaving := make([]string, len(p.shares))
	for i, share := range p.shares {
		leaving[i] = share.Session
	}
	refs := workspace.NewRefTransaction(w.Repo)
	for _, c := range p.todo {
		if err := carry(ctx, w, refs, c, head, leaving); err != nil {
			return err
		}
	}
	if len(p.puts) > 0 {
		by := git.Signature{Name: head.Committer.Name, Email: head.Committer.Email, When: w.Env.Now()}
		err := w.Repo.WriteTogether(git.SmallBatch, func() error {
			return checkpoint.Update(ctx, w.Repo, w.Options.Order, by, p.puts, refs.Updates())
		})
		if err != nil {
			return fmt.Errorf("write checkpoint %s: %w", d.ID, err)
		}
	}
	if err := commitStates(ctx, w, d, head, p.todo); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, err)
	}
	blobs := map[string]git.OID{} // the committed contents of the sessions' files
	for _, share := range p.shares {
		for _, path := range share.Files {
			blobs[path] = p.changes[path].New
		}
	}
	if err := tracking.RememberLink(w, tracking.Link{ID: d.ID, Commit: p.commit.Holder, Worktree: d.Worktree, Blobs: blobs}); err != nil {
		w.Log.WarnContext(ctx, "link not remembered", "error", err.Error())
	}
	tracking.Relink(ctx, w, d, p.commit.Holder)
	tracking.AddPair(ctx, w, d.ID, p.commit)
	if err := tracking.RemoveDecision(d); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, err)
	}
	return nil
}

// ChangesOf returns the changes of a commit against its first parent, for a merge only those
// against every parent.
func ChangesOf(ctx context.Context, w *workspace.Workspace, c git.Commit) (tracking.CommitChanges, error) {
	if len(c.Parents) == 0 {
		list, err := git.Changes(ctx, w.Repo, "", c.OID)
		return tracking.ByPath(list), err
	}
	var changes tracking.CommitChanges
	for i, p := range c.Parents {
		list, err := git.Changes(ctx, w.Repo, p, c.OID)
		if err != nil {
			return nil, fmt.Errorf("read changes of %s: %w", c.OID.Short(), err)
		}
		differs := tracking.ByPath(list)
		if i == 0 {
			changes = differs
			continue
		}
		maps.DeleteFunc(changes, func(p string, _ git.Change) bool { _, ok := differs[p]; return !ok })
	}
	return changes, nil
}

// errApplied means that the session's state already contains the decision.
var errApplied = errors.New("already applied")

// condense updates a session from its transcript and determines the files that the commit left
// pending.
func condense(ctx context.Context, w *workspace.Workspace, d tracking.Decision, share tracking.Share, m authorship.Committed) (authorship.Slot, error) {
	stamp := w.Stamp(share.Session)
	s, err := w.Sessions.Load(share.Session)
	if errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrCorrupt) {
		// Only its id is known: the slot records that.
		w.Log.WarnContext(ctx, "session without state", "session_id", share.Session, "error", err.Error())
		s, err = &session.State{ID: share.Session, WorktreePath: w.Repo.Root, Phase: session.Ended, AgentType: agent.Default().Label}, nil
		s.Recorder.Rules = redact.RulesVersion
	}
	if err != nil {
		return authorship.Slot{}, err
	}
	if s.Recorder.Applied == d.Nonce {
		return authorship.Slot{}, errApplied
	}
	if err := recount(ctx, w, s); err != nil {
		return authorship.Slot{}, err
	}
	notes := new(tracking.Pending)
	if err := tracking.CatchUp(ctx, w, s, notes); err != nil {
		return authorship.Slot{}, err
	}
	complete, err := tracking.StoreMasked(ctx, w, s, notes, tracking.RedactNow)
	if err != nil {
		return authorship.Slot{}, err
	}
	// Pending files get the names that they have in the share, unless they still exist under the
	// old names.
	for _, m := range share.Renamed {
		if !w.HasFile(string(m.From)) {
			s.Rename(string(m.From), string(m.To))
		}
	}
	rest, err := FindRemaining(ctx, w, s, m, share)
	if err != nil {
		return authorship.Slot{}, err
	}
	if err := tracking.DropCommitted(w, s, notes, m.Changes); err != nil {
		return authorship.Slot{}, err
	}
	tokens := tokensOf(w, s, d.Amend)
	// The transcript may lag behind the input of the last stop.
	complete = complete && (s.Phase == session.Active || s.Recorder.Expect == "")
	c := authorship.Slot{State: s, Stamp: stamp, Notes: notes, Files: share.Files, Share: share, Rest: rest, Complete: complete, Tokens: tokens, Pending: slices.Clone(s.FilesTouched)}
	if a, ok := m.Ahead.Take(s); ok && !notes.Masked {
		notes.Texts, notes.TextsEnd, c.Written = a.Texts, a.End, a.Written
	}
	return c, nil
}

// commitStates updates and saves the states of the sessions with a share: their next checkpoint
// begins after the commit, and only the remaining files stay pending.
func commitStates(ctx context.Context, w *workspace.Workspace, d tracking.Decision, head git.Commit, todo []authorship.Slot) error {
	for _, c := range todo {
		s, rec := c.State, &c.State.Recorder
		if s.Phase == session.Active {
			s.TurnCheckpointIDs = addID(s.TurnCheckpointIDs, d.ID)
		}
		if !c.Complete {
			rec.Incomplete = addID(rec.Incomplete, d.ID)
		}
		s.Keep(c.Rest.Paths)
		s.Withhold(c.Rest.Withheld)
		if err := errors.Join(tracking.SettleSteps(ctx, w, s, c.Notes, slices.Concat(c.Rest.Paths, s.Recorder.Withheld)), tracking.RenameSteps(ctx, w, s, c.Notes, c.Rest.Renamed)); err != nil {
			return err
		}
		counted := counts(s, d)
		s.CheckpointCount, s.TranscriptStart, s.LastCheckpointID = 0, rec.Cursor.Lines, string(d.ID)
		const mostLinked = 20
		rec.Linked = append(slices.DeleteFunc(slices.Clone(rec.Linked), func(id string) bool { return id == string(d.ID) }), string(d.ID))
		rec.Linked = rec.Linked[max(0, len(rec.Linked)-mostLinked):]
		if len(c.Rest.Paths) > 0 {
			s.CheckpointCount = 1 // of the carry-forward
			for _, p := range c.Rest.Paths {
				if since, ok := rec.Since[p]; ok {
					s.TranscriptStart = min(s.TranscriptStart, since)
				}
			}
		}
		s.TranscriptIDAtStart = "" // that of an earlier line isn't kept
		if s.TranscriptStart == rec.Cursor.Lines {
			s.TranscriptIDAtStart = rec.LastUUID
		}
		if counted {
			rec.CountedBefore, rec.Counted, rec.CountedIn = s.Total().Minus(c.Tokens), s.Total(), string(d.ID)
		}
		rec.Applied = d.Nonce
		var rest []tracking.Step // of turns with files that are still pending
		if len(rec.Tasks) > 0 && len(c.Rest.Paths) > 0 {
			rest = tracking.ReadSteps(ctx, w, s, c.Notes)
		}
		rec.DropTasks(func(turn string) bool { // the rest of a running turn needs its subagents' calls, too
			return s.Phase == session.Active && turn == s.TurnID || slices.ContainsFunc(rest, func(step tracking.Step) bool { return turn != "" && step.Turn == turn })
		})
		s.BaseCommit, s.AttributionBase = string(head.OID), string(head.OID)
		if err := c.Notes.Save(w.Sessions, s); err != nil {
			return err
		}
	}
	return nil
}

func addID(ids []string, id checkpoint.ID) []string {
	if slices.Contains(ids, string(id)) {
		return ids
	}
	return append(ids, string(id))
}

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
