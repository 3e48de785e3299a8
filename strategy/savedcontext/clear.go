package savedcontext

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Clearing is a session whose context is about to be cleared, or one that
// begins with a cleared context.
type Clearing struct {
	SessionID, PromptID string
	// Agent is the process of the agent, zero if unknown. It may then be one of Above, the
	// ancestors of the calling process.
	Agent session.Process
	Above []session.Process
	// Late is set if the session ended earlier, so that it may have worked on another branch
	// than the one checked out now.
	Late bool
}

// Unsaved describes the context that a clear would lose.
type Unsaved struct {
	// ID is the checkpoint that was saved in case the user makes no choice; empty if
	// nothing is to be saved.
	ID string
	// Ask reports whether the user is to be asked.
	Ask bool
	// Files and Added count what changed since the last kept checkpoint, which
	// is as old as Last; zero if there was none.
	Files, Added int
	Last         time.Time
	Summary      string
}

// doubled is the time within which two ends of a session without a prompt id count as one.
const doubled = time.Minute

// BeforeClear saves the context that a clear would lose and reports whether to ask. It and the
// hook at the session's end may run in any order, concurrently, and twice.
func BeforeClear(ctx context.Context, w *workspace.Workspace, c Clearing) (Unsaved, error) {
	var lost Unsaved
	err := end(ctx, w, c, recall.Clear, endEffort(), func(cw *contextWriter, kept *fingerprint) {
		end := cw.m.End
		if end == nil || end.ID == "" || !end.Fresh {
			return
		}
		lost = Unsaved{ID: end.ID, Ask: end.Ask && end.Answer == NoAnswer, Summary: end.Summary}
		lost.Files, lost.Added = cw.fingerprint().since(kept)
		if kept != nil {
			lost.Last, lost.Added = kept.At, cw.addedSince(ctx, kept)
		}
	})
	if errors.Is(err, session.ErrNotFound) {
		return Unsaved{}, nil
	}
	return lost, err
}

// addedSince counts the lines added since a kept checkpoint, compared with its file contents;
// for files without content there, since the session's start.
func (cc *contextComparer) addedSince(ctx context.Context, kept *fingerprint) int {
	old, err := Contexts(cc.w).Get(ctx, kept.ID)
	if err == nil {
		err = Contexts(cc.w).ReadContents(ctx, &old)
	}
	if err != nil {
		cc.w.Log.DebugContext(ctx, "lines counted from the session's start", "error", err.Error())
	}
	added := 0
	for path, now := range cc.fingerprint().Files {
		before, known := kept.Files[path]
		if known && before.hash() == now.hash() {
			continue
		}
		was, is := old.State.Files[path], cc.m.Files[path]
		object, err := cc.w.Repo.Read(ctx, is.Blob)
		if err != nil || is.Blob == "" || was.Omitted != "" || was.Path == "" {
			added += max(now.added()-before.added(), 0)
			continue
		}
		lines, _ := contextstore.CountChanged(was.Content, string(object.Data))
		added += lines
	}
	return added
}

// end records how a session ended and saves its context as the cause requires. A second call
// for the same end only completes it. then gets the last checkpoint kept before the end.
func end(ctx context.Context, w *workspace.Workspace, c Clearing, cause recall.Cause, how effort, then func(cw *contextWriter, kept *fingerprint)) error {
	return recollect(ctx, w, c.SessionID, how, func(ctx context.Context, cw *contextWriter) error {
		return cw.end(ctx, c, cause, then)
	})
}

func (w *contextWriter) end(ctx context.Context, c Clearing, cause recall.Cause, then func(w *contextWriter, kept *fingerprint)) error {
	if cause != recall.Lost { // its end was not reported
		w.seen(c.Agent)
	}
	// A session that ended before another branch was checked out belongs to the branch of the
	// transcript's last line. Its commit is that branch's current tip, unknown if the branch
	// was deleted.
	if branch := w.m.Digest.Branch; c.Late && branch != "" && branch != "HEAD" && branch != w.obs.branch {
		tip, err := w.w.Repo.Commit(ctx, "refs/heads/"+branch)
		if err != nil {
			tip = git.Commit{}
		}
		w.obs.branch, w.obs.head = branch, tip
	}
	w.checkKept(ctx)
	// A clear that was typed has a prompt of its own, a plan accepted with a cleared context has none.
	if d := &w.m.Digest; cause == recall.Clear && (c.PromptID != "" && c.PromptID == d.PromptID || c.PromptID == "" && d.PlanOffered) {
		cause = recall.Plan
	}
	end, last, kept := w.m.End, w.m.Last, w.m.Kept
	if end != nil && end.Fresh && kept != nil && kept.ID == end.ID {
		kept = w.m.Before
	}
	recorded := end != nil && cause == end.Cause
	if recorded && c.PromptID != "" && end.Prompt != "" {
		recorded = c.PromptID == end.Prompt
	} else if recorded {
		recorded = w.w.Env.Now().Sub(end.At) < doubled
	}
	switch {
	case !recorded:
		if err := w.endNow(ctx, c, cause); err != nil {
			return err
		}
	case end.Fresh && end.ID != "" && last != nil && last.ID == end.ID && w.fingerprint().differs(last):
		// The hook and the server read a turn that was left open at different times.
		_, err := w.save(ctx, Saving{Cause: end.Cause}, end.Status, end.ID)
		if err != nil && !errors.Is(err, recall.ErrNotFound) { // discarded meanwhile
			return err
		}
	}
	if then != nil {
		then(w, kept)
	}
	return nil
}

// endNow saves the context as the cause requires and records the end.
func (w *contextWriter) endNow(ctx context.Context, c Clearing, cause recall.Cause) error {
	v := w.judge(ctx, cause)
	end := &sessionEnd{Cause: cause, At: w.w.Env.Now().UTC(), Prompt: c.PromptID}
	before := w.m.Kept
	switch {
	case v.save:
		saved, err := w.saveOnce(ctx, Saving{Cause: cause}, v.status)
		if err != nil {
			return err // the next call tries again
		}
		end.ID, end.Status, end.Summary, end.Fresh, end.Ask = saved.ID, v.status, saved.Summary, true, v.ask
	case w.m.Kept != nil && !w.changedSinceKept():
		end.ID, end.Status, end.Summary = w.m.Kept.ID, recall.Kept, w.m.Kept.Summary
	}
	w.m.End, w.m.Before = end, before
	return nil
}

// seen records that a hook of the session ran.
func (cr *contextReader) seen(agent session.Process) {
	cr.m.SeenBefore, cr.m.Seen = cr.m.Seen, cr.w.Env.Now().UTC()
	switch {
	case agent.PID != 0:
		cr.m.Agent = agent
	case cr.m.Agent.PID == 0:
		cr.m.Agent = cr.s.Recorder.Agent
	}
}

// saveOnce saves a checkpoint, unless a hook did so and was killed before it recorded it.
func (w *contextWriter) saveOnce(ctx context.Context, want Saving, status recall.Status) (fingerprint, error) {
	id := ""
	if last := w.m.Last; w.recovered && last != nil && last.Cause == want.Cause && last.Status == status {
		if !w.fingerprint().differs(last) {
			return *last, nil
		}
		id = last.ID
	}
	if _, err := w.save(ctx, want, status, id); err != nil {
		return fingerprint{}, err
	}
	return *w.m.Last, nil
}

// ClearAnswer is the user's reply before a clear.
type ClearAnswer int

// The replies.
const (
	NoAnswer ClearAnswer = iota // also: cancelled
	KeepIt
	DiscardIt
)

// AnswerClear applies the user's reply.
func AnswerClear(ctx context.Context, w *workspace.Workspace, c Clearing, answer ClearAnswer) error {
	err := recollect(ctx, w, c.SessionID, stopEffort(), func(ctx context.Context, cw *contextWriter) error {
		end := cw.m.End
		if end == nil || !end.Fresh || end.ID == "" || answer == NoAnswer {
			return nil
		}
		if answer == DiscardIt {
			if err := Contexts(w).Discard(ctx, end.ID); err != nil {
				return fmt.Errorf("discard context checkpoint: %w", err)
			}
			cw.forget(end.ID)
			end.Answer, end.ID = answer, ""
			return nil
		}
		err := Contexts(w).SetStatus(ctx, end.ID, recall.Kept)
		switch last := cw.m.Last; {
		case errors.Is(err, recall.ErrNotFound):
			cw.forget(end.ID)
		case err != nil:
			return fmt.Errorf("keep context checkpoint: %w", err)
		case last != nil && last.ID == end.ID:
			kept := *last
			kept.Status = recall.Kept
			cw.saved(kept)
		}
		end.Answer, end.Status = answer, recall.Kept
		return nil
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}

// forget drops a removed checkpoint from the context record.
func (cc *contextComparer) forget(id string) {
	if cc.m.Last != nil && cc.m.Last.ID == id {
		cc.m.Last = nil
	}
	if cc.m.Kept != nil && cc.m.Kept.ID == id {
		cc.m.Kept = cc.m.Before
	}
	if cc.m.Unfinished == id {
		cc.m.Unfinished = ""
	}
}

// RecallEnd saves the context of a session that ends, as the reason requires. Work beyond the
// hook's limits is left to a background process.
func RecallEnd(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	later := false
	err := end(ctx, w, clearingOf(in), endCause(in), endEffort(),
		func(cw *contextWriter, _ *fingerprint) { later = cw.needsChild() })
	if errors.Is(err, session.ErrNotFound) {
		return nil // it never had a prompt
	}
	if later {
		w.DetachRecall(ctx, in.SessionID)
	}
	return err
}
