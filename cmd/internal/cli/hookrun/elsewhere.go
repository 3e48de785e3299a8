package hookrun

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// mostExamined is the maximum number of repositories that a stop examines because a tool call named
// them, the ones named last first.
const mostExamined = 128

// elsewhere runs the event in the other repositories of the session, after it was handled here, and at
// the end of a turn finds others that the turn has changed.
func (h *hook) elsewhere(ctx context.Context, in workspace.Input) error {
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
	isNew := r.Turn.ID != s.TurnID
	if h.name == "user-prompt-submit" && isNew && len(r.Repositories) > 1 {
		t := s.Recorder.Turn
		r, err = machine.Update(ctx, h.session, func(r *session.MachineRecord) error {
			r.Turn = session.MachineTurn{ID: s.TurnID, Start: t.Start, Line: t.Line}
			return nil
		})
		if err != nil {
			return err
		}
	}
	in.Launched, in.Turn, in.TurnStart, in.TurnLine = r.Launched, s.TurnID, r.Turn.Start, r.Turn.Line
	failed := h.tellOthers(ctx, r, in, isNew)
	switch h.name {
	case "stop", "stop-failure":
		if len(s.Recorder.Elsewhere) > 0 {
			failed = errors.Join(failed, h.find(ctx, r, s.Recorder.Elsewhere, in), h.forgetElsewhere(ctx))
		}
		failed = errors.Join(failed, h.noteOthers(ctx, s.TurnID))
	case "session-end":
		failed = errors.Join(failed, machine.Remove(h.session))
	}
	return failed
}

// noteOthers records in the repositories that a turn changed which others it changed.
func (h *hook) noteOthers(ctx context.Context, turn string) error {
	r, found := h.app.Machine().Find(h.session)
	if !found || len(r.Repositories) < 2 {
		return nil
	}
	changed := strategy.ChangedIn(r, turn)
	if len(changed) < 2 { //nolint:mnd // there is no other one
		return nil
	}
	failed := make([]error, 0, len(changed))
	for _, o := range changed {
		repo, err := git.Discover(git.Locate{Dir: o.Root, Getenv: h.app.Getenv, Environ: childEnviron(h.app), Here: true})
		if err != nil {
			continue // it was moved or removed
		}
		w := h.app.Workspace(repo)
		failed = append(failed, strategy.NoteOthers(ctx, w, h.session, turn, changed), repo.Close())
	}
	return errors.Join(failed...)
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

// mostTold is the maximum number of other repositories in which a prompt begins a turn while the user
// waits.
const mostTold = 2

// tellOthers runs the event in the other repositories of a record. If there are many, a child begins a new
// turn there: a stop that comes first takes the turn as one that wasn't observed.
func (h *hook) tellOthers(ctx context.Context, r session.MachineRecord, in workspace.Input, isNew bool) error {
	root := ""
	if h.repo != nil {
		root = h.repo.Root
	}
	follow := strategy.Follow
	if others := len(r.Repositories); h.name == "user-prompt-submit" && others > mostTold+1 {
		if !isNew {
			return nil
		}
		self, err := os.Executable()
		if err == nil && h.app.Getenv("ENTIRE_NO_DETACH") != "1" {
			return proc.Detached{Path: self, Args: []string{"hooks", childFollow, h.session, root}, Dir: "/", Env: childEnviron(h.app)}.Start()
		}
	}
	return h.inOthers(ctx, r, root, in, follow)
}

// followPrompt begins the session's turn in its repositories except the one at root, as a child.
func (h *hook) followPrompt(ctx context.Context, id, root string) error {
	r, found := h.app.Machine().Find(id)
	if !found {
		return nil // the session has ended
	}
	h.session, h.name, h.inline = id, "user-prompt-submit", true
	return h.inOthers(ctx, r, root, workspace.Input{
		SessionID: id, Transcript: r.TranscriptPath, Agent: r.Agent, AgentType: r.AgentType, Launched: r.Launched,
		Turn: r.Turn.ID, TurnStart: r.Turn.Start, TurnLine: r.Turn.Line,
	}, func(ctx context.Context, w *workspace.Workspace, _ string, in workspace.Input) error {
		return strategy.FollowLate(ctx, w, in)
	})
}

// mostAtOnce is the maximum number of repositories in which an event runs at the same time.
const mostAtOnce = 4

// inOthers runs the event in the repositories of a record, except the one at root.
func (h *hook) inOthers(ctx context.Context, r session.MachineRecord, root string, in workspace.Input,
	follow func(ctx context.Context, w *workspace.Workspace, verb string, in workspace.Input) error,
) error {
	var roots []string
	byRoot := map[string]session.MachineRepository{}
	for _, o := range r.Repositories {
		if o.Root != root {
			roots, byRoot[o.Root] = append(roots, o.Root), o
		}
	}
	return h.inEach(ctx, roots, func(ctx context.Context, w *workspace.Workspace) error {
		if w.Repo.CommonDir != byRoot[w.Repo.Root].CommonDir {
			return nil // the folder is another repository's now
		}
		in := in
		in.Launched = strategy.LaunchedElsewhere(w, in.Launched)
		return follow(ctx, w, h.name, in)
	})
}

// inEach calls do for the worktrees at roots, some at the same time.
func (h *hook) inEach(ctx context.Context, roots []string, do func(ctx context.Context, w *workspace.Workspace) error) error {
	failed := make([]error, len(roots))
	slots := make(chan struct{}, mostAtOnce)
	if h.inline {
		slots = make(chan struct{}, 1)
	}
	var wait sync.WaitGroup
	for i, root := range roots {
		slots <- struct{}{}
		workspace.Guard(&wait, &failed[i], func() error {
			defer func() { <-slots }()
			return h.inRepository(ctx, root, do)
		})
	}
	wait.Wait()
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
	there := &hook{app: h.app, kind: h.kind, name: h.name, by: h.by, session: h.session, inline: h.inline, log: slog.New(slog.DiscardHandler)}
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
	var roots []string
	byRoot := map[string]session.Elsewhere{}
	for _, e := range slices.Backward(named) {
		_, known := byRoot[e.Root]
		if !known && len(roots) == mostExamined {
			continue
		}
		if !known {
			roots = append(roots, e.Root)
		}
		byRoot[e.Root] = e // of several turns that weren't looked at, the first
	}
	first, started := "", time.Time{}
	if h.repo != nil {
		if s, err := h.w.Sessions.Load(h.session); err == nil {
			first, started = s.FirstPrompt, s.StartedAt
		}
	}
	return h.inEach(ctx, roots, func(ctx context.Context, w *workspace.Workspace) error {
		isKnown := func(o session.MachineRepository) bool { return o.CommonDir == w.Repo.CommonDir }
		if slices.ContainsFunc(r.Repositories, isKnown) {
			return nil // the event reached it, or it is in another worktree
		}
		e := byRoot[w.Repo.Root]
		a := record.Arrival{Input: in, FirstPrompt: first, Started: started}
		a.Input.Turn, a.Input.TurnStart, a.Input.TurnLine = e.Turn, e.Start, e.Line
		a.Input.Launched = strategy.LaunchedElsewhere(w, r.Launched)
		has, err := strategy.Arrive(ctx, w, a, false)
		if err != nil || !has {
			return err
		}
		return strategy.Follow(ctx, w, h.name, a.Input)
	})
}

// mostRead is the number of bytes at the end of a transcript that are searched for other repositories at
// the stop of a session in a repository that isn't recorded.
const mostRead = 256 << 10

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
	if _, found := machine.Find(h.session); !found && inRepository {
		if h.name != "stop" && h.name != "stop-failure" {
			return nil
		}
		a, scan, err := strategy.LastTurn(ctx, in, mostRead)
		if err != nil {
			return nil //nolint:nilerr // there is no transcript
		}
		named := tracking.NamedRepositories("", scan)
		for i := range named {
			named[i].Turn, named[i].Start, named[i].Line = a.Input.Turn, a.Input.TurnStart, a.Input.TurnLine
		}
		return h.find(ctx, session.MachineRecord{Launched: a.Input.Launched}, named, in)
	}
	switch h.name {
	case "session-start", "user-prompt-submit":
		r, err := h.beginUnrecorded(ctx, machine, payload, in)
		if err != nil {
			return err
		}
		in.Launched, in.Turn, in.TurnStart, in.TurnLine = r.Launched, r.Turn.ID, r.Turn.Start, r.Turn.Line
		return h.tellOthers(ctx, r, in, true)
	case "post-tool":
		r, found := machine.Find(h.session)
		if !found {
			return nil
		}
		in.Launched, in.Turn, in.TurnStart, in.TurnLine = r.Launched, r.Turn.ID, r.Turn.Start, r.Turn.Line
		return h.tellOthers(ctx, r, in, true)
	case "stop", "stop-failure":
		return h.stopUnrecorded(ctx, machine, in)
	case "session-end":
		r, found := machine.Find(h.session)
		if !found {
			return nil
		}
		in.Launched, in.Turn, in.TurnStart, in.TurnLine = r.Launched, r.Turn.ID, r.Turn.Start, r.Turn.Line
		return errors.Join(h.tellOthers(ctx, r, in, true), machine.Remove(h.session))
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
	r, found := machine.Find(h.session)
	if !found {
		return nil // it has had no prompt
	}
	in.Launched, in.Turn, in.TurnStart, in.TurnLine = r.Launched, r.Turn.ID, r.Turn.Start, r.Turn.Line
	const parts = 4 // of the event, below
	failed := append(make([]error, 0, parts), h.tellOthers(ctx, r, in, true))
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
	_, err := machine.Update(ctx, h.session, func(r *session.MachineRecord) error {
		if r.Turn.ID == in.Turn {
			r.Turn.Active, r.Cursor = false, cursor
		}
		return nil
	})
	failed = append(failed, err, h.noteOthers(ctx, in.Turn))
	for i, err := range failed {
		if err != nil {
			failed[i] = errors.New(redact.New().Text(err.Error()))
		}
	}
	return errors.Join(failed...)
}
