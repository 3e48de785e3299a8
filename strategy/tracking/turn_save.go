package tracking

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// SaveTurn makes the shadow checkpoint of a turn and clears the turn's record.
func SaveTurn(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, in workspace.Input) error {
	n.Prompted, _ = PromptTime(w, s.ID)
	BeginLate(w, s)
	var seen observation
	isIdle, err := isIdle(ctx, w, s, n, in)
	if err == nil && !isIdle {
		seen, err = observe(ctx, w, s, n, in)
	}
	if err != nil {
		return err
	}
	if in.Summary != "" {
		if s.Recorder.Turn.Summary, err = w.RedactText(ctx, in.Summary); err != nil {
			return err
		}
		if said := workspace.Digest(in.Summary); s.Recorder.Said != said {
			s.Recorder.Expect = said
		}
	}
	if err := closeEarlier(ctx, w, s, n, seen); err != nil {
		return err
	}
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
	changes, touched, err := closeTurn(ctx, w, s, n, seen, nil)
	if err != nil {
		return err
	}
	if len(touched) == 0 && w.Options.Strategy != workspace.AutoCommit { // which keeps task checkpoints only
		for i := range s.Recorder.Tasks {
			if task := &s.Recorder.Tasks[i]; task.Phase == session.TaskStopped {
				storeAgent(ctx, w, s, task, RedactNow)
			}
		}
	}
	for i := range s.Recorder.Tasks { // they are finished
		if task := &s.Recorder.Tasks[i]; task.Phase == session.TaskStopped {
			task.Phase = session.TaskDone
		}
	}
	recordBaseline(w, s, n, seen, changes)
	annotate(ctx, w, s, n, seen, changes)
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

// isIdle reports whether the turn of a session that started elsewhere had no tool call here, so that it has
// changed nothing.
func isIdle(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, in workspace.Input) (bool, error) {
	if s.Recorder.Launched == "" || in.Background || len(s.Recorder.Unclosed) > 0 {
		return false, nil
	}
	if err := CatchUp(ctx, w, s, n); err != nil {
		return false, err
	}
	t := s.Recorder.Turn
	named := w.RelativePaths(t.Edits)
	return len(named)+len(t.Calls)+len(s.TurnCheckpointIDs) == 0, nil
}

// SaveUnclosed makes the shadow checkpoints of the session's turns that a prompt followed without a
// stop, while the turn of the last prompt may run.
func SaveUnclosed(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) error {
	seen, err := observeUnclosed(ctx, w, s, n)
	if err != nil {
		return err
	}
	return closeEarlier(ctx, w, s, n, seen)
}

// closeEarlier closes the session's unclosed turns, the oldest first.
func closeEarlier(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, seen observation) error {
	rec := &s.Recorder
	for len(rec.Unclosed) > 0 {
		last, id := rec.Turn, s.TurnID
		next := *rec.Turns()[1]
		rec.Turn, s.TurnID = rec.Unclosed[0], rec.Unclosed[0].ID
		changes, _, err := closeTurn(ctx, w, s, n, seen, &next)
		rec.Turn, s.TurnID = last, id
		if err != nil {
			return err
		}
		after := rec.Turns()[1]
		after.Unsure = append(after.Unsure, changes.unknown...)
		rec.Unclosed = rec.Unclosed[1:]
	}
	rec.Unclosed = nil
	return nil
}

// closeTurn records the session's turn as it ended: with a stop, or with the prompt of the next
// turn, which may have changed files since. It finds the files that the turn changed and stores
// them.
func closeTurn(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, seen observation, next *session.Turn) (*TurnChanges, []string, error) {
	changes, err := newChanges(ctx, w, s, seen, next)
	if err != nil {
		return nil, nil, err
	}
	touched, err := changes.take(ctx, s, seen)
	if err != nil {
		return nil, nil, err
	}
	markShared(ctx, w, s, touched, changes)
	if len(touched)+len(s.TurnCheckpointIDs) > 0 {
		s.Recorder.Changed = session.ChangedTurn{ID: s.TurnID, Line: max(s.Recorder.Cursor.Lines-1, s.Recorder.Turn.Line)}
	}
	if len(touched) > 0 {
		err = storeTurn(ctx, w, s, n, changes, touched, seen)
	}
	markDue(w, s, touched, changes)
	return changes, touched, err
}

// storeTurn stores the turn's transcript and the files that it wrote, and prepares its shadow
// checkpoint, on the branch that belongs to HEAD. An unborn branch has none.
func storeTurn(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, changes *TurnChanges, touched []string, seen observation) error {
	var wait sync.WaitGroup
	var entries map[string]git.TreeEdit
	var failed error
	workspace.Guard(&wait, &failed, func() (err error) { entries, err = w.StoreContents(ctx, touched); return err })
	complete, err := true, error(nil)
	if seen.born {
		complete, err = storeTranscript(ctx, w, s, seen)
	}
	wait.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	made := StepTurn{Touched: touched, Entries: entries, Base: seen.head, Work: changes.Work, Unsure: changes.unsure, End: changes.until}
	if len(changes.late) > 0 {
		made.Entries, made.Late, entries = lateContents(ctx, w, s, changes, entries)
	}
	if err := AddTurn(ctx, w, s, n, made); err != nil || !seen.born {
		return err
	}
	n.Unstored = n.Unstored || !complete
	c := ShadowCommit{Head: seen.head, Touched: touched, Edits: workspace.EditsOf(entries, touched), By: seen.by}
	// Tasks whose stop no hook has reported get their last checkpoints before the stop's own.
	for i := range s.Recorder.Tasks {
		task := &s.Recorder.Tasks[i]
		if task.Phase != session.TaskStopped {
			continue
		}
		if err := endTask(ctx, w, s, n, task, c); err != nil {
			return err
		}
	}
	stored, err := StoredSegments(ctx, w, s)
	if err != nil {
		return err
	}
	turn := s.Recorder.Turn
	subject := ""
	if last := len(turn.Prompts); last > 0 {
		subject = turn.Prompts[last-1]
	}
	c.Turn = &checkpoint.Shadow{
		Session: s.ID, Strategy: w.StrategyName(), Subject: checkpoint.Subject(subject),
		Prompts: turn.Prompts, Summary: turn.Summary, Transcript: stored,
	}
	n.ShadowCommits = append(n.ShadowCommits, c)
	return nil
}

// lateContents returns the entries of a turn's files with the contents that the prompt after the
// turn found, these contents for the files that have changed since, and the entries without those
// whose contents aren't known.
func lateContents(ctx context.Context, w *workspace.Workspace, s *session.State, changes *TurnChanges, entries map[string]git.TreeEdit) (found map[string]git.TreeEdit, late map[string]git.OID, stored map[string]git.TreeEdit) {
	found, late, stored = maps.Clone(entries), map[string]git.OID{}, maps.Clone(entries)
	for _, p := range changes.late {
		e := found[p]
		e.Path, e.OID = p, AtPrompt(ctx, w, s, changes.Work, changes.until, p)
		late[p], found[p], stored[p] = e.OID, e, e
		switch {
		case e.OID == UnknownBlob:
			changes.unknown = append(changes.unknown, p)
			delete(stored, p)
		case e.OID == GoneBlob:
			stored[p] = git.TreeEdit{Path: p}
		case e.Mode == 0: // it was removed since
			e.Mode = git.ModeFile
			found[p], stored[p] = e, e
		}
	}
	return found, late, stored
}

// recordBaseline records the present entries of git's status, and the snapshot taken with
// them, for the next turn.
func recordBaseline(w *workspace.Workspace, s *session.State, n *Pending, seen observation, t *TurnChanges) {
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
		s.Recorder.Seen = session.Seen{Version: int(seen.snap.taken.Snapshot.Version), Lineage: Lineage(w)}
	}
}

// markDue records the files to commit after the turn if each turn gets a commit: those that it
// changed, and those of earlier turns that couldn't be committed. Under another strategy the
// record is cleared; the files stay pending.
func markDue(w *workspace.Workspace, s *session.State, touched []string, t *TurnChanges) {
	due := &s.Recorder.Due
	if w.Options.Strategy != workspace.AutoCommit {
		*due = session.Due{}
		return
	}
	files := slices.Compact(slices.Sorted(slices.Values(slices.Concat(due.Files, touched))))
	due.Files = slices.DeleteFunc(files, func(p string) bool { return !workspace.ContainsPath(s.FilesTouched, p) })
	if n := len(s.Recorder.Turn.Prompts); n > 0 {
		due.Subject = checkpoint.Subject(s.Recorder.Turn.Prompts[n-1])
	} else if due.Subject == "" {
		due.Subject = checkpoint.Subject("")
	}
	due.Index = time.Time{}
	if at := IndexTime(w); t.During(at) {
		due.Index = at
	}
}

// IndexTime returns when git's index was last written.
func IndexTime(w *workspace.Workspace) time.Time {
	info, err := os.Lstat(filepath.Join(w.Repo.GitDir, "index"))
	if err != nil {
		return time.Time{}
	}
	return disk.Changed(info)
}
