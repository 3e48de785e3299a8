package strategy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// RepositoryOf returns the entry of a worktree in the record of a session.
func RepositoryOf(w *workspace.Workspace, turn string) session.MachineRepository {
	return session.MachineRepository{Root: w.Repo.Root, CommonDir: w.Repo.CommonDir, Worktree: w.Repo.WorktreeID, Since: turn}
}

// Follow runs an event of a session in another of its repositories. Events that concern only the
// repository in which the session started do nothing there.
func Follow(ctx context.Context, w *workspace.Workspace, verb string, in workspace.Input) error {
	switch verb {
	case "session-start":
		_, err := SessionStart(ctx, w, in)
		return err
	case "user-prompt-submit":
		return Prompt(ctx, w, in)
	case "post-tool":
		return ToolUsed(ctx, w, in)
	case "stop", "stop-failure":
		if s, err := w.Sessions.Load(in.SessionID); err != nil || s.TurnID != in.Turn { // its turn didn't begin here
			has, err := Arrive(ctx, w, record.Arrival{Input: in}, false)
			if err != nil || !has {
				return err
			}
		}
		err := Stop(ctx, w, in)
		_, failed := CommitTurn(ctx, w, in.SessionID)
		return errors.Join(err, failed)
	case "session-end":
		return SessionEnd(ctx, w, in)
	}
	return nil
}

// FollowLate is Follow for a prompt whose turn may have reached the repository already, or be over.
func FollowLate(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	s, err := w.Sessions.Load(in.SessionID)
	if errors.Is(err, session.ErrNotFound) || err == nil && s.TurnID == in.Turn {
		return nil
	}
	in.Late = true
	err = Prompt(ctx, w, in)
	if errors.Is(err, record.ErrTurnOver) {
		return tracking.RemoveMark(tracking.PromptMark(w, in.SessionID))
	}
	return err
}

// Arrive records the session's running turn here, if changed reports that it need not have changed a
// file yet, or if it has. It returns false if the turn has left nothing here.
func Arrive(ctx context.Context, w *workspace.Workspace, a record.Arrival, changed bool) (bool, error) {
	if !changed {
		if has, err := record.HasArrived(ctx, w, a); err != nil || !has {
			return false, err
		}
	}
	if err := record.Arrive(ctx, w, a); err != nil {
		return false, err
	}
	_, err := w.Env.Machine.Update(ctx, a.Input.SessionID, func(r *session.MachineRecord) error {
		if r.TranscriptPath == "" {
			r.AgentType, r.Agent, r.TranscriptPath = a.Input.AgentType, a.Input.Agent, a.Input.Transcript
			r.Launched = a.Input.Launched
		}
		if !r.Add(RepositoryOf(w, a.Input.Turn)) {
			return session.ErrUnchanged
		}
		return nil
	})
	if errors.Is(err, session.ErrNotFound) { // there is no home directory
		err = nil
	}
	return true, err
}

// arriveAtCommit records a session here whose agent makes a commit, if the session isn't recorded here
// yet, or not in its present turn.
func arriveAtCommit(ctx context.Context, w *workspace.Workspace) error {
	id := ""
	if agent.IsCalling(w.Env.Getenv) {
		id = agent.CallingSession(w.Env.Getenv)
	}
	if session.CheckID(id) == nil {
		if s, err := w.Sessions.Load(id); err == nil && s.Phase == session.Active {
			return nil
		}
	}
	r, found := callingRecord(w, id)
	var a record.Arrival
	if found {
		a, found = arrivalOf(r)
	} else if session.CheckID(id) == nil {
		a, found = derivedArrival(ctx, w, id)
	}
	if !found || isOtherWorktree(w, r) {
		return nil
	}
	a.Input.Launched = LaunchedElsewhere(w, a.Input.Launched)
	_, err := Arrive(ctx, w, a, true)
	return err
}

// callingRecord returns the record of the session with the id, or of the session whose agent is an
// ancestor of this process.
func callingRecord(w *workspace.Workspace, id string) (session.MachineRecord, bool) {
	if r, err := w.Env.Machine.Load(id); err == nil {
		return r, true
	}
	all := slices.DeleteFunc(w.Env.Machine.All(), func(r session.MachineRecord) bool { return r.Agent.PID == 0 })
	if len(all) == 0 || w.Env.Ancestors == nil {
		return session.MachineRecord{}, false
	}
	for _, p := range w.Env.Ancestors() {
		for _, r := range all {
			if r.Agent.PID == p.PID && r.Agent.Start == p.Start {
				return r, true
			}
		}
	}
	return session.MachineRecord{}, false
}

// isOtherWorktree reports whether a session is recorded in another worktree of this repository.
func isOtherWorktree(w *workspace.Workspace, r session.MachineRecord) bool {
	return slices.ContainsFunc(r.Repositories, func(o session.MachineRepository) bool {
		return o.CommonDir == w.Repo.CommonDir && o.Worktree != w.Repo.WorktreeID
	})
}

// arrivalOf returns the running turn of a session, as one of its repositories has it, or its record if
// it started where nothing is recorded; false if no turn runs.
func arrivalOf(r session.MachineRecord) (record.Arrival, bool) {
	a := record.Arrival{Input: workspace.Input{
		SessionID: r.ID, Transcript: r.TranscriptPath, Agent: r.Agent, AgentType: r.AgentType, Launched: r.Launched,
		Turn: r.Turn.ID, TurnStart: r.Turn.Start, TurnLine: r.Turn.Line,
	}}
	found := r.Turn.Active
	for _, repo := range r.Repositories {
		s, err := session.Open(repo.CommonDir).Load(r.ID)
		if err != nil || !workspace.IsBusy(s) || s.Recorder.Turn.Start.Before(a.Input.TurnStart) {
			continue
		}
		found = true
		a.Input.Turn, a.Input.TurnStart, a.Input.TurnLine = s.TurnID, s.Recorder.Turn.Start, s.Recorder.Turn.Line
		a.FirstPrompt, a.Started = s.FirstPrompt, s.StartedAt
		if s.TranscriptPath != "" {
			a.Input.Transcript = s.TranscriptPath
		}
	}
	return a, found
}

// atWork is how long after the last line of a transcript its session counts as being at work if nothing
// else is known of it.
const atWork = time.Minute

// derivedArrival returns the turn of a session of which only the id is known: its transcript is where the
// agent keeps it. It returns false if there is no transcript, or if the session isn't at work.
func derivedArrival(ctx context.Context, w *workspace.Workspace, id string) (record.Arrival, bool) {
	const most = 4 << 20 // bytes
	for _, by := range agent.Callers(w.Env.Getenv) {
		dir := by.Transcripts(w.Env.Getenv, w.Env.Home)
		path := by.FindAnywhere(dir, id)
		if path == "" || transcript.CheckPath(path, dir) != nil {
			continue
		}
		in := workspace.Input{SessionID: id, Transcript: path, AgentType: by.Label}
		a, scan, err := LastTurn(ctx, in, most)
		isOpen := slices.ContainsFunc(scan.Calls, func(c transcript.Call) bool { return c.Open })
		if err == nil && (isOpen || w.Env.Now().Sub(scan.LastTime) < atWork) {
			return a, true
		}
	}
	return record.Arrival{}, false
}

// LastTurn returns the last turn in a transcript of which nothing else is known, as far as its last bytes
// show it, and what they have of it.
func LastTurn(ctx context.Context, in workspace.Input, bytes int64) (record.Arrival, transcript.Scan, error) {
	scan, err := transcript.ReadLast(ctx, in.Transcript, bytes)
	if err != nil {
		return record.Arrival{}, scan, err
	}
	prompt := transcript.Prompt{Line: scan.First, Time: scan.FirstTime}
	if n := len(scan.Prompts); n > 0 {
		prompt = scan.Prompts[n-1]
	}
	in.Turn = disk.Digest([]byte(in.SessionID + prompt.UUID))[:turnIDLength]
	in.Launched = cmp.Or(launchedIn(ctx, in.Transcript), "/")
	scan.Edits = slices.DeleteFunc(scan.Edits, func(e transcript.Edit) bool { return e.Line < prompt.Line })
	scan.Calls = slices.DeleteFunc(scan.Calls, func(c transcript.Call) bool { return c.Line < prompt.Line })
	in.TurnStart, in.TurnLine = prompt.Time.Add(-workspace.ClockSlack), prompt.Line
	return record.Arrival{Input: in}, scan, nil
}

// launchedIn returns the directory in which the session of a transcript started, "" if no line names it.
func launchedIn(ctx context.Context, path string) string {
	const most = 64 << 10 // bytes
	var heads transcript.Heads
	dir := ""
	_ = transcript.Lines(ctx, path, 0, most, func(line []byte, _ int64) error { // a shorter file has them all
		if h, ok := heads.Line(line); ok && h.Cwd != "" {
			dir = h.Cwd
			return errFound
		}
		return nil
	})
	return dir
}

// errFound ends a search.
var errFound = errors.New("found")

// LaunchedElsewhere returns the folder in which a session started if it is outside of the worktree, ""
// if it is in it.
func LaunchedElsewhere(w *workspace.Workspace, dir string) string {
	if dir = disk.Physical(dir); dir == w.Repo.Root {
		return ""
	}
	if _, in := w.Repo.Rel(dir); in {
		return ""
	}
	return dir
}

// turnIDLength is the length of the id of a turn.
const turnIDLength = 12

// NoteOthers records in the session's state which other repositories a turn changed.
func NoteOthers(ctx context.Context, w *workspace.Workspace, id, turn string, others []session.MachineRepository) error {
	return w.WithLock(ctx, func() error {
		s, err := w.Sessions.Load(id)
		if err != nil || s.Recorder.Changed.ID != turn {
			return err
		}
		changed := false
		for _, o := range others {
			if o.CommonDir != w.Repo.CommonDir && s.Recorder.AddOther(o, s.Recorder.Changed) {
				changed = true
			}
		}
		if !changed {
			return nil
		}
		return w.Sessions.Save(s)
	})
}

// ChangedIn returns the repositories of a session that a turn changed.
func ChangedIn(r session.MachineRecord, turn string) []session.MachineRepository {
	return slices.DeleteFunc(slices.Clone(r.Repositories), func(o session.MachineRepository) bool {
		s, err := session.Open(o.CommonDir).Load(r.ID)
		return err != nil || s.Recorder.Changed.ID != turn
	})
}
