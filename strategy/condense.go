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

// apply does what a decision asks for, now that its commit is made: the
// checkpoint of every session with a share, what each of them carries forward,
// their states, and last the end of the decision. Done again after a crash it
// comes to the same. The caller holds the lock.
func (r *Recorder) apply(ctx context.Context, d Decision, head git.Commit) error {
	if d.ID == "" {
		return r.forget(d)
	}
	ahead := r.promptsAhead(d.Shares)
	defer ahead.wait()
	lines := r.linesAhead(ctx, head)
	defer lines.group.Wait()
	changes, err := r.committed(ctx, head)
	if err != nil {
		return err
	}
	shares, dropped, err := r.settleShares(ctx, d, changes)
	if err != nil {
		return err
	}
	refs := newRefPlan(r.Repo)
	leaving := make([]string, len(shares))
	for i, share := range shares {
		leaving[i] = share.Session
	}
	m := made{head.OID, changes, ahead, lines}
	todo, err := r.condenseAll(ctx, d, shares, dropped, m)
	if err != nil {
		return err
	}
	if len(todo) == len(shares) { // else the checkpoint has it already
		r.attribute(ctx, d, head, m, todo)
	}
	mainLast(todo)
	var puts []checkpoint.Change
	for _, c := range todo {
		put, err := r.put(ctx, d, c)
		if err != nil {
			return err
		}
		puts = append(puts, put)
		if err := r.carry(ctx, refs, c, head, leaving); err != nil {
			return err
		}
	}
	if len(puts) > 0 {
		by := git.Signature{Name: head.Committer.Name, Email: head.Committer.Email, When: r.Env.Now()}
		if _, err := checkpoint.Update(ctx, r.Repo, by, puts, refs.updates()); err != nil {
			return fmt.Errorf("write checkpoint %s: %w", d.ID, err)
		}
	}
	if err := r.commitStates(ctx, d, head, todo); err != nil {
		return err
	}
	if err := r.remember(link{ID: d.ID, Commit: head.OID, Worktree: d.Worktree, Blobs: blobs(shares, changes)}); err != nil {
		r.Log.WarnContext(ctx, "link not remembered", "error", err.Error())
	}
	r.reserve(ctx, d.ID, head.OID)
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
// that was active last: other versions show the session of the last slot.
func mainLast(todo []condensed) {
	lines := make(map[string]int, len(todo))
	for _, c := range todo {
		lines[c.state.ID] = checkpoint.SessionMeta{Attribution: c.attribution}.Lines()
	}
	slices.SortStableFunc(todo, func(a, b condensed) int {
		return cmp.Or(cmp.Compare(lines[a.state.ID], lines[b.state.ID]), lastActive(a.state).Compare(lastActive(b.state)))
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
	c := condensed{state: s, notes: notes, files: share.Files, share: share, rest: rest, complete: complete, pending: slices.Clone(s.FilesTouched)}
	if a, ok := m.ahead.take(s); ok {
		notes.texts, notes.textsEnd, c.written = a.texts, a.end, a.written
	}
	return c, nil
}
