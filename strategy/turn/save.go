package turn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// SaveTurn makes the shadow checkpoint of a turn and forgets the turn.
func (tu *Turns) SaveTurn(ctx context.Context, s *session.State, n *tracking.Pending, in workspace.Input) error {
	n.Prompted, _ = tu.marks.PromptTime(s.ID)
	tu.marks.BeginLate(s)
	seen, err := tu.observer.observe(ctx, s, n, in)
	if err != nil {
		return err
	}
	if in.Summary != "" {
		if s.Recorder.Turn.Summary, err = tu.RedactText(ctx, in.Summary); err != nil {
			return err
		}
		if said := workspace.Digest(in.Summary); s.Recorder.Said != said {
			s.Recorder.Expect = said
		}
	}
	changes, err := tu.observer.newChanges(s, seen)
	if err != nil {
		return err
	}
	touched, err := changes.take(ctx, s, seen)
	if err != nil {
		return err
	}
	tu.shadows.markShared(ctx, s, touched, changes)
	stopTasks(s, in.Background)
	if len(touched) > 0 {
		if err := tu.storeTurn(ctx, s, n, touched, seen); err != nil {
			return err
		}
	} else {
		tu.taskTurns.storeStopped(ctx, s)
	}
	tasksDone(s)
	tu.recordBaseline(s, n, seen, changes)
	tu.shadows.annotate(ctx, s, n, seen, changes)
	tu.markDue(s, touched, changes)
	s.Recorder.Turn = remainingTurn(s.Recorder.Turn, in.Background)
	n.TurnSaved = true
	return nil
}

// storeTurn stores the turn's transcript and the files that it wrote, and prepares its shadow
// checkpoint. On an unborn branch there is nothing for that to hang on.
func (tu *Turns) storeTurn(ctx context.Context, s *session.State, n *tracking.Pending, touched []string, seen observation) error {
	var wait sync.WaitGroup
	var entries map[string]gittree.Edit
	var failed error
	workspace.Guard(&wait, &failed, func() (err error) { entries, err = tu.files.StoreContents(ctx, touched); return err })
	complete, err := true, error(nil)
	if seen.born {
		complete, err = tu.observer.storeTranscript(ctx, s, seen)
	}
	wait.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if err := tu.steps.AddTurn(ctx, s, n, provenance.StepTurn{Touched: touched, Entries: entries, Base: seen.head}); err != nil || !seen.born {
		return err
	}
	n.Unstored = n.Unstored || !complete
	c := tracking.ShadowCommit{Head: seen.head, Touched: touched, Edits: workspace.EditsOf(entries, touched), By: seen.by}
	if err := tu.taskTurns.endTasks(ctx, s, n, c); err != nil {
		return err
	}
	return tu.shadows.shadow(ctx, s, n, c)
}

// remainingTurn is what remains of a turn that is saved: if tasks go on in the
// background, what they change is still the turn's.
func remainingTurn(t session.Turn, background bool) session.Turn {
	if !background {
		return session.Turn{}
	}
	open := slices.DeleteFunc(t.Calls, func(c transcript.Call) bool { return !c.Open })
	return session.Turn{Start: t.Start, Line: t.Line, Calls: open, Timed: t.Timed, Mixed: t.Mixed}
}

// recordBaseline keeps, for the next turn, what git's status listed now, and the snapshot
// that goes with it.
func (tu *Turns) recordBaseline(s *session.State, n *tracking.Pending, seen observation, t *Changes) {
	switch {
	case seen.whole:
		n.Known = EncodeKnown(t.After(nil, seen.entries))
	case seen.asked != nil:
		n.Known = EncodeKnown(t.After(seen.asked, seen.entries))
	default:
		return
	}
	s.UntrackedAtStart, s.Recorder.Unlisted = untracked(n.Known), false
	if seen.snap != nil {
		s.Recorder.Seen = session.Seen{Version: int(seen.snap.taken.Snapshot.Version), Lineage: tu.snapshots.Lineage()}
	}
}

// untracked lists untracked files for other versions of the tool.
func untracked(known []byte) []string {
	const most = 1000
	var paths []string
	for k := range strings.SplitSeq(string(known), "\x00") {
		if strings.HasPrefix(k, "?") && len(paths) < most {
			paths = append(paths, k[1:])
		}
	}
	return paths
}
