package savedcontext

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Clearing is a session whose context is about to be cleared, or one that
// begins with a cleared context.
type Clearing struct {
	SessionID, PromptID string
	// Transcript is the path of the transcript, empty if unknown. One that the
	// session's own hooks haven't named is not read.
	Transcript string
	// Agent is the process of the agent, zero if unknown; it may be one of
	// Above, then: those that the one who asks runs in.
	Agent session.Process
	Above []session.Process
}

// Unsaved is what a clear would lose, if nobody kept it.
type Unsaved struct {
	// ID is the checkpoint that was saved, for the case that nobody answers;
	// empty if nothing is to be saved.
	ID string
	// Ask says that the person is to be asked.
	Ask bool
	// Files and Added count what changed since the last kept checkpoint, which
	// is as old as Last says; zero if there was none.
	Files, Added int
	Last         time.Time
	Summary      string
}

// doubled is the time within which two ends of a session without a prompt's id
// are one.
const doubled = time.Minute

// BeforeClear saves what a clear would lose, and says whether to ask. It and
// the hook at the session's end may run in any order, at once, and twice.
func (r *Clearer) BeforeClear(ctx context.Context, c Clearing) (Unsaved, error) {
	var lost Unsaved
	err := r.end(ctx, c, recall.Clear, endEffort(), func(w *recollection, kept *mark) {
		end := w.m.End
		if end == nil || end.ID == "" || !end.Fresh {
			return
		}
		lost = Unsaved{ID: end.ID, Ask: end.Ask && end.Answer == NoAnswer, Summary: end.Summary}
		lost.Files, lost.Added = w.mark().since(kept)
		if kept != nil {
			lost.Last, lost.Added = kept.At, w.addedSince(ctx, kept)
		}
	})
	if errors.Is(err, session.ErrNotFound) {
		return Unsaved{}, nil
	}
	return lost, err
}

// addedSince counts the lines that came since a kept checkpoint, by what it has of
// the files; where it has no content, by what came since the session's start.
func (w *recollection) addedSince(ctx context.Context, kept *mark) int {
	old, err := w.r.Contexts().Get(ctx, kept.ID)
	if err == nil {
		err = w.r.Contexts().Contents(ctx, &old)
	}
	if err != nil {
		w.r.Log.DebugContext(ctx, "lines counted from the session's start", "error", err.Error())
	}
	added := 0
	for path, now := range w.mark().Files {
		before, known := kept.Files[path]
		if known && before.hash() == now.hash() {
			continue
		}
		was, is := old.State.Files[path], w.m.Files[path]
		object, err := w.r.Repo.Read(ctx, is.Blob)
		if err != nil || is.Blob == "" || was.Omitted != "" || was.Path == "" {
			added += max(now.added()-before.added(), 0)
			continue
		}
		lines, _ := recall.LinesBetween(was.Content, string(object.Data))
		added += lines
	}
	return added
}

// end notes how a session ended, and saves what its cause asks for. Who comes
// second, or in the middle, finds it done. then is told what was kept before.
func (r *Clearer) end(ctx context.Context, c Clearing, cause recall.Cause, how effort, then func(w *recollection, kept *mark)) error {
	return r.saver.recollect(ctx, c.SessionID, how, func(ctx context.Context, w *recollection) error {
		return w.end(ctx, c, cause, then)
	})
}

func (w *recollection) end(ctx context.Context, c Clearing, cause recall.Cause, then func(w *recollection, kept *mark)) (err error) {
	if cause != recall.Lost { // of that one nothing was heard
		w.seen(c.Agent)
	}
	w.checkKept(ctx)
	kept := w.keptBefore()
	if w.endedSo(c, cause) {
		err = w.complete(ctx)
	} else {
		err = w.endNow(ctx, c, w.causeOf(c, cause))
	}
	if then != nil && err == nil {
		then(w, kept)
	}
	return err
}

// seen notes that a hook of the session ran.
func (w *recollection) seen(agent session.Process) {
	w.m.SeenBefore, w.m.Seen = w.m.Seen, w.r.Env.Now().UTC()
	switch {
	case agent.PID != 0:
		w.m.Agent = agent
	case w.m.Agent.PID == 0:
		w.m.Agent = w.s.Recorder.Agent
	}
}

// causeOf tells a plan that was accepted with a cleared context from a clear that
// was typed: that has a prompt of its own.
func (w *recollection) causeOf(c Clearing, cause recall.Cause) recall.Cause {
	d := w.m.Digest
	if cause == recall.Clear && (c.PromptID != "" && c.PromptID == d.PromptID || c.PromptID == "" && d.PlanOffered) {
		return recall.Plan
	}
	return cause
}

// endedSo says whether this very end is noted already.
func (w *recollection) endedSo(c Clearing, cause recall.Cause) bool {
	end := w.m.End
	if end == nil || w.causeOf(c, cause) != end.Cause {
		return false
	}
	if c.PromptID != "" && end.Prompt != "" {
		return c.PromptID == end.Prompt
	}
	return w.r.Env.Now().Sub(end.At) < doubled
}

// keptBefore is the mark of what was kept before this end.
func (w *recollection) keptBefore() *mark {
	if w.m.End != nil && w.m.End.Fresh && w.m.Kept != nil && w.m.Kept.ID == w.m.End.ID {
		return w.m.Before
	}
	return w.m.Kept
}

// endNow saves as the cause asks for and notes the end.
func (w *recollection) endNow(ctx context.Context, c Clearing, cause recall.Cause) error {
	v := w.judge(ctx, cause)
	end := &ending{Cause: cause, At: w.r.Env.Now().UTC(), Prompt: c.PromptID}
	before := w.m.Kept
	switch {
	case v.save:
		saved, err := w.saveOnce(ctx, Saving{Cause: cause}, v.status)
		if err != nil {
			return err // who comes next tries again
		}
		end.ID, end.Status, end.Summary, end.Fresh, end.Ask = saved.ID, v.status, saved.Summary, true, v.ask
	case w.m.Kept != nil && !w.changedSinceKept():
		end.ID, end.Status, end.Summary = w.m.Kept.ID, recall.Kept, w.m.Kept.Summary
	}
	w.m.End, w.m.Before = end, before
	return nil
}

// saveOnce saves a checkpoint, unless that is what a hook did which was stopped
// before it could say so.
func (w *recollection) saveOnce(ctx context.Context, want Saving, status recall.Status) (mark, error) {
	if last := w.m.Last; w.recovered && last != nil && last.Cause == want.Cause && last.Status == status {
		if w.mark().differs(last) {
			if _, err := w.save(ctx, want, status, last.ID); err != nil {
				return mark{}, err
			}
		}
		return *w.m.Last, nil
	}
	_, err := w.save(ctx, want, status, "")
	if err != nil {
		return mark{}, err
	}
	return *w.m.Last, nil
}

// complete lets the checkpoint of an end have what came since: the hook and the
// server see a turn that was left open each at its time.
func (w *recollection) complete(ctx context.Context) error {
	end, last := w.m.End, w.m.Last
	if !end.Fresh || end.ID == "" || last == nil || last.ID != end.ID || !w.mark().differs(last) {
		return nil
	}
	_, err := w.save(ctx, Saving{Cause: end.Cause}, end.Status, end.ID)
	if errors.Is(err, recall.ErrNotFound) {
		return nil // discarded meanwhile
	}
	return err
}

// ClearAnswer is what a person said before a clear.
type ClearAnswer int

// The answers.
const (
	NoAnswer ClearAnswer = iota // also: cancelled
	KeepIt
	DiscardIt
)

// AnswerClear carries out the answer.
func (r *Clearer) AnswerClear(ctx context.Context, c Clearing, answer ClearAnswer) error {
	err := r.saver.recollect(ctx, c.SessionID, stopEffort(), func(ctx context.Context, w *recollection) error {
		end := w.m.End
		if end == nil || !end.Fresh || end.ID == "" || answer == NoAnswer {
			return nil
		}
		if answer == DiscardIt {
			if err := r.saver.Contexts().Discard(ctx, end.ID); err != nil {
				return fmt.Errorf("discard context checkpoint: %w", err)
			}
			w.forget(end.ID)
			end.Answer, end.ID = answer, ""
			return nil
		}
		if err := w.keep(ctx, end.ID); err != nil {
			return err
		}
		end.Answer, end.Status = answer, recall.Kept
		return nil
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}

// keep makes a pending checkpoint one that stays.
func (w *recollection) keep(ctx context.Context, id string) error {
	err := w.r.Contexts().SetStatus(ctx, id, recall.Kept)
	if errors.Is(err, recall.ErrNotFound) {
		w.forget(id)
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep context checkpoint: %w", err)
	}
	if w.m.Last != nil && w.m.Last.ID == id {
		kept := *w.m.Last
		kept.Status = recall.Kept
		w.saved(kept)
	}
	return nil
}

// forget drops what is known of a checkpoint that is gone.
func (w *recollection) forget(id string) {
	if w.m.Last != nil && w.m.Last.ID == id {
		w.m.Last = nil
	}
	if w.m.Kept != nil && w.m.Kept.ID == id {
		w.m.Kept = w.m.Before
	}
	if w.m.Unfinished == id {
		w.m.Unfinished = ""
	}
}

// RecallEnd saves the context of a session that ends, as its reason asks for.
// What there is no time for is left to a child.
func (r *Clearer) RecallEnd(ctx context.Context, in workspace.Input) error {
	later := false
	err := r.end(ctx, clearingOf(in), endCause(in), endEffort(),
		func(w *recollection, _ *mark) { later = w.needsChild() })
	if errors.Is(err, session.ErrNotFound) {
		return nil // nothing was ever asked
	}
	if later {
		r.children.DetachRecall(ctx, in.SessionID)
	}
	return err
}
