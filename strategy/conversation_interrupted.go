package strategy

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// What follows the files of a rewind, in bands.Turn.
const (
	// followCut cuts the transcript of the target's session back.
	followCut = "cut-conversation"
	// followPutBack puts back the transcripts that were replaced after the target.
	followPutBack = "put-back-conversations"
)

// StoppedTalk is a rewind of whose conversation nothing was changed before it was
// stopped, or an undo that has not put back every transcript. The files are restored.
type StoppedTalk struct {
	Target bands.Version
	// Op is bands.OpRestore if the conversation was to be cut back, else what was to
	// put transcripts back.
	Op bands.Operation

	rescue bands.Version
}

// Explain returns what happened, and which command ends it.
func (s StoppedTalk) Explain() (what, hint string) {
	if s.Op == bands.OpRestore {
		return fmt.Sprintf("the rewind to %s was interrupted: the files are restored, the conversation is not cut back", s.Target),
			"`entire rewind --undo` takes it back, `entire rewind --to " + s.Target.String() + " --conversation` completes it"
	}
	return fmt.Sprintf("the %s of a rewind was interrupted: the files are restored, the conversation is not put back", s.Op),
		"`entire rewind --" + string(s.Op) + "` completes it"
}

// InterruptedTalk returns the last rewind of a lineage if it was stopped between its
// files and its conversation; false while its process is at work, and once the
// conversation went on.
func InterruptedTalk(store *bands.Store, lineage string) (stopped StoppedTalk, found bool) {
	past, err := store.History(lineage)
	if _, files := store.Interrupted(lineage); err != nil || files {
		return stopped, false
	}
	turn, op, found := past.Last()
	if !found || turn.Follow == "" || turn.PID != os.Getpid() && proc.Alive(turn.PID, turn.Start) {
		return stopped, false
	}
	if kept, err := readPast(store, turn.Rescue); err != nil || kept.Followed {
		return stopped, false
	}
	stopped = StoppedTalk{Target: turn.Target, Op: op, rescue: turn.Rescue}
	if turn.Follow == followCut {
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
	talks, err := replacedConversations(store, turn.Target)
	return stopped, err == nil && slices.ContainsFunc(talks, func(t Talk) bool { return t.Changed })
}

// finishTalk ends an undo or redo that was stopped after its files: the sessions
// agree with them, and the transcripts are put back. The operation is empty if there
// was none.
func (r *Recorder) finishTalk(ctx context.Context, store *bands.Store) (op bands.Operation, done Rewound, err error) {
	stopped, found := InterruptedTalk(store, r.Lineage())
	if !found || stopped.Op == bands.OpRestore {
		return "", done, nil
	}
	if done, err = r.finishSessions(ctx, store, stopped); err != nil {
		return "", done, err
	}
	if done.Talks, err = r.undoConversations(ctx, stopped.Target, stopped.rescue); err != nil {
		return "", done, err
	}
	return stopped.Op, done, endFollow(store, stopped.rescue)
}

// finishCut reports whether a rewind to a point only has to end one that was stopped
// after its files, which are still those of the point.
func (r *Recorder) finishCut(ctx context.Context, store *bands.Store, p Point, o RewindOptions) (done Rewound, finished bool, err error) {
	stopped, found := InterruptedTalk(store, r.Lineage())
	if !found || !o.Conversation || stopped.Op != bands.OpRestore || stopped.Target != p.Snapshot {
		return done, false, nil
	}
	plan, err := r.PreviewRewind(ctx, p, o)
	if err != nil || !plan.Empty() {
		return done, false, err
	}
	done, err = r.finishSessions(ctx, store, stopped)
	done.Plan = plan
	return done, true, err
}

// finishSessions lets the sessions agree with the files of a stopped rewind.
func (r *Recorder) finishSessions(ctx context.Context, store *bands.Store, stopped StoppedTalk) (done Rewound, err error) {
	if done.Target, err = store.Snapshot(stopped.Target); err != nil {
		return done, err
	}
	if done.Rescue, err = store.Snapshot(stopped.rescue); err != nil {
		return done, err
	}
	done.Origin = stopped.rescue
	done.Sessions, err = r.realign(ctx, store, done.Restored, nil)
	return done, err
}

// followOf is what an undo or redo has to do once the files are restored.
func (r *Recorder) followOf(store *bands.Store, op bands.Operation, paths []string) string {
	past, err := store.History(r.Lineage())
	if _, interrupted := store.Interrupted(r.Lineage()); err != nil || interrupted || len(paths) > 0 {
		return ""
	}
	turns := past.Undo
	if op == bands.OpRedo {
		turns = past.Redo
	}
	if len(turns) == 0 {
		return ""
	}
	if kept, err := readPast(store, turns[len(turns)-1].Rescue); err != nil || len(kept.Transcripts) == 0 {
		return ""
	}
	return followPutBack
}

// endFollow notes beside a rescue that all of its rewind has been done.
func endFollow(store *bands.Store, rescue bands.Version) error {
	p, err := readPast(store, rescue)
	if err != nil || p.Followed {
		return err
	}
	p.Followed = true
	return writePast(store, rescue, p)
}
