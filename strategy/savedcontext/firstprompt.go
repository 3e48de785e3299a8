package savedcontext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// dueBrief is a brief that the first prompt of a session decides on: the content of the
// side file of kind PromptBriefKind.
type dueBrief struct {
	// Checkpoint is the one whose short form the session got, empty for none.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Others are checkpoints of earlier sessions that the prompt may continue instead, Older those
	// that are older than a day.
	Others []string `json:"others,omitempty"`
	Older  []string `json:"older,omitempty"`
	// Opening is the text that the agent doesn't take at the session's start; it is returned
	// with the first prompt if no brief is due.
	Opening string `json:"opening,omitempty"`
}

// candidates returns the ids of the checkpoints in the order in which they are compared.
func (d dueBrief) candidates() []string {
	ids := append([]string{d.Checkpoint}, d.Others[:min(len(d.Others), mostOthers)]...)
	ids = append(ids, d.Older[:min(len(d.Older), max(mostOthers+1-len(ids), 0))]...)
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// RecallPrompt returns the whole brief if one is due and the prompt continues its work, else
// the opening if the agent didn't take it, or an empty text. The first prompt of a person
// decides, once: only one of several hooks with that prompt gets the text. A process killed
// before it decided leaves the decision to the next prompt. If nothing is due, the cost is one
// stat.
func RecallPrompt(ctx context.Context, w *workspace.Workspace, in workspace.Input) (text string, err error) {
	side := w.Sessions.Side(in.SessionID, session.PromptBriefKind)
	if !side.Exists() || !transcript.IsHuman(in.Prompt) && !recall.IsPlan(in.Prompt) {
		return "", nil
	}
	lock, err := lockOpening(ctx, w)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	data, err := side.ReadAll()
	if err != nil || len(data) == 0 {
		return "", err
	}
	text, err = promptBrief(ctx, w, in, data)
	if ctx.Err() != nil {
		return "", err
	}
	if removed := side.Remove(); removed != nil {
		return "", errors.Join(err, removed) // it would be returned again
	}
	return text, err
}

// promptBrief returns the brief of the checkpoint in data whose work the prompt continues, else
// the opening there. Removed checkpoints are skipped, and so are others than that of the opening
// that can't be read.
func promptBrief(ctx context.Context, w *workspace.Workspace, in workspace.Input, data []byte) (string, error) {
	var due dueBrief
	if err := json.Unmarshal(data, &due); err != nil {
		return "", fmt.Errorf("decode the due brief of session %s: %w", in.SessionID, err)
	}
	if o := w.Options.Recall; len(due.candidates()) == 0 || o.OnStart != settings.Always || o.Inject != settings.InjectPrompt {
		return due.Opening, nil
	}
	branch, err := branchShown(ctx, w)
	if err != nil {
		return due.Opening, err
	}
	var list []recall.Candidate
	for _, id := range due.candidates() {
		c, err := Contexts(w).Get(ctx, id)
		switch {
		case errors.Is(err, recall.ErrNotFound):
		case err != nil && id != due.Checkpoint && ctx.Err() == nil:
			w.Log.WarnContext(ctx, "context checkpoint not compared with the first prompt", "checkpoint", id, "error", err)
		case err != nil:
			return due.Opening, fmt.Errorf("read context checkpoint %s: %w", id, err)
		case id == due.Checkpoint:
			list = append(list, recall.Candidate{Checkpoint: c, Offer: recall.Shown})
		case slices.Contains(due.Others, id):
			list = append(list, recall.Candidate{Checkpoint: c, Offer: recall.Unshown})
		default:
			list = append(list, recall.Candidate{Checkpoint: c, Offer: recall.Old})
		}
	}
	chosen, verdicts := recall.Judge(recall.Prompt{Text: in.Prompt, Branch: branch}, list)
	for i, v := range verdicts {
		w.Log.InfoContext(ctx, "first prompt compared with a context checkpoint", "session_id", in.SessionID, "checkpoint", list[i].ID,
			"related", v.Related, "reason", string(v.Reason), "score", v.Score)
	}
	if chosen < 0 {
		return due.Opening, nil
	}
	m, err := material(ctx, w, readPast(ctx, w), list[chosen].ID, brief.Full)
	if err != nil {
		return due.Opening, fmt.Errorf("brief of context checkpoint %s: %w", list[chosen].ID, err)
	}
	m.Parts, m.Prompt = 1, in.Prompt // one part, as the agent runs one hook with a prompt
	if parts := brief.Write(m).Parts; len(parts) > 0 {
		return parts[0], nil
	}
	return due.Opening, nil
}
