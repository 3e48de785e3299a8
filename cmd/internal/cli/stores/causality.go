package stores

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// defaultLimit is the number of checkpoints that a command lists without --limit.
const defaultLimit = 20

// each calls visit with the checkpoints of the selected tree, the newest first, until it returns
// false. It prints notes on unreadable ones.
func each(ctx context.Context, s *Selection, visit func(bands.Snapshot) bool) error {
	f, seen := s.Command, false
	err := s.Registry.Rows().Each(ctx, s.Store, func(snap bands.Snapshot) bool {
		if snap.Lineage != s.Options.Lineage && !s.allTrees {
			return true
		}
		seen = true
		snap.Volume = s.Entry.Driver // the row doesn't have it
		return visit(snap)
	})
	if ctx.Err() != nil || err != nil && !seen {
		return cmp.Or(ctx.Err(), err)
	}
	if err != nil {
		f.Streams.Notef("%v", err)
		f.Streams.Hint("`" + f.call("verify") + "` lists what is damaged")
	}
	if !seen && !f.JSON {
		f.Streams.Notef("No %ss yet. Create one with `%s`.", f.noun(), f.call("checkpoint create"))
	}
	return nil
}

// eachPair is like each, with the checkpoint before each; nil for the first. It reports to tick the
// number of the store's checkpoints that it has passed.
func eachPair(ctx context.Context, s *Selection, tick func(done, total int64), visit func(now bands.Snapshot, old *bands.Snapshot) bool) error {
	versions, err := s.Versions()
	if err != nil {
		return err
	}
	var last *bands.Snapshot
	more := true
	done, total := int64(0), int64(len(versions))
	err = each(ctx, s, func(snap bands.Snapshot) bool {
		tick(done, total)
		done++
		if last != nil {
			more = visit(*last, &snap)
		}
		last = &snap
		return more
	})
	if err == nil && last != nil && more {
		visit(*last, nil)
	}
	return err
}

// unseen is for progress that is not shown.
func unseen(int64, int64) {}

// entries returns the values that visit passes to take, until take returns false, and its error.
func entries(visit func(take func(any) bool) error) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		more := true
		err := visit(func(v any) bool {
			more = yield(v, nil)
			return more
		})
		if err != nil && more {
			yield(nil, err)
		}
	}
}

// actor returns the author of the changes in a checkpoint, as agent/action. The changes at a prompt
// were made before it, by a person.
func actor(s bands.Snapshot) string {
	by := s.Causality
	if s.Cause == bands.Prompt || by.Agent == "" && by.Action == "" {
		return "manual"
	}
	if by.Action == "" || by.Agent == "" {
		return ui.Line(cmp.Or(by.Agent, by.Action), format.MessageWidth)
	}
	return ui.Line(by.Agent+"/"+by.Action, format.MessageWidth)
}

// about returns the reason for a checkpoint: its turn, or its message in quotes.
func about(s bands.Snapshot) string {
	return cmp.Or(format.TurnText(s), strings.TrimSpace(format.Quoted(s.Message)))
}

// whole returns the JSON of a checkpoint, from its description if that is readable: a row of the
// catalog has less.
func whole(s *Selection, snap bands.Snapshot) format.CheckpointJSON {
	if full, err := s.Snapshot(snap.Version); err == nil {
		snap = full
	}
	return format.NewCheckpointJSON(snap)
}

// since parses the time of --since.
func since(now time.Time, text string) (time.Time, error) {
	t, err := app.ParseTime(text, now)
	if err != nil {
		return t, app.Usagef("--since %q is neither a time such as 30m, 2h, 3d or 1w, nor a date such as 2026-01-31", text)
	}
	return t, nil
}

// limited returns an error for an invalid limit; 0 means no limit.
func limited(limit int) error {
	if limit < 0 {
		return app.Usagef("--limit must not be negative")
	}
	return nil
}
