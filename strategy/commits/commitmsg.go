package commits

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/strategy/journal"
)

// CommitMsg checks the message that the editor left. If there is nothing in
// it but our trailer, the trailer goes too, so that git aborts the commit as
// it would have without us. If the trailer was lost with the whole text, not
// taken out, it is put back, and the user is shown how to remove it.
func (pr *Preparer) CommitMsg(ctx context.Context, file string) error {
	d, ok := pr.current(ctx)
	if !ok {
		return nil
	}
	msg, err := pr.readMessage(ctx, Message{File: file})
	if err != nil {
		return err
	}
	have := checkpoint.IDs(msg.prose)
	if checkpoint.Declines(msg.prose) {
		if len(have) == 0 {
			return nil
		}
		msg.prose = checkpoint.StripIDs(msg.prose)
		return pr.rewrite(&msg)
	}
	if bare := pr.withoutComments(msg); strings.TrimSpace(checkpoint.StripIDs(bare)) == "" {
		if len(have) == 0 {
			return nil
		}
		msg.prose = checkpoint.StripIDs(msg.prose)
		return pr.rewrite(&msg)
	}
	missing := slices.DeleteFunc(slices.Clone(d.Keep), func(id checkpoint.ID) bool { return slices.Contains(have, id) })
	if len(missing) == 0 || declined(d, msg) {
		return nil
	}
	if err := pr.add(ctx, &msg, unique(append(have, missing...)), ""); err != nil {
		return err
	}
	if err := pr.rewrite(&msg); err != nil {
		return err
	}
	pr.Env.Say("entire: the " + checkpoint.TrailerKey + " trailer that the message lost is put back; `entire unlink` takes it off")
	return nil
}

// current is the decision about the commit that is being made.
func (pr *Preparer) current(ctx context.Context) (journal.Decision, bool) {
	mine := pr.journal.OfWorktree(ctx)
	for _, d := range slices.Backward(mine) {
		if pr.isCaller(d) {
			return d, true
		}
	}
	if _, known := pr.Env.Caller(); known || len(mine) == 0 {
		return journal.Decision{}, false
	}
	return mine[len(mine)-1], true
}

func (pr *Preparer) rewrite(msg *message) error {
	if err := msg.write(); err != nil {
		return fmt.Errorf("write commit message: %w", err)
	}
	return nil
}

// declined reports whether a person took the trailer out: the hint is still
// there, or all the rest of the message is as it was.
func declined(d journal.Decision, msg message) bool {
	if d.Hint {
		return strings.Contains(msg.rest+msg.prose, hintMark)
	}
	return msg.digest() == d.Prose
}

// withoutComments is the prose less the comments that stand within it.
func (pr *Preparer) withoutComments(msg message) string {
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
