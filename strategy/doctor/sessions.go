package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// silence is the time after which a turn without any activity counts as abandoned if the
	// agent's process isn't known: a build, or a question for permission, takes hours.
	silence = 6 * time.Hour
	// grace is the time that a hook's child has for its work.
	grace = 10 * time.Minute
)

// stuck finds turns that no stop will end, and pending files of sessions that ended.
func (sc sessionChecks) stuck(ctx context.Context) ([]Finding, error) {
	var list []Finding
	for _, s := range sc.states {
		switch {
		case s.Phase == session.Active:
			if why, ok := sc.abandoned(s); ok {
				f := Finding{
					Code: StuckSession, Severity: Warning, Subject: s.ID,
					What: "a turn of the session never ended: " + why,
					Why:  "its last changes are in no checkpoint yet",
					Fix:  "end the turn and save its changes",
				}
				ids := workspace.IncompleteCheckpoints(s)
				f.Repair = sc.of(ctx, s, ids, func(ctx context.Context) error {
					return sc.ifStuck(s.ID, func() error {
						return sc.in(s, func(there *workspace.Workspace) error { return record.EndTurn(ctx, there, s.ID) })
					})
				})
				if !isDir(sc.rootOf(s)) {
					f.Why = "its worktree " + s.WorktreePath + " no longer exists, and neither do its last changes"
					f.Fix = "mark the session as ended; its earlier checkpoints are kept"
					f.Repair = sc.of(ctx, s, ids, func(ctx context.Context) error {
						return sc.ifStuck(s.ID, func() error { return record.EndSession(ctx, sc.w, s.ID) })
					})
				}
				list = append(list, f)
			}
		case s.Phase == session.Ended && len(s.FilesTouched) > 0:
			list = append(list, Finding{
				Code: PendingSession, Severity: Note, Subject: s.ID,
				What: "the session ended with " + plain.Plural(len(s.FilesTouched), "file") + " not committed",
				Why:  "the next commit of " + some(s.FilesTouched) + " is linked to it",
			})
		}
	}
	return list, nil
}

// abandoned reports whether a running turn will never stop, and the reason.
func (sc sessionChecks) abandoned(s *session.State) (string, bool) {
	agent, now := s.Recorder.Agent, sc.w.Env.Now()
	if agent.PID != 0 {
		return "its agent has exited", !sc.w.Env.Alive(agent.PID, agent.Start)
	}
	// Hooks, the transcript, subagents' transcripts and the session's own snapshots show that the
	// session is active.
	sign := s.LastActive()
	see := func(t time.Time) {
		if t.After(sign) {
			sign = t
		}
	}
	paths := []string{s.TranscriptPath}
	dir := filepath.Join(strings.TrimSuffix(s.TranscriptPath, ".jsonl"), "subagents")
	if entries, err := os.ReadDir(dir); err == nil {
		for _, entry := range entries {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && path != "" {
			see(info.ModTime())
		}
	}
	see(sc.lastSnapshot(s))
	return fmt.Sprintf("no activity for %d hours", int(now.Sub(sign).Hours())), now.Sub(sign) > silence
}

// lastSnapshot returns the time of the newest of the session's own snapshots, if it is among the
// last 50 of its worktree: snapshots of other sessions prove nothing.
func (sc sessionChecks) lastSnapshot(s *session.State) time.Time {
	const most = 50
	store, err := bands.Open(tracking.StoreDir(sc.w))
	if err != nil {
		return time.Time{}
	}
	for snap := range store.Lineage(checkpoint.WorktreeHash(s.WorktreeID)).Recent(most) {
		if snap.Causality.Session == s.ID {
			return snap.Created
		}
	}
	return time.Time{}
}

// ifStuck calls do if the session is still stuck: the user may have continued it before answering a
// question.
func (sc sessionChecks) ifStuck(id string, do func() error) error {
	s, err := sc.w.Sessions.Load(id)
	if err != nil || s.Phase != session.Active {
		return err
	}
	if _, ok := sc.abandoned(s); !ok {
		return nil
	}
	return do()
}

// unfinishedTurns finds checkpoints that should have been completed when a turn ended.
func (sc sessionChecks) unfinishedTurns(ctx context.Context) ([]Finding, error) {
	var list []Finding
	for _, s := range sc.states {
		ids := workspace.IncompleteCheckpoints(s)
		if s.Phase == session.Active || s.Recorder.Background || len(ids) == 0 || sc.w.Env.Now().Sub(s.LastActive()) < grace {
			continue
		}
		f := Finding{
			Code: UnfinishedTurn, Severity: Warning, Subject: s.ID,
			What: "a turn ended, but its checkpoints are incomplete: " + some(ids),
			Why:  "they lack the end of the conversation",
			Fix:  "complete them from the transcript",
		}
		f.Repair = sc.of(ctx, s, ids, func(ctx context.Context) error {
			return sc.in(s, func(there *workspace.Workspace) error { return strategy.CompleteTurn(ctx, there, s.ID) })
		})
		if !isDir(sc.rootOf(s)) {
			f.Repair.Do = func(ctx context.Context) error { return strategy.CompleteTurn(ctx, sc.w, s.ID) }
		}
		list = append(list, f)
	}
	return list, nil
}

// damaged finds states that can't be read or have unknown values.
func (sc sessionChecks) damaged(ctx context.Context) ([]Finding, error) {
	var list []Finding
	for _, err := range sc.bad {
		b, _ := errors.AsType[*session.StateError](err)
		path := filepath.Join(sc.w.Sessions.Dir(), b.ID+".json")
		f := Finding{
			Code: DamagedState, Severity: Error, Subject: b.ID,
			What: "the session's state can't be read",
			Why:  "commits of its files are not linked to it until it continues",
		}
		if errors.Is(b, session.ErrCorrupt) {
			f.Fix = "move it aside; the next prompt rebuilds it from the transcript"
			f.Repair = &Repair{Files: append(sc.sessionFiles(b.ID), path+".corrupt"), Do: func(ctx context.Context) error {
				return sc.w.WithLock(ctx, func() error {
					if _, err := sc.w.Sessions.Load(b.ID); !errors.Is(err, session.ErrCorrupt) {
						return nil // repaired meanwhile
					}
					_, err := sc.w.Sessions.SetAside(b.ID)
					return err
				})
			}}
		} else {
			f.What, f.Hint = "the session's state can't be read: "+b.Error(), "see "+path
		}
		list = append(list, f)
	}
	for _, s := range sc.states {
		if phase, ok := sc.unknownPhase(s); ok {
			list = append(list, Finding{
				Code: UnknownPhase, Severity: Warning, Subject: s.ID,
				What: fmt.Sprintf("the session's state has the unknown phase %.40q", phase),
				Why:  "the session is treated as idle",
				Fix:  "set the phase to idle",
				Repair: sc.of(ctx, s, nil, func(ctx context.Context) error {
					return sc.w.WithLock(ctx, func() error {
						now, err := sc.w.Sessions.Load(s.ID)
						if err != nil {
							return err
						}
						return sc.w.Sessions.Save(now)
					})
				}),
			})
		}
	}
	return list, ctx.Err()
}

// unknownPhase reads the phase from the file, undecoded.
func (sc sessionChecks) unknownPhase(s *session.State) (string, bool) {
	var raw struct {
		Phase string `json:"phase"`
	}
	data, err := disk.ReadFile(filepath.Join(sc.w.Sessions.Dir(), s.ID+".json"))
	if err != nil || json.Unmarshal(data, &raw) != nil {
		return "", false
	}
	switch raw.Phase {
	case "", "idle", "active", "active_committed", "ended":
		return "", false
	default:
		return raw.Phase, true
	}
}

// lostSideFiles finds side files that are shorter than the states record.
func (sc sessionChecks) lostSideFiles(_ context.Context) ([]Finding, error) {
	var list []Finding
	for _, s := range sc.states {
		var lost []string
		if errors.Is(sc.w.Sessions.SideOf(s, session.PromptsKind).Check(s.Recorder.Prompts), session.ErrCorrupt) {
			lost = append(lost, "prompts")
		}
		if errors.Is(sc.w.Sessions.SideOf(s, session.UsageKind).Check(s.Recorder.Usage), session.ErrCorrupt) {
			lost = append(lost, "token counts")
		}
		if len(lost) > 0 {
			list = append(list, Finding{
				Code: SideFileLost, Severity: Note, Subject: s.ID,
				What: "a file of the session's state is missing or truncated: " + some(lost),
				Why:  "the next hook of the session reads its transcript again",
			})
		}
		if errors.Is(sc.w.Sessions.SideOf(s, session.StepsKind).Check(s.Recorder.Steps), session.ErrCorrupt) {
			list = append(list, Finding{
				Code: SideFileLost, Severity: Note, Subject: s.ID,
				What: "the contents of the session's files after each turn are lost",
				Why:  "the next commit's lines are attributed less exactly",
			})
		}
	}
	return list, nil
}
