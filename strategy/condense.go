package strategy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// condensed is one session on its way into a checkpoint.
type condensed struct {
	state    *session.State
	stamp    string // of the state when it was read
	notes    *notes
	files    []string // of the commit
	share    Share
	rest     left
	written  checkpoint.WrittenPrompts
	complete bool // all of the transcript is stored
	// pending are the files that were pending before the commit.
	pending     []string
	attribution json.RawMessage
}

// attemptsToApply is how often a checkpoint is prepared without the lock before
// it is prepared under it.
const attemptsToApply = 3

// apply does what a decision asks for, now that its commit is made: the
// checkpoint of every session with a share, what each of them carries forward,
// their states, and last the end of the decision. Done again after a crash it
// comes to the same.
//
// Everything is prepared without the lock, which is held only while refs, states
// and the journal change. If another hook has saved one of the sessions in
// between, all is prepared again.
func (r *Recorder) apply(ctx context.Context, d Decision, commit linkedCommit) error {
	if d.ID == "" {
		return r.forget(d)
	}
	if err := r.checkTombstones(); err != nil {
		return err
	}
	var p pendingCheckpoint
	err := errStale
	for attempt := 1; attempt <= attemptsToApply && errors.Is(err, errStale); attempt++ {
		if p, err = r.prepareCheckpoint(ctx, d, commit); err == nil {
			err = r.locked(ctx, func() error { return r.writeCheckpoint(ctx, p) })
		}
		if errors.Is(err, errStale) {
			r.Retried++
		}
	}
	if errors.Is(err, errStale) {
		err = r.locked(ctx, func() (err error) {
			if p, err = r.prepareCheckpoint(ctx, d, commit); err == nil {
				err = r.writeCheckpoint(ctx, p)
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	for _, c := range p.todo {
		if !c.complete {
			r.detach(ctx, c.state.ID)
		}
	}
	return nil
}

// pendingCheckpoint is a checkpoint that is ready to be written.
type pendingCheckpoint struct {
	decision Decision
	commit   linkedCommit
	changes  staged
	shares   []Share
	todo     []condensed
	puts     []checkpoint.Change
}

// prepareCheckpoint reads and stores everything that the checkpoint needs. It
// changes no ref and no state.
func (r *Recorder) prepareCheckpoint(ctx context.Context, d Decision, commit linkedCommit) (pendingCheckpoint, error) {
	p := pendingCheckpoint{decision: d, commit: commit}
	if !r.recorded(d) {
		return p, nil // another hook has carried it out
	}
	ahead := r.promptsAhead(d.Shares)
	defer ahead.wait()
	lines := r.linesAhead(ctx, commit.Commit)
	defer lines.group.Wait()
	var err error
	if p.changes, err = r.committed(ctx, commit.Commit); err != nil {
		return p, err
	}
	var dropped map[string][]string
	if p.shares, dropped, err = r.settleShares(ctx, d, p.changes); err != nil {
		return p, err
	}
	m := made{commit.OID, p.changes, ahead, lines}
	if p.todo, err = r.condenseAll(ctx, d, p.shares, dropped, m); err != nil {
		return p, err
	}
	if len(p.todo) == len(p.shares) { // else the checkpoint has it already
		r.attribute(ctx, d, commit.Commit, m, p.todo)
	}
	mainLast(p.todo, d.Shares)
	for _, c := range p.todo {
		put, err := r.put(ctx, d, c)
		if err != nil {
			return p, err
		}
		p.puts = append(p.puts, put)
	}
	return p, r.Repo.SyncObjects() // the rest is synced under the lock, before the refs move
}

// writeCheckpoint moves the refs, saves the states and ends the decision. It is
// errStale if a session was saved since the checkpoint was prepared. The caller
// holds the lock.
func (r *Recorder) writeCheckpoint(ctx context.Context, p pendingCheckpoint) error {
	d, head := p.decision, p.commit.Commit
	if !r.recorded(d) {
		return nil // another hook has carried it out
	}
	for _, c := range p.todo {
		if r.Sessions.Stamp(c.state.ID) != c.stamp {
			return errStale
		}
	}
	leaving := make([]string, len(p.shares))
	for i, share := range p.shares {
		leaving[i] = share.Session
	}
	refs := newRefPlan(r.Repo)
	for _, c := range p.todo {
		if err := r.carry(ctx, refs, c, head, leaving); err != nil {
			return err
		}
	}
	if len(p.puts) > 0 {
		by := git.Signature{Name: head.Committer.Name, Email: head.Committer.Email, When: r.Env.Now()}
		if _, err := checkpoint.Update(ctx, r.Repo, by, p.puts, refs.updates()); err != nil {
			return fmt.Errorf("write checkpoint %s: %w", d.ID, err)
		}
	}
	if err := r.commitStates(ctx, d, head, p.todo); err != nil {
		return err
	}
	if err := r.remember(link{ID: d.ID, Commit: p.commit.Holder, Worktree: d.Worktree, Blobs: blobs(p.shares, p.changes)}); err != nil {
		r.Log.WarnContext(ctx, "link not remembered", "error", err.Error())
	}
	r.relink(ctx, d, p.commit.Holder)
	r.reserve(ctx, d.ID, p.commit)
	return r.forget(d)
}

// condenseAll prepares the sessions with a share, but those that have the
// decision in their state already.
func (r *Recorder) condenseAll(ctx context.Context, d Decision, shares []Share, dropped map[string][]string, m made) ([]condensed, error) {
	var todo []condensed
	for _, share := range shares {
		c, err := r.condense(ctx, d, share, m)
		if errors.Is(err, errApplied) {
			continue
		}
		if err == nil {
			err = r.giveBack(ctx, &c, dropped[share.Session])
		}
		if err != nil {
			return nil, err
		}
		todo = append(todo, c)
	}
	return todo, nil
}

// mainLast puts the session last that wrote most of the commit, of equals the one
// that was active last when the commit was decided about: other versions show the
// session of the last slot. The decision's shares begin with that one; sessions that
// aren't among them are those of a commit that this one replaces.
func mainLast(todo []condensed, shares []Share) {
	lines, age := make(map[string]int, len(todo)), make(map[string]int, len(todo))
	for _, c := range todo {
		lines[c.state.ID] = checkpoint.SessionMeta{Attribution: c.attribution}.Lines()
		age[c.state.ID] = len(shares)
	}
	for i, s := range shares {
		age[s.Session] = i
	}
	slices.SortStableFunc(todo, func(a, b condensed) int {
		return cmp.Or(cmp.Compare(lines[a.state.ID], lines[b.state.ID]), cmp.Compare(age[b.state.ID], age[a.state.ID]))
	})
}

// lastActive is when the session was last heard of.
func lastActive(s *session.State) time.Time {
	if s.LastInteraction != nil {
		return *s.LastInteraction
	}
	return s.StartedAt
}

// committed returns what a commit changed: against its first parent, and for a
// merge only what differs from every parent.
func (r *Recorder) committed(ctx context.Context, c git.Commit) (staged, error) {
	if len(c.Parents) == 0 {
		list, err := r.Repo.Changes(ctx, "", c.OID)
		return byPath(list), err
	}
	var changes staged
	for i, p := range c.Parents {
		list, err := r.Repo.Changes(ctx, p, c.OID)
		if err != nil {
			return nil, fmt.Errorf("read changes of %s: %w", c.OID.Short(), err)
		}
		differs := byPath(list)
		if i == 0 {
			changes = differs
			continue
		}
		maps.DeleteFunc(changes, func(p string, _ git.Change) bool { _, ok := differs[p]; return !ok })
	}
	return changes, nil
}

// made is a commit and what it changed.
type made struct {
	commit  git.OID
	changes staged
	ahead   *promptsAhead
	lines   *linesAhead
}

// errApplied means that the decision is in the session's state already.
var errApplied = errors.New("already applied")

// condense brings a session up to date with its transcript and finds out what
// the commit left of its files.
func (r *Recorder) condense(ctx context.Context, d Decision, share Share, m made) (condensed, error) {
	stamp := r.Sessions.Stamp(share.Session)
	s, err := r.Sessions.Load(share.Session)
	if errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrCorrupt) {
		// All that is known of it is its name: its slot says so.
		r.Log.WarnContext(ctx, "session without state", "session_id", share.Session, "error", err.Error())
		s, err = &session.State{ID: share.Session, WorktreePath: r.Repo.Root, Phase: session.Ended, AgentType: AgentType}, nil
	}
	if err != nil {
		return condensed{}, err
	}
	if s.Recorder.Applied == d.Nonce {
		return condensed{}, errApplied
	}
	if err := r.recount(ctx, s); err != nil {
		return condensed{}, err
	}
	notes := new(notes)
	if err := r.catchUp(ctx, s, notes); err != nil {
		return condensed{}, err
	}
	complete, err := r.store(ctx, s, redactNow)
	if err != nil {
		return condensed{}, err
	}
	r.moved(s, share)
	rest, err := r.remaining(ctx, s, m, share)
	if err != nil {
		return condensed{}, err
	}
	if err := r.forgetKnown(s, notes, m.changes); err != nil {
		return condensed{}, err
	}
	// The transcript may be behind what the stop was told just now.
	complete = complete && (s.Phase == session.Active || s.Recorder.Expect == "")
	c := condensed{state: s, stamp: stamp, notes: notes, files: share.Files, share: share, rest: rest, complete: complete, pending: slices.Clone(s.FilesTouched)}
	if a, ok := m.ahead.take(s); ok {
		notes.texts, notes.textsEnd, c.written = a.texts, a.end, a.written
	}
	return c, nil
}
