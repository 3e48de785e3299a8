package record

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// CommitMsg checks the message after the editor. If it contains only our trailer, the trailer is
// removed, so that git aborts the commit as it would have without us. If the trailer was lost
// together with the whole text instead of being removed, it is added again, and the user is shown
// how to remove it.
func CommitMsg(ctx context.Context, w *workspace.Workspace, file string) error {
	if w.Env.Getenv(linkEnv) != "" {
		return nil
	}
	mine := tracking.WorktreeDecisions(ctx, w)
	at := len(mine) - 1
	for at >= 0 && !isCaller(w, mine[at]) {
		at--
	}
	_, known := w.Env.Caller()
	if at < 0 && !known {
		at = len(mine) - 1
	}
	msg, err := readMessage(ctx, w, CommitMessage{File: file})
	if err != nil {
		return err
	}
	have := checkpoint.IDs(msg.prose)
	if at < 0 { // the commit keeps no id
		if !known || len(have) == 0 {
			return nil
		}
		op := currentOperation(ctx, w, CommitMessage{File: file}, msg.prose)
		head, _, err := w.Head(ctx)
		if err != nil {
			return fmt.Errorf("read HEAD: %w", err)
		}
		if prior := prior(ctx, w, op, head, msg.prose); slices.ContainsFunc(have, func(id checkpoint.ID) bool { return slices.Contains(prior, id) }) {
			return nil
		}
		return disown(ctx, w, op, &msg)
	}
	d := mine[at] // the decision about the current commit
	if checkpoint.Declines(msg.prose) {
		if len(have) == 0 {
			return nil
		}
		msg.prose = checkpoint.StripIDs(msg.prose)
		return rewrite(&msg)
	}
	if bare := withoutComments(msg); strings.TrimSpace(checkpoint.StripIDs(bare)) == "" {
		if len(have) == 0 {
			return nil
		}
		msg.prose = checkpoint.StripIDs(msg.prose)
		return rewrite(&msg)
	}
	missing := slices.DeleteFunc(slices.Clone(d.Keep), func(id checkpoint.ID) bool { return slices.Contains(have, id) })
	own := slices.DeleteFunc(slices.Clone(have), func(id checkpoint.ID) bool { return !slices.Contains(d.Keep, id) })
	if len(own) < len(have) { // the editor brought in ids of other commits
		msg.prose = checkpoint.StripIDs(msg.prose)
		if len(own) > 0 {
			if err := add(ctx, w, &msg, own, ""); err != nil {
				return err
			}
		}
		msg.prose = checkpoint.QuoteIDs(msg.prose, own...)
		if err := rewrite(&msg); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	// A person removed the trailer if the hint is still there, or if the rest of the message is
	// unchanged.
	if d.Hint && strings.Contains(msg.rest+msg.prose, hintMark) || !d.Hint && msg.digest() == d.Prose {
		return nil
	}
	if err := add(ctx, w, &msg, unique(append(own, missing...)), ""); err != nil {
		return err
	}
	if err := rewrite(&msg); err != nil {
		return err
	}
	w.Env.Say("entire: the " + checkpoint.TrailerKey + " trailer was missing from the message and was restored; `entire link --remove` removes it")
	return nil
}

func rewrite(msg *message) error {
	if err := msg.write(); err != nil {
		return fmt.Errorf("write commit message: %w", err)
	}
	return nil
}

// withoutComments returns the prose without the comments in it.
func withoutComments(msg message) string {
	if msg.mark == "" {
		return msg.prose
	}
	var b strings.Builder
	for line := range strings.SplitAfterSeq(msg.prose, "\n") {
		if !strings.HasPrefix(line, msg.mark) {
			b.WriteString(line)
		}
	}
	return b.String()
}
