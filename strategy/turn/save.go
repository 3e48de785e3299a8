package turn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// SaveTurn makes the shadow checkpoint of a turn and clears the turn's record.
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
	// All tasks that aren't in the background have ended, and so have the others if none runs
	// there any more.
	for i := range s.Recorder.Tasks {
		switch task := &s.Recorder.Tasks[i]; {
		case task.Phase == session.TaskRunning:
			task.Phase = session.TaskDone // its call failed, or its end was not reported
		case task.Phase == session.TaskBackground && !in.Background:
			task.Phase = session.TaskStopped
		}
	}
	if len(touched) > 0 {
		if err := tu.storeTurn(ctx, s, n, touched, seen); err != nil {
			return err
		}
	} else if tu.Options.Strategy != workspace.AutoCommit { // which keeps task checkpoints only
		for i := range s.Recorder.Tasks {
			if task := &s.Recorder.Tasks[i]; task.Phase == session.TaskStopped {
				tu.taskTurns.storeAgent(ctx, s, task, tracking.RedactNow)
			}
		}
	}
	for i := range s.Recorder.Tasks { // they are finished
		if task := &s.Recorder.Tasks[i]; task.Phase == session.TaskStopped {
			task.Phase = session.TaskDone
		}
	}
	tu.recordBaseline(s, n, seen, changes)
	tu.shadows.annotate(ctx, s, n, seen, changes)
	tu.markDue(s, touched, changes)
	rest := session.Turn{}
	if in.Background { // changes by tasks that continue are still the turn's
		t := s.Recorder.Turn
		open := slices.DeleteFunc(t.Calls, func(c transcript.Call) bool { return !c.Open })
		rest = session.Turn{Start: t.Start, Line: t.Line, Calls: open, Timed: t.Timed, Mixed: t.Mixed}
	}
	s.Recorder.Turn = rest
	n.TurnSaved = true
	return nil
}

// storeTurn stores the turn's transcript and the files that it wrote, and prepares its shadow
// checkpoint, on the branch that belongs to HEAD. An unborn branch has none.
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
	// Tasks whose stop no hook has reported get their last checkpoints before the stop's own.
	for i := range s.Recorder.Tasks {
		task := &s.Recorder.Tasks[i]
		if task.Phase != session.TaskStopped {
			continue
		}
		if err := tu.taskTurns.endTask(ctx, s, n, task, c); err != nil {
			return err
		}
	}
	stored, err := tu.transcripts.StoredSegments(ctx, s)
	if err != nil {
		return err
	}
	turn := s.Recorder.Turn
	subject := ""
	if last := len(turn.Prompts); last > 0 {
		subject = turn.Prompts[last-1]
	}
	c.Turn = &checkpoint.Shadow{
		Session: s.ID, Strategy: tu.StrategyName(), Subject: checkpoint.Subject(subject),
		Prompts: turn.Prompts, Summary: turn.Summary, Transcript: stored,
	}
	n.ShadowCommits = append(n.ShadowCommits, c)
	return nil
}

// recordBaseline records the present entries of git's status, and the snapshot taken with
// them, for the next turn.
func (tu *Turns) recordBaseline(s *session.State, n *tracking.Pending, seen observation, t *Changes) {
	switch {
	case seen.whole:
		n.Known = EncodeKnown(t.After(nil, seen.entries))
	case seen.asked != nil:
		n.Known = EncodeKnown(t.After(seen.asked, seen.entries))
	default:
		return
	}
	// Other versions of the tool read the list of untracked files.
	const most = 1000
	s.UntrackedAtStart, s.Recorder.Unlisted = nil, false
	for k := range strings.SplitSeq(string(n.Known), "\x00") {
		if strings.HasPrefix(k, "?") && len(s.UntrackedAtStart) < most {
			s.UntrackedAtStart = append(s.UntrackedAtStart, k[1:])
		}
	}
	if seen.snap != nil {
		s.Recorder.Seen = session.Seen{Version: int(seen.snap.taken.Snapshot.Version), Lineage: tu.snapshots.Lineage()}
	}
}
