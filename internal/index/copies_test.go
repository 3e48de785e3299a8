package index_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/index"
)

// heldTurn is a turn with messages in a session.
type heldTurn struct {
	session, prompt string
	key             int64
	messages        []int64
	isMarked        bool
}

// owned returns the turns that are selected, with the number of messages and of output tokens of each.
func owned(t *testing.T, put func(ctx context.Context, w *index.Writer) error) []string {
	t.Helper()
	ctx := t.Context()
	f := index.At(t.TempDir())
	w, err := index.OpenWriter(ctx, f)
	fine(t, err)
	fine(t, w.Close(ctx, put(ctx, w)))
	r, err := index.Open(ctx, f)
	fine(t, err)
	defer func() { fine(t, r.Close()) }()
	rows, _, err := r.Turns(ctx, index.Filter{}, 100)
	fine(t, err)
	var list []string
	for _, row := range rows {
		list = append(list, fmt.Sprintf("%s: %s, %d", row.Session, row.Prompt, row.Tokens.Output))
	}
	sessions, _, err := r.Sessions(ctx, index.SessionFilter{}, -1)
	fine(t, err)
	for _, s := range sessions {
		list = append(list, fmt.Sprintf("%s has %d", s.Name, s.Turns))
	}
	slices.Sort(list)
	return list
}

// TestCopiesHaveOneOwner writes the sessions in both orders, and again after one of them was removed.
func TestCopiesHaveOneOwner(t *testing.T) {
	for _, c := range []struct {
		name    string
		started map[string]int // minutes after noon at which the recording of a session began
		turns   []heldTurn
		want    []string
	}{
		{
			"the session whose recording began first",
			map[string]int{"a": 1, "b": 2},
			[]heldTurn{{"a", "one", 1, []int64{1}, false}, {"b", "one", 1, []int64{1}, false}, {"b", "two", 2, []int64{2}, false}},
			[]string{"a has 1", "a: one, 10", "b has 1", "b: two, 10"},
		},
		{
			"a mark precedes times",
			map[string]int{"a": 1},
			[]heldTurn{{"a", "one", 1, []int64{1}, true}, {"b", "one", 1, []int64{1}, false}},
			[]string{"a has 0", "b has 1", "b: one, 10"},
		},
		{
			"by messages only",
			map[string]int{"a": 1, "b": 2},
			[]heldTurn{{"a", "one", 1, []int64{1, 2}, false}, {"b", "one", 7, []int64{1, 2}, false}},
			[]string{"a has 1", "a: one, 20", "b has 0"},
		},
		{
			"by the key of a request without an answer",
			map[string]int{"a": 1, "b": 2},
			[]heldTurn{{"a", "one", 1, nil, false}, {"b", "one", 1, nil, false}},
			[]string{"a has 1", "a: one, 0", "b has 0"},
		},
		{
			"a copied turn that goes on",
			map[string]int{"a": 1, "b": 2},
			[]heldTurn{{"a", "one", 1, []int64{1}, false}, {"b", "one", 1, []int64{1, 2}, false}},
			[]string{"a has 1", "a: one, 10", "b has 0", "b: one, 10"},
		},
		{
			"equal ids of messages of different requests",
			map[string]int{"a": 1, "b": 2},
			[]heldTurn{{"a", "one", 1, []int64{1}, false}, {"b", "two", 2, []int64{1}, false}},
			[]string{"a has 1", "a: one, 10", "b has 1", "b: two, 0"},
		},
		{
			"a copy of a copy",
			map[string]int{"a": 1, "b": 2, "c": 3},
			[]heldTurn{{"a", "one", 1, []int64{1}, false}, {"b", "one", 1, []int64{1}, false}, {"b", "two", 2, []int64{2}, false}, {"c", "one", 1, []int64{1}, false}, {"c", "two", 2, []int64{2}, false}},
			[]string{"a has 1", "a: one, 10", "b has 1", "b: two, 10", "c has 0"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			put := func(ctx context.Context, w *index.Writer, turns []heldTurn) error {
				for _, h := range turns {
					s := index.Session{Name: h.session}
					if n, found := c.started[h.session]; found {
						s.Started = noon().Add(time.Duration(n) * time.Minute)
					}
					row, err := w.PutSession(ctx, s)
					if err != nil {
						return err
					}
					turn := &index.Turn{Key: h.key, End: 10, At: noon(), Ended: noon(), Prompt: h.prompt, Marked: h.isMarked}
					for _, id := range h.messages {
						turn.Messages = append(turn.Messages, index.Message{ID: id, Model: "m", Tokens: index.Tokens{Output: 10}})
					}
					if _, err := w.Turns.Put(ctx, row, turn); err != nil {
						return err
					}
				}
				return w.ResolveCopies(ctx)
			}
			reversed := slices.Clone(c.turns)
			slices.Reverse(reversed)
			for name, fill := range map[string]func(ctx context.Context, w *index.Writer) error{
				"in order": func(ctx context.Context, w *index.Writer) error { return put(ctx, w, c.turns) },
				"reversed": func(ctx context.Context, w *index.Writer) error { return put(ctx, w, reversed) },
				"resolved after each": func(ctx context.Context, w *index.Writer) error {
					for _, h := range reversed {
						if err := put(ctx, w, []heldTurn{h}); err != nil {
							return err
						}
					}
					return nil
				},
				"the first removed and written again": func(ctx context.Context, w *index.Writer) error {
					if err := put(ctx, w, c.turns); err != nil {
						return err
					}
					if err := w.DropUnlinked(ctx, "a"); err != nil {
						return err
					}
					if err := w.ResolveCopies(ctx); err != nil {
						return err
					}
					return put(ctx, w, c.turns)
				},
			} {
				if diff := cmp.Diff(c.want, owned(t, fill)); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			if c.started["b"] == 0 {
				return
			}
			left := owned(t, func(ctx context.Context, w *index.Writer) error {
				if err := put(ctx, w, c.turns); err != nil {
					return err
				}
				if err := w.DropUnlinked(ctx, "a"); err != nil {
					return err
				}
				return w.ResolveCopies(ctx)
			})
			if !slices.ContainsFunc(left, func(line string) bool { return line[:2] == "b:" }) {
				t.Errorf("nothing is left of the copied turns: %v", left)
			}
		})
	}
}
