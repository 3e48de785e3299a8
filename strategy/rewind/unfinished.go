package rewind

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Steps that follow the files of a rewind, recorded in the Follow field of its turn.
const (
	// followTruncate truncates the transcript of the target's session.
	followTruncate = "cut-conversation"
	// followRestore restores the transcripts that were replaced after the target.
	followRestore = "put-back-conversations"
	// followSessions aligns the sessions with the files of a rewind or an undo,
	// followSessionsRedo with those of a redo, if no conversation is affected.
	followSessions     = "align-sessions"
	followSessionsRedo = "align-sessions-redo"
	// pathsSuffix is appended to either if only the turn's paths are to be aligned.
	pathsSuffix = "-of-paths"
)

// withoutConversation returns the step that follows the files if no conversation is affected.
func withoutConversation(op bands.Operation, paths []string) string {
	follow := followSessions
	if op == bands.OpRedo {
		follow = followSessionsRedo
	}
	if len(paths) > 0 {
		return follow + pathsSuffix
	}
	return follow
}

// Unfinished is an operation that was stopped after it restored the files: a rewind that had
// not changed the conversation yet, an undo that had not restored every transcript, or either
// with sessions that aren't aligned with the files.
type Unfinished struct {
	Target bands.Version
	// Name is the argument of --to for it.
	Name string
	// Sessions reports whether only the sessions are left to be aligned.
	Sessions bool
	// Op is bands.OpRestore for a rewind, else the undo or redo.
	Op bands.Operation

	rescue bands.Version
	paths  []string // restored, if not everything
}

// Explain returns what happened, and which command resolves it.
func (u Unfinished) Explain() (what, hint string) {
	if u.Sessions {
		const left = "the files are restored, but the sessions are not updated"
		if u.Op == bands.OpRestore {
			return fmt.Sprintf("the rewind to %s was interrupted: %s", u.Name, left),
				"`entire undo` undoes it, `entire rewind --to " + u.Name + "` completes it"
		}
		return fmt.Sprintf("the %s of a rewind was interrupted: %s", u.Op, left), "`entire " + string(u.Op) + "` completes it"
	}
	if u.Op == bands.OpRestore {
		return fmt.Sprintf("the rewind to %s was interrupted: the files are restored, but not the conversation", u.Name),
			"`entire undo` undoes it, `entire rewind --to " + u.Name + " --conversation` completes it"
	}
	return fmt.Sprintf("the %s of a rewind was interrupted: the files are restored, but not the conversation", u.Op),
		"`entire " + string(u.Op) + "` completes it"
}

// FindUnfinished returns the last rewind of a worktree if it was stopped between its files and
// its conversation or sessions; false while its process runs, and once the conversation, or
// one of the worktree, has continued.
func FindUnfinished(store *bands.Store, sessions *session.Store, worktreeID string) (stopped Unfinished, found bool) {
	lineage := checkpoint.WorktreeHash(worktreeID)
	past, err := bands.ReadHistory(store, lineage)
	if _, files := bands.InterruptedRestore(store, lineage); err != nil || files {
		return stopped, false
	}
	turn, op, found := past.Last()
	if !found || turn.Follow == "" || turn.PID != os.Getpid() && proc.Alive(turn.PID, turn.Start) {
		return stopped, false
	}
	if kept, err := tracking.ReadSessionsBefore(store, turn.Rescue); err != nil || kept.Completed {
		return stopped, false
	}
	stopped = Unfinished{Target: turn.Target, Name: tracking.TargetName(store, turn.Target), Op: op, rescue: turn.Rescue}
	switch follow, some := strings.CutSuffix(turn.Follow, pathsSuffix); follow {
	case followSessions, followSessionsRedo:
		stopped.Sessions = true
		if some {
			stopped.paths = turn.Paths
		}
		if follow == followSessionsRedo {
			stopped.Op = bands.OpRedo
		}
		// Once a session of the worktree has continued, its stop finds the changes of its
		// turn.
		states, _ := sessions.All()
		return stopped, !slices.ContainsFunc(states, func(s *session.State) bool {
			info, err := os.Stat(s.TranscriptPath)
			return s.WorktreeID == worktreeID && err == nil && info.ModTime().After(turn.At)
		})
	}
	if turn.Follow == followTruncate {
		target, err := store.Snapshot(turn.Target)
		if err != nil {
			return stopped, false
		}
		info, err := os.Stat(target.Causality.TranscriptPath)
		return stopped, err == nil && !info.ModTime().After(turn.At)
	}
	if op == bands.OpRestore {
		stopped.Op = bands.OpRedo
	}
	convs, err := ReplacedConversations(store, turn.Target)
	return stopped, err == nil && slices.ContainsFunc(convs, func(t Conversation) bool { return t.Changed })
}

// unfinished returns FindUnfinished of this worktree.
func unfinished(w *workspace.Workspace, store *bands.Store) (Unfinished, bool) {
	return FindUnfinished(store, w.Sessions, w.Repo.WorktreeID)
}

// finish completes an operation that was stopped after its files: it aligns the sessions, and
// restores the transcripts of an undo or redo. It returns that undo or redo, empty if there
// was none. Cutting a conversation back is left to the caller.
func finish(ctx context.Context, w *workspace.Workspace, store *bands.Store) (op bands.Operation, done Rewound, err error) {
	stopped, found := unfinished(w, store)
	if !found || stopped.Op == bands.OpRestore && !stopped.Sessions {
		return "", done, nil
	}
	if done, err = finishSessions(ctx, w, store, stopped); err != nil {
		return "", done, err
	}
	if stopped.Op == bands.OpRestore {
		return "", done, MarkCompleted(store, stopped.rescue)
	}
	if done.Conversations, err = UndoConversations(ctx, w, stopped.Target, stopped.rescue); err != nil {
		return "", done, err
	}
	return stopped.Op, done, MarkCompleted(store, stopped.rescue)
}

// finishSessions aligns the sessions with the files of an unfinished rewind.
func finishSessions(ctx context.Context, w *workspace.Workspace, store *bands.Store, stopped Unfinished) (done Rewound, err error) {
	if done.Target, err = store.Snapshot(stopped.Target); err != nil {
		return done, err
	}
	if done.Rescue, err = store.Snapshot(stopped.rescue); err != nil {
		return done, err
	}
	done.Origin, done.Op = stopped.rescue, stopped.Op
	done.Sessions, err = realign(ctx, w, store, done.Result, stopped.paths)
	return done, err
}

// followUp returns the step that follows the files of an undo or redo.
func followUp(w *workspace.Workspace, store *bands.Store, op bands.Operation, paths []string) string {
	past, err := bands.ReadHistory(store, tracking.Lineage(w))
	if _, unfinished := bands.InterruptedRestore(store, tracking.Lineage(w)); err != nil || unfinished {
		return "" // reverting it adds no turn, completing it uses its own
	}
	turns := past.Undo
	if op == bands.OpRedo {
		turns = past.Redo
	}
	if len(turns) == 0 {
		return ""
	}
	if kept, err := tracking.ReadSessionsBefore(store, turns[len(turns)-1].Rescue); err != nil || len(kept.Transcripts) == 0 || len(paths) > 0 {
		return withoutConversation(op, paths)
	}
	return followRestore
}
