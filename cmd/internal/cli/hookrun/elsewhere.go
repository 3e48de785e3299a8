package hookrun

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// mostLookedAt is the maximum number of repositories that a stop looks at because a tool call named
// them, the ones named last first.
const mostLookedAt = 32

// elsewhere runs the event in the other repositories of the session, after it was handled here, and at
// the end of a turn finds others that the turn has changed.
func (h *hook) elsewhere(ctx context.Context, payload agenthook.Payload, in workspace.Input) error {
	if !slices.Contains([]string{"session-start", "user-prompt-submit", "post-tool", "stop", "stop-failure", "session-end"}, h.name) {
		return nil
	}
	machine := h.w.Env.Machine
	s, err := h.w.Sessions.Load(h.session)
	if err != nil { // it has ended without a prompt, or nothing of it may be recorded
		return machine.Remove(h.session)
	}
	r, err := machine.Load(h.session)
	if h.name != "session-end" && (err != nil || r.TranscriptPath != in.Transcript && in.Transcript != "" || r.Agent != in.Agent || !r.Has(h.repo.Root)) {
		r, err = machine.Update(ctx, h.session, func(r *session.MachineRecord) error {
			launched := s.Recorder.Launched
			if launched == "" {
				launched = h.repo.Root
			}
			if r.Launched == "" {
				r.Launched = launched
			}
			for _, o := range s.Recorder.Others {
				r.Add(session.MachineRepository{Root: o.Root, CommonDir: o.CommonDir, Worktree: o.Worktree})
			}
			r.AgentType, r.Agent = in.AgentType, in.Agent
			if in.Transcript != "" {
				r.TranscriptPath = in.Transcript
			}
			r.Add(strategy.RepositoryOf(h.w, s.TurnID))
			return nil
		})
	}
	if err != nil {
		if !errors.Is(err, session.ErrNotFound) {
			h.log.WarnContext(ctx, "other repositories of the session not known", "session_id", h.session, "error", err.Error())
		}
		return nil
	}
	in.Turn, in.Launched = s.TurnID, r.Launched
	failed := h.inOthers(ctx, r, h.repo.Root, in)
	switch h.name {
	case "stop", "stop-failure":
		if len(s.Recorder.Elsewhere) > 0 {
			failed = errors.Join(failed, h.find(ctx, r, s.Recorder.Elsewhere, in), h.forgetElsewhere(ctx))
		}
	case "session-end":
		failed = errors.Join(failed, machine.Remove(h.session))
	}
	return failed
}

// forgetElsewhere removes the repositories that were looked at from the state.
func (h *hook) forgetElsewhere(ctx context.Context) error {
	return h.w.WithLock(ctx, func() error {
		s, err := h.w.Sessions.Load(h.session)
		if err != nil || len(s.Recorder.Elsewhere) == 0 {
			return err
		}
		s.Recorder.Elsewhere = nil
		return h.w.Sessions.Save(s)
	})
}

// inOthers runs the event in the repositories of a record, except the one at root.
func (h *hook) inOthers(ctx context.Context, r session.MachineRecord, root string, in workspace.Input) error {
	failed := make([]error, 0, len(r.Repositories))
	for _, o := range r.Repositories {
		if o.Root == root {
			continue
		}
		failed = append(failed, h.inRepository(ctx, o.Root, func(ctx context.Context, w *workspace.Workspace) error {
			if w.Repo.CommonDir != o.CommonDir {
				return nil // the folder is another repository's now
			}
			in := in
			in.Launched = strategy.LaunchedElsewhere(w, in.Launched)
			return strategy.Follow(ctx, w, h.name, in)
		}))
	}
	return errors.Join(failed...)
}

// inRepository calls do for the worktree at root, if recording is on there, with a deadline of its own.
// It logs the event there.
func (h *hook) inRepository(ctx context.Context, root string, do func(ctx context.Context, w *workspace.Workspace) error) error {
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: h.app.Getenv, Environ: childEnviron(h.app), Here: true})
	if err != nil {
		return nil // it was moved or removed
	}
	defer func() { _ = repo.Close() }()
	there := &hook{app: h.app, kind: h.kind, name: h.name, by: h.by, session: h.session, log: slog.New(slog.DiscardHandler)}
	if !there.open(repo) {
		return nil
	}
	defer func() { _ = there.logFile.Close() }()
	began := h.app.Now()
	timeout := there.settings.HookTimeout
	if h.name == "session-end" {
		timeout = min(timeout, endTimeout)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = workspace.Recover(func() error { return do(ctx, there.workspace(there.settings.LockTimeout)) })
	if _, unknown := session.Open(repo.CommonDir).Load(h.session); unknown == nil && there.settings.Activation.Level == settings.Machine {
		there.repairHooks(ctx) // the first event of a session there installs git's hooks
	}
	err = errors.Join(err, there.finish(ctx))
	there.end(ctx, began, err)
	return err
}

// find records the turn in the repositories that its tool calls named, if it changed something there, and
// ends it there.
func (h *hook) find(ctx context.Context, r session.MachineRecord, named []session.Elsewhere, in workspace.Input) error {
	var failed []error
	seen := map[string]bool{}
	for _, e := range slices.Backward(named) {
		if seen[e.Root] || len(seen) == mostLookedAt {
			continue
		}
		seen[e.Root] = true
		failed = append(failed, h.inRepository(ctx, e.Root, func(ctx context.Context, w *workspace.Workspace) error {
			isKnown := func(o session.MachineRepository) bool { return o.CommonDir == w.Repo.CommonDir }
			if slices.ContainsFunc(r.Repositories, isKnown) {
				return nil // the event reached it, or it is in another worktree
			}
			a := record.Arrival{Input: in, Start: e.Start, Line: e.Line, FirstPrompt: in.Prompt}
			a.Input.Turn, a.Input.Launched = e.Turn, strategy.LaunchedElsewhere(w, r.Launched)
			if s, err := session.Open(h.commonDir()).Load(h.session); err == nil {
				a.FirstPrompt, a.Started = s.FirstPrompt, s.StartedAt
			}
			has, err := strategy.Arrive(ctx, w, a, false)
			if err != nil || !has {
				return err
			}
			return strategy.Follow(ctx, w, h.name, a.Input)
		}))
	}
	return errors.Join(failed...)
}

// mostRead is the number of bytes at the end of a transcript that are searched for other repositories at
// the stop of a session in a repository that isn't recorded.
const mostRead = 256 << 10

// commonDir returns the common directory of the hook's repository, "" if it has none.
func (h *hook) commonDir() string {
	if h.repo == nil {
		return ""
	}
	return h.repo.CommonDir
}

// unrecorded handles the event of a session whose folder isn't recorded: it may work in repositories
// that are. If the folder is in a repository, nothing is written until the session changes such a
// repository.
func (h *hook) unrecorded(ctx context.Context, payload agenthook.Payload, inRepository bool) error {
	h.repo = nil
	machine := h.app.Machine()
	in := h.input(payload)
	in.PromptContext = false
	h.session = payload.SessionID
	if machine == nil || h.by.HandsOver() {
		return nil
	}
	place := transcript.Place{Getenv: h.app.Getenv, Home: h.app.Home, Root: payload.Dir}
	if in.Transcript != "" && place.Check(h.by, in.Transcript) != nil {
		in.Transcript = ""
	}
	if _, err := machine.Load(h.session); err != nil && inRepository {
		if h.name != "stop" && h.name != "stop-failure" {
			return nil
		}
		a, scan, err := strategy.LastTurn(ctx, in, mostRead)
		if err != nil {
			return nil // there is no transcript
		}
		named := tracking.NamedRepositories("", scan)
		for i := range named {
			named[i].Turn, named[i].Start, named[i].Line = a.Input.Turn, a.Start, a.Line
		}
		return h.find(ctx, session.MachineRecord{Launched: a.Input.Launched}, named, in)
	}
	switch h.name {
	case "session-start", "user-prompt-submit":
		r, err := h.beginUnrecorded(ctx, machine, payload, in)
		if err != nil {
			return err
		}
		in.Turn, in.Launched = r.Turn.ID, r.Launched
		return h.inOthers(ctx, r, "", in)
	case "post-tool":
		r, err := machine.Load(h.session)
		if err != nil {
			return nil
		}
		in.Turn, in.Launched = r.Turn.ID, r.Launched
		return h.inOthers(ctx, r, "", in)
	case "stop", "stop-failure":
		return h.stopUnrecorded(ctx, machine, in)
	case "session-end":
		r, err := machine.Load(h.session)
		if err != nil {
			return nil
		}
		in.Turn, in.Launched = r.Turn.ID, r.Launched
		return errors.Join(h.inOthers(ctx, r, "", in), machine.Remove(h.session))
	}
	return nil
}

// beginUnrecorded records the session on this machine, and at a prompt its turn.
func (h *hook) beginUnrecorded(ctx context.Context, machine *session.Machine, payload agenthook.Payload, in workspace.Input) (session.MachineRecord, error) {
	return machine.Update(ctx, h.session, func(r *session.MachineRecord) error {
		if r.Launched == "" {
			r.Launched = payload.Dir
			if project := h.app.Getenv("CLAUDE_PROJECT_DIR"); filepath.IsAbs(project) {
				r.Launched = project
			}
		}
		r.AgentType, r.Agent = in.AgentType, in.Agent
		if in.Transcript != "" {
			r.TranscriptPath = in.Transcript
		}
		if h.name != "user-prompt-submit" || r.Turn.Active && !transcript.IsHuman(in.Prompt) {
			return nil
		}
		id, err := checkpoint.NewHexID(h.app.Rand)
		if err != nil {
			return err
		}
		// The clock of file systems may be behind that of the process.
		r.Turn = session.MachineTurn{ID: string(id), Start: h.app.Now().Add(-clockBehind), Active: true}
		if info, err := os.Stat(r.TranscriptPath); err == nil {
			if r.Turn.Line, err = transcript.CountLines(r.TranscriptPath, 0, info.Size()); err != nil {
				return err
			}
		}
		return nil
	})
}

// clockBehind bounds how far the clock of a file system is behind that of the process.
const clockBehind = 10 * time.Millisecond

// stopUnrecorded ends the turn of a session whose folder isn't recorded.
func (h *hook) stopUnrecorded(ctx context.Context, machine *session.Machine, in workspace.Input) error {
	r, err := machine.Load(h.session)
	if err != nil {
		return nil // it has had no prompt
	}
	in.Turn, in.Launched = r.Turn.ID, r.Launched
	var failed []error
	failed = append(failed, h.inOthers(ctx, r, "", in))
	var named []session.Elsewhere
	cursor := r.Cursor
	if r.TranscriptPath != "" {
		scan, err := transcript.Read(ctx, r.TranscriptPath, r.Cursor)
		if err == nil {
			named, cursor = tracking.NamedRepositories("", scan), scan.Cursor
		}
	}
	for i := range named {
		named[i].Turn, named[i].Start, named[i].Line = r.Turn.ID, r.Turn.Start, r.Turn.Line
	}
	failed = append(failed, h.find(ctx, r, named, in))
	_, err = machine.Update(ctx, h.session, func(r *session.MachineRecord) error {
		if r.Turn.ID == in.Turn {
			r.Turn.Active, r.Cursor = false, cursor
		}
		return nil
	})
	failed = append(failed, err)
	for i, err := range failed {
		if err != nil {
			failed[i] = errors.New(redact.New().Text(err.Error()))
		}
	}
	return errors.Join(failed...)
}
