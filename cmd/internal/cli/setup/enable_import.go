package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/importing"
)

// findPast counts the past sessions that can be imported. It counts none if the user has decided about them
// before.
func (e *enabling) findPast(ctx context.Context) error {
	w := e.Workspace(e.repo)
	if e.opts.imports || e.opts.noImport || importing.Answered(w) {
		return nil
	}
	return e.Streams.Count("Looking for past sessions", func(tick func(done, total int64)) (err error) {
		e.past, err = importing.FindOffer(ctx, w, tick)
		return err
	})
}

// importChoice returns the question whether to import the past sessions.
func importChoice(now time.Time, past importing.Offer) choice {
	return choice{
		ui.Question{
			Title: "Import " + pastText(now, past) + "?", Default: ui.Yes, Flag: "--import or --no-import",
			Help: fmt.Sprintf("The agents kept them: %s, %s. Redacted copies stay in this clone, nothing is sent.",
				format.Size(past.Size), importTime(past.Size)),
		},
		func(e *enabling, answer string) error {
			e.opts.imports, e.opts.noImport = answer == ui.Yes, answer != ui.Yes
			return nil
		},
	}
}

// pastText describes past sessions: "312 sessions of the last 8 months".
func pastText(now time.Time, past importing.Offer) string {
	const day, week, month = 1, 7, 30
	days := int((now.Sub(past.Since) + 24*time.Hour - 1) / (24 * time.Hour))
	text := "1 session"
	if past.Sessions > 1 {
		text = ui.Thousands(int64(past.Sessions)) + " sessions"
	}
	if past.Since.IsZero() {
		return text
	}
	for _, unit := range []struct {
		days int
		name string
	}{{month, "month"}, {week, "week"}, {day, "day"}} {
		if n := (days + unit.days - 1) / unit.days; days > 2*unit.days {
			return text + " of the last " + ui.Plural(n, unit.name)
		}
	}
	return text
}

// importTime estimates how long an import takes.
func importTime(size int64) string {
	const perSecond = 30 << 20
	switch seconds := size / perSecond; {
	case seconds < 5:
		return "a few seconds"
	case seconds < 100:
		return fmt.Sprintf("about %d s", seconds)
	default:
		return fmt.Sprintf("about %d min", (seconds+59)/60)
	}
}

// importPast imports the past sessions if the user wants it, and records the answer first, so that an
// interrupted import isn't offered again. If nobody was asked, it prints a hint.
func (e *enabling) importPast(ctx context.Context) error {
	if !e.opts.imports && !e.opts.noImport {
		if e.past.Sessions > 0 {
			e.Streams.Hint("`entire import` imports " + pastText(e.Now(), e.past) + ", and links past commits to them")
		}
		return nil
	}
	if err := importing.Answer(e.Workspace(e.repo)); err != nil || e.opts.noImport {
		return err
	}
	if err := e.runImport(ctx, e.App); err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		return app.WithHint(fmt.Errorf("recording is enabled, but past sessions were not imported: %w", err), cmp.Or(app.HintOf(err), "run `entire import` again"))
	}
	e.Streams.Printf("\n")
	return nil
}
