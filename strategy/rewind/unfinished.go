package rewind

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/history"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/conversation"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
)

// What follows the files of a rewind, in bands.Turn.
const (
	// followTruncate cuts the transcript of the target's session back.
	followTruncate = "cut-conversation"
	// followRestore puts back the transcripts that were replaced after the target.
	followRestore = "put-back-conversations"
	// followSessions makes the sessions agree with the files of a rewind or an undo,
	// followRedone with those of a redo, where no conversation is concerned.
	followSessions     = "align-sessions"
	followSessionsRedo = "align-sessions-redo"
	// pathsSuffix ends either where only the turn's paths count for the sessions.
	pathsSuffix = "-of-paths"
)

// withoutConversation is what follows files where no conversation is concerned.
func withoutConversation(op history.Operation, paths []string) string {
	follow := followSessions
	if op == history.OpRedo {
		follow = followSessionsRedo
	}
	if len(paths) > 0 {
		return follow + pathsSuffix
	}
	return follow
}

// Unfinished is a rewind of whose conversation nothing was changed before it was
// stopped, an undo that has not put back every transcript, or either where the
// sessions don't agree with the files. The files are restored.
type Unfinished struct {
	Target bands.Version
	// Name is what --to takes for it.
	Name string
	// Sessions reports whether only the sessions are left to be aligned.
	Sessions bool
	// Op is bands.OpRestore if the conversation was to be cut back, else what was to
	// put transcripts back.
	Op history.Operation

	rescue bands.Version
	paths  []string // restored, if not everything
}

// Explain returns what happened, and which command ends it.
func (u Unfinished) Explain() (what, hint string) {
	if u.Sessions {
		const left = "the files are restored, the sessions don't agree with them yet"
		if u.Op == history.OpRestore {
			return fmt.Sprintf("the rewind to %s was interrupted: %s", u.Name, left),
				"`entire rewind --undo` takes it back, `entire rewind --to " + u.Name + "` completes it"
		}
		return fmt.Sprintf("the %s of a rewind was interrupted: %s", u.Op, left), "`entire rewind --" + string(u.Op) + "` completes it"
	}
	if u.Op == history.OpRestore {
		return fmt.Sprintf("the rewind to %s was interrupted: the files are restored, the conversation is not cut back", u.Name),
			"`entire rewind --undo` takes it back, `entire rewind --to " + u.Name + " --conversation` completes it"
	}
	return fmt.Sprintf("the %s of a rewind was interrupted: the files are restored, the conversation is not put back", u.Op),
		"`entire rewind --" + string(u.Op) + "` completes it"
}

// FindUnfinished returns the last rewind of a worktree if it was stopped between its
// files and its conversation or sessions; false while its process is at work, and
// once the conversation, or one of the worktree, went on.
func FindUnfinished(store *bands.Store, sessions *session.Store, worktreeID string) (stopped Unfinished, found bool) {
	lineage := checkpoint.WorktreeHash(worktreeID)
	past, err := history.Read(store, lineage)
	if _, files := history.Interrupted(store, lineage); err != nil || files {
		return stopped, false
	}
	turn, op, found := past.Last()
	if !found || turn.Follow == "" || turn.PID != os.Getpid() && proc.Alive(turn.PID, turn.Start) {
		return stopped, false
	}
	if kept, err := rewindstate.ReadSessionsBefore(store, turn.Rescue); err != nil || kept.Completed {
		return stopped, false
	}
	stopped = Unfinished{Target: turn.Target, Name: rewindstate.TargetName(store, turn.Target), Op: op, rescue: turn.Rescue}
	switch follow, some := strings.CutSuffix(turn.Follow, pathsSuffix); follow {
	case followSessions, followSessionsRedo:
		stopped.Sessions = true
		if some {
			stopped.paths = turn.Paths
		}
		if follow == followSessionsRedo {
			stopped.Op = history.OpRedo
		}
		// Once a session of the worktree went on, its stop finds what its turn changes.
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
	if op == history.OpRestore {
		stopped.Op = history.OpRedo
	}
	convs, err := conversation.ReplacedConversations(store, turn.Target)
	return stopped, err == nil && slices.ContainsFunc(convs, func(t conversation.Conversation) bool { return t.Changed })
}

// unfinished returns FindUnfinished of this worktree.
func (f *Finisher) unfinished(store *bands.Store) (Unfinished, bool) {
	return FindUnfinished(store, f.Sessions, f.Repo.WorktreeID)
}

// finish ends what was stopped after its files: the sessions agree with them, and
// the transcripts of an undo or redo are put back. The operation is that undo or redo,
// empty if there was none. Whether a conversation is cut back depends on what follows.
func (f *Finisher) finish(ctx context.Context, store *bands.Store) (op history.Operation, done Rewound, err error) {
	stopped, found := f.unfinished(store)
	if !found || stopped.Op == history.OpRestore && !stopped.Sessions {
		return "", done, nil
	}
	if done, err = f.finishSessions(ctx, store, stopped); err != nil {
		return "", done, err
	}
	if stopped.Op == history.OpRestore {
		return "", done, conversation.MarkCompleted(store, stopped.rescue)
	}
	if done.Conversations, err = f.conversations.UndoConversations(ctx, stopped.Target, stopped.rescue); err != nil {
		return "", done, err
	}
	return stopped.Op, done, conversation.MarkCompleted(store, stopped.rescue)
}

// finishSessions aligns the sessions with the files of an unfinished rewind.
func (f *Finisher) finishSessions(ctx context.Context, store *bands.Store, stopped Unfinished) (done Rewound, err error) {
	if done.Target, err = store.Snapshot(stopped.Target); err != nil {
		return done, err
	}
	if done.Rescue, err = store.Snapshot(stopped.rescue); err != nil {
		return done, err
	}
	done.Origin, done.Op = stopped.rescue, stopped.Op
	done.Sessions, err = f.aligner.realign(ctx, store, done.Result, stopped.paths)
	return done, err
}

// followUp is what an undo or redo has to do once the files are restored.
func (f *Finisher) followUp(store *bands.Store, op history.Operation, paths []string) string {
	past, err := history.Read(store, f.snapshots.Lineage())
	if _, unfinished := history.Interrupted(store, f.snapshots.Lineage()); err != nil || unfinished {
		return "" // what takes it back adds no turn, what completes it has one
	}
	turns := past.Undo
	if op == history.OpRedo {
		turns = past.Redo
	}
	if len(turns) == 0 {
		return ""
	}
	if kept, err := rewindstate.ReadSessionsBefore(store, turns[len(turns)-1].Rescue); err != nil || len(kept.Transcripts) == 0 || len(paths) > 0 {
		return withoutConversation(op, paths)
	}
	return followRestore
}
