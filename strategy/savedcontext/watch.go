package savedcontext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// maxSpoken bounds the bytes kept of the agent's last message.
const maxSpoken = 8 << 10

// RecallStop records the messages and changes of a turn, so that little is left to do on
// a clear, and saves a checkpoint when the context is nearly full. The notice is
// for the user; empty for none.
func RecallStop(ctx context.Context, w *workspace.Workspace, in workspace.Input) (notice string, err error) {
	if !w.Options.Recall.Auto {
		return "", nil
	}
	later := false
	err = recollect(ctx, w, in.SessionID, stopEffort(), func(ctx context.Context, cw *contextWriter) error {
		cw.seen(in.Agent)
		cw.m.End = nil
		if in.Summary != "" {
			cw.m.Said = w.Redact.Text(plain.Head(in.Summary, maxSpoken))
		}
		var err error
		notice, err = cw.threshold(ctx)
		later = cw.needsChild()
		return err
	})
	if errors.Is(err, session.ErrNotFound) {
		return "", nil
	}
	if later {
		w.DetachRecall(ctx, in.SessionID)
	}
	return notice, err
}

// threshold saves a checkpoint when the context exceeds a threshold of the settings, and
// returns a notice of it. It does so again only after the context was below the threshold.
func (w *contextWriter) threshold(ctx context.Context) (notice string, err error) {
	o := w.w.Options.Recall
	var told bridge
	data, err := w.w.Sessions.Side(w.s.ID, session.ContextKind).ReadAll()
	if err != nil || json.Unmarshal(data, &told) != nil || told.Session != w.s.ID || told.Tokens < 0 {
		told = bridge{}
	}
	var tokens int64
	percent := 0
	// The status line's input counts if it is newer than the last stop, else the last response in the transcript.
	if d := &w.m.Digest; d.Tokens > 0 && told.At.Before(w.m.SeenBefore) || told.Percent <= 0 {
		window := told.Window
		if window <= 0 {
			window = windowOf(d.Model, w.w.Env.Getenv)
		}
		tokens, percent = d.Tokens, int(d.Tokens*100/window)
	} else if told.At.After(w.m.Compacted) {
		tokens, percent = told.Tokens, int(told.Percent)
	}
	over := percent >= o.Threshold || o.ThresholdTokens > 0 && tokens >= o.ThresholdTokens
	if !over || w.m.Full {
		w.m.Full = over
		return "", nil
	}
	w.m.Full = true
	text := fmt.Sprintf("Context is %d%% full.", percent)
	if percent < o.Threshold {
		text = fmt.Sprintf("Context has %d tokens.", tokens)
	}
	if v := w.judge(ctx, recall.Threshold); v.save {
		c, err := w.saveOnce(ctx, Saving{Cause: recall.Threshold}, v.status)
		if err != nil {
			w.m.Full = false
			return "", err
		}
		return text + " " + savedLine(c.Summary, c.ID), nil
	}
	if w.m.Kept != nil {
		return text + " " + savedLine(w.m.Kept.Summary, w.m.Kept.ID), nil
	}
	return "", nil
}

// savedLine returns the notice of a saved checkpoint.
func savedLine(summary, id string) string {
	return fmt.Sprintf("Checkpoint saved: %q (id %s)", summary, id)
}

// bridge is the context usage that the agent passed to its status line.
type bridge struct {
	Session string    `json:"session_id"`
	Tokens  int64     `json:"tokens"`
	Window  int64     `json:"window"`
	Percent float64   `json:"percent"`
	At      time.Time `json:"at"`
}

// windowOf returns the assumed context size of a model in tokens: the larger one
// only for models that are known to have it.
func windowOf(model string, getenv func(string) string) int64 {
	const usual, large = 200_000, 1_000_000
	if off := getenv("CLAUDE_CODE_DISABLE_1M_CONTEXT"); off != "" && off != "0" && off != "false" {
		return usual
	}
	if strings.HasSuffix(model, "[1m]") {
		return large
	}
	for _, name := range []string{"claude-opus-5-5", "claude-sonnet-5-5"} {
		if strings.HasPrefix(model, name) {
			return large
		}
	}
	return usual
}

// RecallCompact saves the context before the agent compacts it.
func RecallCompact(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	later := false
	err := recollect(ctx, w, in.SessionID, endEffort(), func(ctx context.Context, cw *contextWriter) error {
		cw.seen(in.Agent)
		v := cw.judge(ctx, recall.Compact)
		if !v.save {
			return nil
		}
		_, err := cw.saveOnce(ctx, Saving{Cause: recall.Compact}, v.status)
		later = cw.needsChild()
		return err
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	if later {
		w.DetachRecall(ctx, in.SessionID)
	}
	return err
}

// RecallCompacted records the agent's summary of a compaction, also in the
// checkpoint that was saved before it.
func RecallCompacted(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	err := recollect(ctx, w, in.SessionID, stopEffort(), func(ctx context.Context, cw *contextWriter) error {
		cw.seen(in.Agent)
		cw.m.Compacted = cw.m.Seen
		cw.m.Full = false
		if in.Compaction == "" {
			return nil
		}
		cw.m.Digest.SetCompaction(in.Compaction, w.Redact)
		text, last := cw.m.Digest.Compaction, cw.m.Last
		if last == nil || last.Cause != recall.Compact {
			return nil
		}
		c, err := Contexts(w).Get(ctx, last.ID)
		if errors.Is(err, recall.ErrNotFound) {
			cw.forget(last.ID)
			return nil
		}
		if err != nil || c.Compaction == text {
			return err
		}
		c.Compaction = text
		_, err = Contexts(w).Put(ctx, c)
		return err
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}
