package savedcontext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	Checkpoint string `json:"checkpoint,omitempty"`
	// Others are checkpoints of earlier sessions that the prompt may continue instead.
	Others []string `json:"others,omitempty"`
	// Opening is the text that the agent doesn't take at the session's start; it is returned
	// with the first prompt if no brief is due.
	Opening string `json:"opening,omitempty"`
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

// promptBrief returns the brief of the checkpoint in data whose work the prompt continues,
// else the opening there. That is the checkpoint that the session was offered, unless the
// prompt is clearly about another one. Removed checkpoints are skipped, and so is another one
// that can't be read.
func promptBrief(ctx context.Context, w *workspace.Workspace, in workspace.Input, data []byte) (string, error) {
	var due dueBrief
	if err := json.Unmarshal(data, &due); err != nil {
		return "", fmt.Errorf("decode the due brief of session %s: %w", in.SessionID, err)
	}
	o := w.Options.Recall
	if due.Checkpoint == "" || o.OnStart != settings.Always || o.Inject != settings.InjectPrompt {
		return due.Opening, nil
	}
	branch, err := branchShown(ctx, w)
	if err != nil {
		return due.Opening, err
	}
	prompt := recall.Prompt{Text: in.Prompt, Branch: branch}
	id, best := "", recall.Verdict{}
	for _, candidate := range append([]string{due.Checkpoint}, due.Others[:min(len(due.Others), mostOthers)]...) {
		isOther := candidate != due.Checkpoint
		c, err := Contexts(w).Get(ctx, candidate)
		switch {
		case errors.Is(err, recall.ErrNotFound):
			continue
		case err != nil && isOther && ctx.Err() == nil:
			w.Log.WarnContext(ctx, "context checkpoint not compared with the first prompt", "checkpoint", candidate, "error", err)
			continue
		case err != nil:
			return due.Opening, fmt.Errorf("read context checkpoint %s: %w", candidate, err)
		}
		judge := recall.Judge
		if isOther {
			judge = recall.JudgeOther
		}
		verdict := judge(prompt, c)
		w.Log.InfoContext(ctx, "first prompt compared with a context checkpoint", "session_id", in.SessionID, "checkpoint", c.ID,
			"related", verdict.Related, "reason", string(verdict.Reason), "score", verdict.Score)
		if verdict.Related && (id == "" || verdict.Exceeds(best)) {
			id, best = candidate, verdict
		}
	}
	if id == "" {
		return due.Opening, nil
	}
	m, err := material(ctx, w, id, brief.Full)
	if err != nil {
		return due.Opening, fmt.Errorf("brief of context checkpoint %s: %w", id, err)
	}
	m.Parts, m.Prompt = 1, in.Prompt // one part, as the agent runs one hook with a prompt
	if parts := brief.Write(m).Parts; len(parts) > 0 {
		return parts[0], nil
	}
	return due.Opening, nil
}
