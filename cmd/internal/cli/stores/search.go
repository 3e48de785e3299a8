package stores

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// maxHitPaths is the maximum number of paths of a checkpoint that a search returns, shownPaths the
// number that is printed.
const (
	maxHitPaths = 100
	shownPaths  = 3
)

// NewSearchCmd returns the command search.
func NewSearchCmd(f *Command) *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:   "search <text>...",
		Short: "Find checkpoints by message, prompt, agent, metadata or path",
		Long: `Finds the checkpoints of this tree that match all words, newest first, ignoring case:
in the message, prompt, agent, action, session, branch, metadata, linked commits, or
changed paths. File contents are not searched.

With --json it prints an object; docs/formats/agentfs.md describes it.` + ExitStatus,
		Example: "  " + f.Program + ` search "auth"` + "\n  " + f.Program + " search src/auth.ts --limit 5",
		Args:    cobra.MinimumNArgs(1),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			if err := limited(limit); err != nil {
				return err
			}
			var words []string
			for _, arg := range args {
				if word := strings.ToLower(strings.TrimSpace(arg)); word != "" {
					words = append(words, word)
				}
			}
			if len(words) == 0 {
				return app.Usagef("nothing to search for")
			}
			s, err := f.Selected(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			if f.JSON {
				return f.PrintJSONList(ui.JSONList{Key: "checkpoints", Doing: "Searching", Entries: entries(func(take func(any) bool) error {
					return search(ctx, s, words, limit, unseen, func(h hit) bool {
						j := hitJSON{CheckpointJSON: whole(s, h.snapshot), Matched: []string{}, Paths: format.NotNil(h.paths)}
						for _, m := range h.matched {
							j.Matched = append(j.Matched, m.name)
						}
						return take(j)
					})
				})})
			}
			var hits []hit
			err = f.Streams.Count("Searching", func(tick func(done, total int64)) error {
				return search(ctx, s, words, limit, tick, func(h hit) bool {
					hits = append(hits, h)
					return true
				})
			})
			if err != nil {
				return err
			}
			var table ui.Table
			for _, h := range hits {
				table.AddRow(h.snapshot.Version.String(), about(h.snapshot), h.why())
			}
			f.Page(f.Streams.Table(&table))
			return nil
		}),
	}
	setup.JSONLinesFlag(f.App, cmd.Flags(), &f.JSON)
	cmd.Flags().IntVarP(&limit, "limit", "n", defaultLimit, "list at most this many; 0 lists all")
	return cmd
}

// hit is a checkpoint found by a search.
type hit struct {
	snapshot bands.Snapshot
	matched  []field
	paths    []string
}

// field is a text of a checkpoint that is searched.
type field struct{ name, value string }

// hitJSON is an element of the output of `search --json`.
type hitJSON struct {
	format.CheckpointJSON

	Matched []string `json:"matched"`
	Paths   []string `json:"paths"`
}

// search passes the checkpoints that have all of the words to take, at most limit and until take
// returns false.
func search(ctx context.Context, s *Selection, words []string, limit int, tick func(done, total int64), take func(hit) bool) (err error) {
	count := 0
	var r *diff.FileHistory
	defer func() {
		if r != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	err = eachPair(ctx, s, tick, func(now bands.Snapshot, old *bands.Snapshot) bool {
		if r == nil {
			r = diff.OpenFileHistory(s.Store, now, s.Options)
		}
		h := hit{snapshot: now}
		left := h.match(words)
		if len(left) > 0 {
			paths, err := r.Changed(ctx, old, now, maxHitPaths, func(path string) bool {
				path = strings.ToLower(path)
				return !slices.ContainsFunc(left, func(word string) bool { return !strings.Contains(path, word) })
			})
			if err != nil && ctx.Err() == nil {
				s.Command.Streams.Notef("can't search the paths of %s: %v", now.Version, err)
			}
			if len(paths) == 0 {
				return ctx.Err() == nil
			}
			h.paths = paths
			h.matched = append(h.matched, field{"path", ""})
		}
		count++
		return take(h) && (limit == 0 || count < limit)
	})
	return err
}

// match records the fields that have one of the words, and returns the words that no field has.
func (h *hit) match(words []string) (left []string) {
	by := h.snapshot.Causality
	fields := make([]field, 0, 7+len(by.Metadata)+2*len(h.snapshot.Pairs))
	fields = append(fields, field{"message", h.snapshot.Message}, field{"prompt", by.Prompt}, field{"agent", by.Agent},
		field{"action", by.Action}, field{"session_id", by.Session}, field{"branch", by.Branch}, field{"commit", by.Commit})
	for _, key := range slices.Sorted(maps.Keys(by.Metadata)) {
		fields = append(fields, field{"metadata", key + "=" + by.Metadata[key]})
	}
	for _, p := range h.snapshot.Pairs {
		fields = append(fields, field{"commit", p.Commit}, field{"checkpoint_id", p.Checkpoint})
	}
	for i := range fields {
		fields[i].value = strings.TrimSpace(fields[i].value)
	}
	found := map[string]bool{}
	for _, one := range fields {
		text := strings.ToLower(one.value)
		matches := false
		for _, word := range words {
			if strings.Contains(text, word) {
				matches, found[word] = true, true
			}
		}
		if matches {
			h.matched = append(h.matched, one)
		}
	}
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return found[word] })
}

// why lists where the words were found, except in the message or prompt, which is shown anyway.
func (h *hit) why() string {
	var parts []string
	shown := about(h.snapshot)
	for _, m := range h.matched {
		switch {
		case m.name == "path" || m.value == h.snapshot.Message || m.name == "prompt" && format.TurnText(h.snapshot) == shown && shown != "":
		case m.name == "metadata":
			parts = append(parts, ui.Line(m.value, format.MessageWidth))
		default:
			parts = append(parts, strings.TrimSuffix(m.name, "_id")+": "+ui.Line(m.value, format.MessageWidth))
		}
	}
	return strings.Join(append(parts, shortPaths(h.paths)...), ", ")
}

// shortPaths returns the first paths, and the number of the others.
func shortPaths(paths []string) []string {
	var list []string
	for i, path := range paths {
		if i == shownPaths {
			return append(list, "and "+ui.Plural(len(paths)-i, "more path"))
		}
		list = append(list, format.Path(path))
	}
	return list
}
