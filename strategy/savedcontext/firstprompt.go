package savedcontext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/relate"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// dueBrief is a brief that the first prompt of a session decides on: the content of the
// side file of kind PromptBriefKind.
type dueBrief struct {
	Checkpoint string `json:"checkpoint"`
}

// setDue records whether the brief of an opening is due with the first prompt. It is
// called before the opening is recorded, so that a process killed between the two decides
// both again.
func (ij *Injector) setDue(id string, o Opening) error {
	side := ij.Sessions.Side(id, session.PromptBriefKind)
	if !o.due {
		if !side.Exists() {
			return nil
		}
		return side.Remove()
	}
	data, err := json.Marshal(dueBrief{o.Checkpoint})
	if err != nil {
		return err
	}
	return side.Replace(append(data, '\n'))
}

// RecallPrompt returns the whole brief if one is due and the prompt continues its work,
// else an empty text. The first prompt of a person decides, once: of several hooks with
// that prompt one gets the text. A process killed before it decided leaves the decision to
// the next prompt. Where nothing is due, the cost is one stat.
func (ij *Injector) RecallPrompt(ctx context.Context, in workspace.Input) (text string, err error) {
	side := ij.Sessions.Side(in.SessionID, session.PromptBriefKind)
	if !side.Exists() || !transcript.IsHuman(in.Prompt) && !relate.IsPlan(in.Prompt) {
		return "", nil
	}
	lock, err := ij.lockOpening(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	data, err := side.ReadAll()
	if err != nil || len(data) == 0 {
		return "", err
	}
	text, err = ij.promptBrief(ctx, in, data)
	if ctx.Err() != nil {
		return "", err
	}
	if removed := side.Remove(); removed != nil {
		return "", errors.Join(err, removed) // it would be given again
	}
	return text, err
}

// promptBrief returns the brief of the checkpoint in data if the prompt continues its
// work. It is one string, as the agent runs one hook with a prompt.
func (ij *Injector) promptBrief(ctx context.Context, in workspace.Input, data []byte) (string, error) {
	var due dueBrief
	o := ij.Options.Recall
	if o.OnStart != settings.Always || o.Inject != settings.InjectPrompt {
		return "", nil
	}
	if err := json.Unmarshal(data, &due); err != nil {
		return "", fmt.Errorf("decode the due brief of session %s: %w", in.SessionID, err)
	}
	c, err := ij.saver.Contexts().Get(ctx, due.Checkpoint)
	if errors.Is(err, recall.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read context checkpoint %s: %w", due.Checkpoint, err)
	}
	branch, err := ij.saver.branchShown(ctx)
	if err != nil {
		return "", err
	}
	verdict := relate.Judge(relate.Prompt{Text: in.Prompt, Branch: branch}, c)
	ij.Log.InfoContext(ctx, "first prompt compared with a context checkpoint", "session_id", in.SessionID, "checkpoint", c.ID,
		"related", verdict.Related, "reason", string(verdict.Reason), "score", verdict.Score)
	if !verdict.Related {
		return "", nil
	}
	recalled, err := ij.briefer.briefFor(ctx, c.ID, in.Prompt)
	if err != nil {
		return "", fmt.Errorf("brief of context checkpoint %s: %w", c.ID, err)
	}
	if len(recalled.Brief.Parts) == 0 {
		return "", nil
	}
	return recalled.Brief.Parts[0], nil
}
