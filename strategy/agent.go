package strategy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Input is what an agent's hook tells, checked by the hook.
type Input struct {
	SessionID string
	// Transcript is the path of the transcript, empty if none was named.
	Transcript string
	// Prompt is what a prompt hook was given.
	Prompt string
	// Summary is the agent's last message, told at a stop.
	Summary string
	// Background says that tasks go on running after the stop.
	Background bool
	// Agent is the process of the agent.
	Agent session.Process
}

// Greeting is what a session that starts is told.
type Greeting struct {
	// Others is the number of other conversations in this worktree that are
	// under way.
	Others int
}

// SessionStart makes the session's state, or takes it up again.
func (r *Recorder) SessionStart(ctx context.Context, in Input) (Greeting, error) {
	r.Repair(ctx)
	r.sweep(ctx)
	r.endDead(ctx)
	err := r.step(ctx, in, session.Start, func(_ *session.State, n *notes) error {
		entries, err := r.Repo.Status(ctx)
		if err != nil {
			return fmt.Errorf("list what is untracked: %w", err)
		}
		n.known = encodeKnown(entries)
		return nil
	})
	var greeting Greeting
	for _, s := range r.pendingHere(ctx) {
		busy := s.Phase == session.Active || s.CheckpointCount > 0 || len(s.FilesTouched) > 0
		if s.ID != in.SessionID && s.Phase != session.Ended && busy {
			greeting.Others++
		}
	}
	r.topUp(ctx, in.SessionID)
	return greeting, err
}

// Prompt begins a turn. Somebody waits for it: it walks nothing, starts no git
// process but one that reads HEAD for a session not seen before, and leaves
// what it finds unfinished to a child.
func (r *Recorder) Prompt(ctx context.Context, in Input) error {
	start := r.markPrompt(ctx, in.SessionID)
	err := r.step(ctx, in, session.TurnStart, func(s *session.State, _ *notes) error {
		rec := &s.Recorder
		rec.Agent, rec.Expect = in.Agent, ""
		if !transcript.IsHuman(in.Prompt) && s.TurnID != "" {
			r.Log.DebugContext(ctx, "not a person's prompt", "session_id", s.ID)
		} else {
			id, err := checkpoint.NewID(r.Env.Random)
			if err != nil {
				return err
			}
			s.TurnID, s.LastCheckpointID = string(id), ""
			if s.FirstPrompt == "" {
				s.FirstPrompt = checkpoint.FirstPrompt(r.Redact.Text(in.Prompt))
			}
		}
		if rec.Turn.Start.IsZero() { // else an earlier turn has not been saved, and this one goes on with it
			rec.Turn.Start, rec.Turn.Line = start, rec.Cursor.Lines
		}
		rec.Background = false
		return nil
	})
	if len(r.waiting(ctx)) > 0 {
		r.detach(ctx, "")
	}
	r.topUp(ctx, "")
	return err
}

// markPrompt writes the file whose time is when the turn begins: the file
// system's clock is not the process's.
func (r *Recorder) markPrompt(ctx context.Context, id string) time.Time {
	now := r.Env.Now()
	path := r.promptMark(id)
	data, err := json.Marshal(map[string]any{"session_id": id, "timestamp": now})
	if err == nil {
		err = r.ownDir(filepath.Dir(path))
	}
	if err == nil {
		err = disk.WriteCache(path, append(data, '\n'), 0o600)
	}
	if err == nil {
		if info, err := os.Lstat(path); err == nil {
			return disk.Changed(info)
		}
	}
	r.Log.WarnContext(ctx, "prompt not marked", "session_id", id, "error", fmt.Sprint(err))
	return now.Add(-10 * time.Millisecond)
}

func (r *Recorder) promptMark(id string) string {
	return filepath.Join(r.Repo.Root, ".entire", "tmp", "pre-prompt-"+id+".json")
}

// ownDir makes a folder below .entire. If .entire itself is new, in a worktree
// that nobody enabled by hand, git is told to ignore all of it.
func (r *Recorder) ownDir(dir string) error {
	top := filepath.Join(r.Repo.Root, ".entire")
	if info, err := os.Lstat(top); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory", top)
	}
	if err := os.Mkdir(top, 0o755); err == nil {
		if err := disk.WriteCache(filepath.Join(top, ".gitignore"), []byte("*\n"), 0o644); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o700)
}

// Stop ends a turn: what it changed becomes a shadow checkpoint, and the
// checkpoints of its commits get the whole transcript.
func (r *Recorder) Stop(ctx context.Context, in Input) error {
	r.Repair(ctx)
	r.endDead(ctx)
	err := r.step(ctx, in, session.TurnEnd, func(s *session.State, _ *notes) error {
		s.Recorder.Background = in.Background
		return nil
	})
	r.topUp(ctx, in.SessionID)
	return err
}

// SessionEnd ends a session, and the turn that it may have left open.
func (r *Recorder) SessionEnd(ctx context.Context, in Input) error {
	r.Repair(ctx)
	r.endDead(ctx)
	s, err := r.Sessions.Load(in.SessionID)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err == nil && s.TurnID == "" && !hasRecord(s): // nothing was ever asked
		return r.locked(ctx, func() error { return r.Sessions.Remove(s.ID) })
	}
	err = r.step(ctx, in, session.Stop, nil)
	r.topUp(ctx, in.SessionID)
	return err
}

func hasRecord(s *session.State) bool {
	return len(s.FilesTouched)+len(s.TurnCheckpointIDs)+s.CheckpointCount > 0 || s.LastCheckpointID != ""
}

// attempts is how often a step is made again after another hook of the same
// session was faster.
const attempts = 5

// errStale means that a state was saved by another hook since it was loaded.
var errStale = errors.New("session state changed meanwhile")

// step carries out an event on a session: the machine's actions, then the
// hook's own part, and the state last. The work is done without the lock, which
// is held only while the state is saved; if another hook has saved it
// meanwhile, all is done again upon that.
func (r *Recorder) step(ctx context.Context, in Input, event session.Event, then func(*session.State, *notes) error) error {
	for attempt := 1; ; attempt++ {
		err := r.try(ctx, in, event, then)
		if !errors.Is(err, errStale) || attempt == attempts {
			return err
		}
	}
}

func (r *Recorder) try(ctx context.Context, in Input, event session.Event, then func(*session.State, *notes) error) error {
	stamp := r.Sessions.Stamp(in.SessionID)
	s, err := r.load(ctx, in)
	if err != nil {
		return err
	}
	n := new(notes)
	next := session.Transition(s.Phase, event)
	for _, action := range next.Actions {
		if err := r.act(ctx, s, n, in, action); err != nil {
			return fmt.Errorf("%s: %w", action, err)
		}
	}
	if then != nil {
		if err := then(s, n); err != nil {
			return err
		}
	}
	s.Phase = next.Next
	err = r.locked(ctx, func() error {
		if r.Sessions.Stamp(s.ID) != stamp {
			return errStale
		}
		for _, move := range n.refs {
			if err := move(); err != nil {
				return err
			}
		}
		if err := n.write(r.Sessions, s.ID); err != nil {
			return err
		}
		return r.Sessions.Save(s)
	})
	if err == nil && len(s.Recorder.Incomplete) > 0 {
		r.detach(ctx, s.ID)
	}
	return err
}

// load answers the session's state, a new one if there is none. One that can't
// be read is set aside: the transcript tells most of it again.
func (r *Recorder) load(ctx context.Context, in Input) (*session.State, error) {
	s, err := r.Sessions.Load(in.SessionID)
	if errors.Is(err, session.ErrCorrupt) {
		aside, failed := r.Sessions.SetAside(in.SessionID)
		r.Log.ErrorContext(ctx, "damaged session state set aside", "path", aside, "error", err.Error())
		if failed != nil {
			return nil, errors.Join(err, failed)
		}
		err = session.ErrNotFound
	}
	if errors.Is(err, session.ErrNotFound) {
		s, err = r.newState(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	s.CLIVersion = r.Env.Version
	if in.Transcript != "" {
		s.TranscriptPath = in.Transcript
	}
	if !r.here(s) && len(s.FilesTouched) == 0 {
		s.WorktreePath, s.WorktreeID = r.Repo.Root, r.Repo.WorktreeID
	}
	return s, nil
}

func (r *Recorder) newState(ctx context.Context, in Input) (*session.State, error) {
	head, _, err := r.head(ctx)
	if err != nil {
		return nil, fmt.Errorf("read HEAD: %w", err)
	}
	return &session.State{
		ID: in.SessionID, BaseCommit: string(head.OID), AttributionBase: string(head.OID),
		WorktreePath: r.Repo.Root, WorktreeID: r.Repo.WorktreeID,
		StartedAt: r.Env.Now(), Phase: session.Idle, AgentType: AgentType,
	}, nil
}

// act carries out one action of the machine.
func (r *Recorder) act(ctx context.Context, s *session.State, n *notes, in Input, action session.Action) error {
	switch action {
	case session.Touch:
		r.touch(s)
	case session.ClearEnded:
		s.EndedAt = nil
	case session.MarkEnded:
		now := r.Env.Now()
		s.EndedAt = &now
	case session.SaveTurn:
		return r.saveTurn(ctx, s, n, in)
	case session.Finalize:
		if in.Prompt != "" { // somebody waits: a child does it
			s.Recorder.Incomplete = unfinished(s)
			return nil
		}
		return r.finalize(ctx, s, n)
	case session.BeginTurn, session.Condense, session.CondenseIfTouched:
		// What is left of them is the caller's own part.
	}
	return nil
}

// saveTurn makes the shadow checkpoint of a turn and forgets the turn.
func (r *Recorder) saveTurn(ctx context.Context, s *session.State, n *notes, in Input) error {
	status := make(chan statusResult, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				status <- statusResult{err: fmt.Errorf("panic: %v", p)}
			}
		}()
		entries, err := r.Repo.Status(ctx)
		status <- statusResult{entries, err}
	}()
	caught := r.catchUp(ctx, s, n)
	listed := <-status
	if err := errors.Join(caught, listed.err); err != nil {
		return err
	}
	if in.Summary != "" {
		s.Recorder.Turn.Summary = r.Redact.Text(in.Summary)
		if said := digest(in.Summary); s.Recorder.Said != said {
			s.Recorder.Expect = said
		}
	}
	head, born, err := r.head(ctx)
	if err != nil {
		return err
	}
	touched, err := r.takeChanges(ctx, s, listed.entries, head)
	if err != nil {
		return err
	}
	complete, err := r.store(ctx, s, redactInStop)
	if err != nil {
		return err
	}
	if len(touched) > 0 && born {
		if err := r.shadow(ctx, s, n, touched, head); err != nil {
			return err
		}
	}
	if !complete {
		r.detach(ctx, s.ID)
	}
	n.known = encodeKnown(listed.entries)
	s.UntrackedAtStart = untracked(listed.entries)
	s.Recorder.Turn = afterTurn(s.Recorder.Turn, in.Background)
	_ = os.Remove(r.promptMark(s.ID)) // its time is in the state
	return nil
}

type statusResult struct {
	entries []git.StatusEntry
	err     error
}

// takeChanges adds to the pending files what the turn changed, takes from them
// what it took back, and answers the former.
func (r *Recorder) takeChanges(ctx context.Context, s *session.State, entries []git.StatusEntry, head git.Commit) ([]string, error) {
	known, err := r.Sessions.Side(s.ID, "untracked").ReadAll()
	if err != nil {
		return nil, err
	}
	t := turnChanges{repo: r.Repo, turn: s.Recorder.Turn, named: r.inWorktree(s.Recorder.Turn.Edits), known: decodeKnown(known), head: head.Tree}
	touched, err := t.touched(ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("find what the turn changed: %w", err)
	}
	back := t.reset(s.FilesTouched, entries)
	s.Keep(slices.DeleteFunc(slices.Clone(s.FilesTouched), func(p string) bool { return slices.Contains(back, p) }))
	s.Touched(touched)
	return touched, nil
}

// afterTurn is what remains of a turn that is saved: if tasks go on in the
// background, what they change is still the turn's.
func afterTurn(t session.Turn, background bool) session.Turn {
	if !background {
		return session.Turn{}
	}
	open := slices.DeleteFunc(t.Calls, func(c transcript.Call) bool { return !c.Open })
	return session.Turn{Start: t.Start, Line: t.Line, Calls: open, Timed: t.Timed}
}

// untracked lists untracked files for other versions of the tool.
func untracked(entries []git.StatusEntry) []string {
	const most = 1000
	var paths []string
	for _, e := range entries {
		if e.Index == '?' && len(paths) < most {
			paths = append(paths, e.Path)
		}
	}
	return paths
}
