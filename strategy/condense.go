package strategy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// condensed is one session on its way into a checkpoint.
type condensed struct {
	state    *session.State
	notes    *notes
	files    []string // of the commit
	rest     left
	complete bool // all of the transcript is stored
}

// apply does what a decision asks for, now that its commit is made: the
// checkpoint of every session with a share, what each of them carries forward,
// their states, and last the end of the decision. Done again after a crash it
// comes to the same. The caller holds the lock.
func (r *Recorder) apply(ctx context.Context, d Decision, head git.Commit) error {
	if d.ID == "" {
		return r.forget(d)
	}
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
	var todo []condensed
	var puts []checkpoint.Change
	for _, share := range shares {
		c, err := r.condense(ctx, d, share, made{head.OID, changes})
		if errors.Is(err, errApplied) {
			continue
		}
		if err != nil {
			return err
		}
		if err := r.giveBack(ctx, &c, dropped[share.Session]); err != nil {
			return err
		}
		put, err := r.put(ctx, d, c)
		if err != nil {
			return err
		}
		puts = append(puts, put)
		if err := r.carry(ctx, refs, c, head, leaving); err != nil {
			return err
		}
		todo = append(todo, c)
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
	return r.forget(d)
}

// giveBack makes files pending again that a commit no longer contains.
func (r *Recorder) giveBack(ctx context.Context, c *condensed, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	entries, err := r.contents(ctx, paths)
	if err != nil {
		return err
	}
	c.state.Touched(paths)
	maps.Copy(c.rest.entries, entries)
	c.rest.paths = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.rest.paths, paths))))
	return nil
}

// committed answers what a commit changed: against its first parent, and for a
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

// settleShares narrows the shares to what was committed. For a commit that
// replaces another it adds what that one's sessions still have in it, and
// answers what each has no more.
func (r *Recorder) settleShares(ctx context.Context, d Decision, changes staged) (shares []Share, dropped map[string][]string, err error) {
	files := map[string][]string{}
	var order []string
	add := func(id string, paths []string) {
		if _, ok := files[id]; !ok {
			order = append(order, id)
		}
		for _, p := range paths {
			if _, ok := changes[p]; ok && !slices.Contains(files[id], p) {
				files[id] = append(files[id], p)
			}
		}
		slices.Sort(files[id])
	}
	dropped = map[string][]string{}
	if d.Amend {
		old, err := r.readCheckpoint(ctx, d.ID)
		if err != nil {
			return nil, nil, err
		}
		for _, slot := range old.Sessions {
			if slot.Meta.SessionID == "" {
				continue
			}
			kept, gone := r.stillIn(slot.Meta.FilesTouched, changes)
			add(slot.Meta.SessionID, kept)
			dropped[slot.Meta.SessionID] = gone
		}
	}
	for _, share := range d.Shares {
		add(share.Session, share.Files)
	}
	for _, id := range order {
		shares = append(shares, Share{Session: id, Files: files[id]})
	}
	return shares, dropped, nil
}

// stillIn tells the paths that a checkpoint lists, redacted as they are there,
// into those that the commit has and those that it has no more.
func (r *Recorder) stillIn(listed []string, changes staged) (kept, gone []string) {
	redacted := make(map[string]string, len(changes))
	for p := range changes {
		redacted[r.Redact.Path(p)] = p
	}
	for _, name := range listed {
		if p, ok := redacted[name]; ok {
			kept = append(kept, p)
		} else if r.inTree(name) {
			gone = append(gone, name)
		}
	}
	return kept, gone
}

// inTree says whether the worktree has the path.
func (r *Recorder) inTree(path string) bool {
	_, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(path)))
	return git.ValidPath(path) && err == nil
}

// readCheckpoint reads a checkpoint; the zero one if it doesn't exist.
func (r *Recorder) readCheckpoint(ctx context.Context, id checkpoint.ID) (checkpoint.Checkpoint, error) {
	tree, err := checkpoint.Tree(ctx, r.Repo)
	var c checkpoint.Checkpoint
	if err == nil {
		c, err = checkpoint.Read(ctx, r.Repo, tree, id)
	}
	if errors.Is(err, checkpoint.ErrNotFound) {
		return checkpoint.Checkpoint{}, nil
	}
	return c, err
}

// made is a commit and what it changed.
type made struct {
	commit  git.OID
	changes staged
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
	var wait sync.WaitGroup
	var ahead error
	guarded(&wait, &ahead, func() error { return r.promptsAhead(s, notes) })
	complete, err := r.store(ctx, s, redactNow)
	var rest left
	if err == nil {
		rest, err = r.remaining(ctx, s, m)
	}
	wait.Wait()
	if ahead != nil {
		r.Log.WarnContext(ctx, "prompts not written ahead", "session_id", s.ID, "error", ahead.Error())
	}
	if err != nil {
		return condensed{}, err
	}
	if err := r.forgetKnown(s.ID, m.changes); err != nil {
		return condensed{}, err
	}
	return condensed{state: s, notes: notes, files: share.Files, rest: rest, complete: complete}, nil
}

// promptsAhead writes the session's prompts, of which a long session has many,
// while others wait for git. What goes wrong shows again when they are needed.
func (r *Recorder) promptsAhead(s *session.State, n *notes) error {
	texts, err := r.prompts(s, n)
	if err != nil {
		return err
	}
	return checkpoint.WritePrompts(r.Repo, texts)
}

// put is the change that writes a session's slot.
func (r *Recorder) put(ctx context.Context, d Decision, c condensed) (checkpoint.Change, error) {
	s := c.state
	slot, err := r.slot(ctx, s, c.notes)
	if err != nil {
		return nil, err
	}
	branch, err := r.Repo.BranchName(ctx)
	if err != nil {
		branch = ""
	}
	total := s.Total()
	branch = r.Redact.Path(branch)
	slot.Meta.CheckpointID, slot.Meta.CreatedAt, slot.Meta.Branch = d.ID, d.Created, branch
	slot.Meta.CheckpointsCount, slot.Meta.TurnID = s.CheckpointCount, s.TurnID
	for _, p := range c.files {
		slot.Meta.FilesTouched = append(slot.Meta.FilesTouched, r.Redact.Path(p))
	}
	slot.Meta.TranscriptStart, slot.Meta.TranscriptIDAtStart = s.TranscriptStart, s.TranscriptIDAtStart
	slot.Meta.SessionTokenUsage = &total
	if counts(s, d) {
		share := total.Minus(countedBefore(s, d))
		slot.Meta.TokenUsage = &share
	}
	shadow := ""
	if s.BaseCommit != "" {
		shadow = checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID)
	}
	info := checkpoint.SummaryInfo{Branch: branch, CLIVersion: r.Env.Version, Strategy: Name}
	return func(ctx context.Context, tree git.OID) (git.OID, string, error) {
		slot := slot
		if old, ok := oldSlot(ctx, r.Repo, tree, d.ID, s.ID); ok && d.Amend {
			slot = replaced(old, slot)
		}
		next, err := checkpoint.Put(ctx, r.Repo, tree, d.ID, slot, info)
		return next, checkpoint.CommitMessage(d.ID, slot.Meta, shadow), err
	}, nil
}

// slot is what a checkpoint keeps of a session, less what only the commit
// knows.
func (r *Recorder) slot(ctx context.Context, s *session.State, n *notes) (checkpoint.Slot, error) {
	prompts, err := r.prompts(s, n)
	if errors.Is(err, session.ErrCorrupt) {
		prompts, err = r.promptsAgain(ctx, s, n)
	}
	if err != nil {
		return checkpoint.Slot{}, err
	}
	var stored checkpoint.Transcript
	if s.Recorder.Stored.Raw > 0 {
		stored, err = r.stored(ctx, s)
	} else {
		stored, err = r.fromShadow(ctx, s)
	}
	if err != nil {
		return checkpoint.Slot{}, err
	}
	return checkpoint.Slot{
		Transcript: stored,
		Prompts:    prompts,
		Meta: checkpoint.SessionMeta{
			CLIVersion: r.Env.Version, SessionID: s.ID, Strategy: Name, Agent: s.AgentType,
			TranscriptPath: checkpoint.RelTranscript(r.Env.Home, s.TranscriptPath),
		},
	}, nil
}

// fromShadow answers the transcript that the shadow branch holds, for a
// session whose live one is gone.
func (r *Recorder) fromShadow(ctx context.Context, s *session.State) (checkpoint.Transcript, error) {
	tree, err := r.shadowTree(ctx, s)
	if err != nil {
		return checkpoint.Transcript{}, err
	}
	dir, found, err := r.lookup(ctx, tree, checkpoint.MetadataDir(s.ID))
	if err != nil || !found {
		return checkpoint.Transcript{}, err
	}
	t, _, err := r.segmenter(s).Restore(ctx, dir.OID)
	return t, err
}

// oldSlot reads the slot that a session has in a checkpoint already.
func oldSlot(ctx context.Context, repo *git.Repo, tree git.OID, id checkpoint.ID, sessionID string) (checkpoint.Slot, bool) {
	c, err := checkpoint.Read(ctx, repo, tree, id)
	if err != nil {
		return checkpoint.Slot{}, false
	}
	for _, stored := range c.Sessions {
		if stored.Meta.SessionID != sessionID {
			continue
		}
		slot := checkpoint.Slot{Meta: stored.Meta}
		slot.Transcript, _, err = stored.Transcript(ctx, repo)
		if err != nil {
			return checkpoint.Slot{}, false
		}
		slot.Prompts, err = stored.Prompts(ctx, repo)
		return slot, err == nil
	}
	return checkpoint.Slot{}, false
}

// replaced is the slot of a commit that took the place of an older one with
// the same id: where it began stays.
func replaced(old, now checkpoint.Slot) checkpoint.Slot {
	now.Meta.CreatedAt = old.Meta.CreatedAt
	now.Meta.TranscriptStart, now.Meta.TranscriptIDAtStart = old.Meta.TranscriptStart, old.Meta.TranscriptIDAtStart
	now.Meta.CheckpointsCount = max(old.Meta.CheckpointsCount, now.Meta.CheckpointsCount)
	if now.Meta.TokenUsage == nil {
		now.Meta.TokenUsage, now.Meta.SessionTokenUsage = old.Meta.TokenUsage, old.Meta.SessionTokenUsage
	}
	if len(now.Transcript.Segments) == 0 {
		now.Transcript, now.Prompts = old.Transcript, old.Prompts
	}
	return now
}

// counts says whether tokens are counted for the decision's checkpoint. An
// older one that is changed keeps its count: what came since is counted for
// others.
func counts(s *session.State, d Decision) bool { return !d.Amend || s.LastCheckpointID == string(d.ID) }

// countedBefore is what the checkpoints before the decision's have counted.
func countedBefore(s *session.State, d Decision) session.Tokens {
	if d.Amend {
		return s.Recorder.CountedBefore
	}
	return s.Recorder.Counted
}

// commitStates saves what the commit means for the sessions: those with a
// share in it begin anew behind it, and of the others the files that it
// contains are no longer pending.
func (r *Recorder) commitStates(ctx context.Context, d Decision, head git.Commit, todo []condensed) error {
	for _, c := range todo {
		s, rec := c.state, &c.state.Recorder
		step := session.Transition(s.Phase, session.GitCommit)
		s.Phase = step.Next
		if s.Phase == session.Active {
			s.TurnCheckpointIDs = addID(s.TurnCheckpointIDs, d.ID)
		}
		if !c.complete {
			rec.Incomplete = addID(rec.Incomplete, d.ID)
		}
		s.Keep(c.rest.paths)
		counted := counts(s, d)
		s.CheckpointCount, s.TranscriptStart, s.LastCheckpointID = 0, rec.Cursor.Lines, string(d.ID)
		if len(c.rest.paths) > 0 {
			s.CheckpointCount = 1 // of the carry-forward
			for _, p := range c.rest.paths {
				if since, ok := rec.Since[p]; ok {
					s.TranscriptStart = min(s.TranscriptStart, since)
				}
			}
		}
		s.TranscriptIDAtStart = rec.LastUUID
		if counted {
			rec.CountedBefore, rec.Counted, rec.CountedIn = countedBefore(s, d), s.Total(), string(d.ID)
		}
		rec.Applied = d.Nonce
		s.BaseCommit, s.AttributionBase = string(head.OID), string(head.OID)
		r.touch(s)
		if err := c.notes.write(r.Sessions, s.ID); err != nil {
			return err
		}
		if err := r.Sessions.Save(s); err != nil {
			return err
		}
		if !c.complete {
			r.detach(ctx, s.ID)
		}
	}
	return nil
}

// settle tells the sessions without a share in a commit which of their files
// it contains.
func (r *Recorder) settle(ctx context.Context, head git.Commit, except func(id string) bool) error {
	var waiting []*session.State
	for _, s := range r.pendingHere(ctx) {
		if len(s.FilesTouched) > 0 && !except(s.ID) {
			waiting = append(waiting, s)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	changes, err := r.committed(ctx, head)
	if err != nil {
		return err
	}
	for _, s := range waiting {
		if !slices.ContainsFunc(s.FilesTouched, func(p string) bool { _, ok := changes[p]; return ok }) {
			continue
		}
		rest, err := r.remaining(ctx, s, made{head.OID, changes})
		if err != nil {
			return err
		}
		s.Keep(rest.paths)
		if err := r.Sessions.Save(s); err != nil {
			return err
		}
	}
	return nil
}

func (r *Recorder) touch(s *session.State) {
	now := r.Env.Now()
	s.LastInteraction = &now
}

func addID(ids []string, id checkpoint.ID) []string {
	if slices.Contains(ids, string(id)) {
		return ids
	}
	return append(ids, string(id))
}

// blobs answers what the commit made of the sessions' files.
func blobs(shares []Share, changes staged) map[string]git.OID {
	m := map[string]git.OID{}
	for _, share := range shares {
		for _, p := range share.Files {
			if oid := changes[p].New; oid != "" {
				m[p] = oid
			}
		}
	}
	return m
}
