package record

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// agentSession returns the session whose agent makes this commit, if an agent does: the agent's
// mark is in the environment, and the session that it names is at work or left tasks running; or
// without a mark, the agent's process is an ancestor of this one. An
// editor or a shell that the agent once started has the mark, too. Therefore the session must be
// known, and busy or in the commit of its turn.
func agentSession(w *workspace.Workspace, here []*session.State) (*session.State, bool) {
	callers := agent.Callers(w.Env.Getenv)
	if len(callers) == 0 {
		return sessionOfProcess(w, here)
	}
	if id := agent.CallingSession(w.Env.Getenv); id != "" {
		for _, s := range here {
			if s.ID == id {
				return s, inTurn(w, s)
			}
		}
		s, err := w.Sessions.Load(id)
		if err == nil || !slices.ContainsFunc(callers, agent.Agent.NamesSubagents) {
			return s, err == nil && inTurn(w, s)
		}
	}
	var active []*session.State
	for _, s := range here {
		if s.Phase == session.Active && slices.ContainsFunc(callers, func(a agent.Agent) bool { return a.Label == agent.Of(s.AgentType).Label }) {
			active = append(active, s)
		}
	}
	if len(active) != 1 {
		return nil, false
	}
	return active[0], true
}

// sessionOfProcess returns the session at work whose agent's process started git, if it is known.
func sessionOfProcess(w *workspace.Workspace, here []*session.State) (*session.State, bool) {
	isBusy := func(s *session.State) bool { return s.Recorder.Agent.Start != 0 && workspace.IsBusy(s) }
	if w.Env.Ancestors == nil || !slices.ContainsFunc(here, isBusy) {
		return nil, false
	}
	for _, p := range w.Env.Ancestors() {
		for _, s := range here {
			if isBusy(s) && s.Recorder.Agent == (session.Process{PID: p.PID, Start: p.Start}) {
				return s, true
			}
		}
	}
	return nil, false
}

// inTurn reports whether a commit by the session's agent belongs to its turn: a turn is running,
// even if its prompt could not be recorded in the state, or is being committed.
func inTurn(w *workspace.Workspace, s *session.State) bool {
	if workspace.IsBusy(s) || w.IsTurnCommitOf(s) {
		return true
	}
	tracking.BeginLate(w, s)
	_, prompted := tracking.PromptTime(w, s.ID)
	return prompted
}

// SharesOf decides which sessions a commit belongs to, and which of its files are each session's.
// amended is the tree of the commit that it amends, "" if it amends none.
func SharesOf(ctx context.Context, w *workspace.Workspace, here []*session.State, changes tracking.CommitChanges, amended git.OID) ([]tracking.Share, error) {
	var shares []tracking.Share
	files := authorship.NewCreated(w, changes, here)
	files.Amended = amended
	calling, byAgent := agentSession(w, here)
	if byAgent {
		own, err := agentFiles(ctx, w, calling, files)
		if err != nil {
			return nil, err
		}
		shares = append(shares, own)
	}
	alone := !byAgent && !agent.IsCalling(w.Env.Getenv) && !w.Env.Terminal()
	for _, s := range workspace.NewestFirst(here) {
		if byAgent && s.ID == calling.ID || !session.MayCondense(s) {
			continue
		}
		var share tracking.Share
		var err error
		if alone && s.Phase == session.Active {
			share, err = writtenFiles(ctx, w, s, files)
		} else {
			share, err = overlap(ctx, w, s, files)
		}
		if err != nil {
			return nil, err
		}
		if len(share.Files) > 0 {
			shares = append(shares, share)
		}
	}
	return shares, nil
}

// overlap returns the session's pending files that a commit contains, and for a session at work
// those that its running turn has changed so far. A file counts if the parent has it, or if it is the
// running turn's. Another file counts if it is the session's share, or if a pre-commit hook has just
// formatted it.
func overlap(ctx context.Context, w *workspace.Workspace, s *session.State, files *authorship.Created) (tracking.Share, error) {
	share := tracking.Share{Session: s.ID}
	pending := slices.Concat(s.FilesTouched, s.Recorder.Withheld)
	slices.Sort(pending)
	var inTurn map[string]bool
	if s.Phase == session.Active {
		ch, err := turnSoFar(ctx, w, s)
		if err != nil {
			return share, err
		}
		inTurn = writtenBy(ch, files)
		pending = slices.Compact(slices.Sorted(slices.Values(slices.Concat(pending, slices.Collect(maps.Keys(inTurn))))))
	}
	for _, p := range pending {
		c, ok := files.Changes[p]
		if !ok {
			continue
		}
		counts := c.OldMode != 0 || inTurn[p]
		if !workspace.ContainsPath(s.FilesTouched, p) && !inTurn[p] { // it is withheld
			has, err := files.HasLines(ctx, s, p)
			if err != nil {
				return share, err
			}
			if has {
				share.Files = append(share.Files, p)
			}
			continue
		}
		if !counts {
			var err error
			if counts, err = files.IsShare(ctx, s, p); err != nil {
				return share, err
			}
		}
		if !counts {
			// A file that changed after git began to make this commit was changed by a pre-commit
			// hook, not by a person. Both clocks are inexact by some hundredths of a second.
			const margin = 30 * time.Millisecond
			if caller, ok := w.Env.Caller(); ok {
				age, ok := caller.Age()
				info, err := os.Lstat(filepath.Join(w.Repo.Root, filepath.FromSlash(p)))
				counts = ok && err == nil && disk.Changed(info).After(w.Env.Now().Add(-age).Add(margin))
			}
		}
		if counts {
			share.Files = append(share.Files, p)
		}
	}
	return share, files.AddRenamed(ctx, s, &share)
}

// writtenFiles returns the files of a commit that the session's running turn has changed, and files
// pending from earlier turns that count.
func writtenFiles(ctx context.Context, w *workspace.Workspace, s *session.State, files *authorship.Created) (tracking.Share, error) {
	ch, err := turnSoFar(ctx, w, s)
	if err != nil {
		return tracking.Share{Session: s.ID}, err
	}
	return shareOf(ctx, s, ch, files)
}

// shareOf returns the files of a commit that a turn of the session changed, and files pending from
// earlier turns that count.
func shareOf(ctx context.Context, s *session.State, ch *tracking.TurnChanges, files *authorship.Created) (tracking.Share, error) {
	share := tracking.Share{Session: s.ID}
	written := writtenBy(ch, files)
	for p, c := range files.Changes {
		counts := written[p] || c.OldMode != 0 && workspace.ContainsPath(s.FilesTouched, p)
		if !counts && workspace.ContainsPath(s.FilesTouched, p) {
			var err error
			if counts, err = files.IsShare(ctx, s, p); err != nil {
				return share, err
			}
		}
		if counts {
			share.Files = append(share.Files, p)
		}
	}
	slices.Sort(share.Files)
	return share, files.AddRenamed(ctx, s, &share)
}

// turnSoFar returns the changes of the session's running turn, as its transcript shows them now.
func turnSoFar(ctx context.Context, w *workspace.Workspace, s *session.State) (*tracking.TurnChanges, error) {
	so, to, err := tracking.TurnSoFar(ctx, w, s)
	if err != nil {
		return nil, err
	}
	so.Timed = so.Timed || s.Recorder.Launched != ""
	return &tracking.TurnChanges{Repo: w.Repo, Turn: so, Named: w.RelativePaths(so.Edits), Work: tracking.WorkOf(ctx, w, s, to, so, nil)}, nil
}

// writtenBy returns the files of a commit that a running turn has changed, as a stop would find them.
func writtenBy(ch *tracking.TurnChanges, files *authorship.Created) map[string]bool {
	written := map[string]bool{}
	for p := range files.Changes {
		is := ch.Named[p]
		if !is && len(ch.Turn.Calls) > 0 {
			is, _ = ch.Judge(p)
		}
		if is {
			written[p] = true
		}
	}
	return written
}

// agentFiles returns the files that an agent has changed in its own commit: those that its edit
// tools named, pending files that count, and those that were removed, or changed since the turn began,
// by a call that the transcript may not have yet.
func agentFiles(ctx context.Context, w *workspace.Workspace, s *session.State, files *authorship.Created) (tracking.Share, error) {
	ch, err := turnSoFar(ctx, w, s)
	if err != nil {
		return tracking.Share{Session: s.ID}, err
	}
	share, err := shareOf(ctx, s, ch, files)
	if err != nil {
		return share, err
	}
	named := share.Files
	start := s.Recorder.Turn.Start
	for p, c := range files.Changes {
		if workspace.ContainsPath(named, p) {
			continue
		}
		changed := c.New == "" || c.NewMode == 0
		if !changed {
			info, err := os.Lstat(filepath.Join(w.Repo.Root, filepath.FromSlash(p)))
			changed = err == nil && !start.IsZero() && !disk.Changed(info).Before(start) && !ch.IsShown(p)
		}
		if changed {
			share.Files = append(share.Files, p)
		}
	}
	slices.Sort(share.Files)
	return share, nil
}
