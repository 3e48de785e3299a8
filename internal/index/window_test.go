package index_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/index"
)

// Windows around every turn and around both ends match the list of Turns, for every filter.
func TestWindowsMatchTurns(t *testing.T) {
	t.Parallel()
	f := index.At(t.TempDir())
	fill(t, f)
	ctx := t.Context()
	r, err := index.Open(ctx, f)
	fine(t, err)
	defer func() { fine(t, r.Close()) }()
	for _, filter := range []index.Filter{
		{}, {Branch: "feature"}, {File: "dir/file1.go"}, {Session: "session-1"}, {Words: "word3"}, {Words: "answer wor*"}, {Words: "nowhere"}, {Words: `"`},
	} {
		list, _, err := r.Turns(ctx, filter, 1000)
		fine(t, err)
		ids := func(rows []index.Row) (ids []int64) {
			for i := range rows {
				ids = append(ids, rows[i].ID)
			}
			return ids
		}
		const n = 3
		for i := range list {
			w, err := r.Window(ctx, filter, index.Place{At: list[i].At, ID: list[i].ID}, n)
			fine(t, err)
			from := max(i-n, 0)
			if diff := cmp.Diff(ids(list[from:min(i+n, len(list))]), ids(w.Rows)); diff != "" {
				t.Errorf("%+v around %d: %s", filter, i, diff)
			}
			if w.Before != from || w.Total != len(list) || w.At != i-from {
				t.Errorf("%+v around %d: %d before, %d in all, at %d", filter, i, w.Before, w.Total, w.At)
			}
			row, found, err := r.Turn(ctx, index.Place{At: list[i].At, ID: list[i].ID})
			fine(t, err)
			if !found || row.ID != list[i].ID {
				t.Errorf("turn %d: %v, %v", list[i].ID, row.ID, found)
			}
		}
		first, err := r.Window(ctx, filter, index.Newest(), n)
		fine(t, err)
		last, err := r.Window(ctx, filter, index.Oldest(), n)
		fine(t, err)
		if len(list) == 0 {
			if len(first.Rows)+len(last.Rows)+first.Total != 0 {
				t.Errorf("%+v: %+v, %+v", filter, first, last)
			}
			continue
		}
		if diff := cmp.Diff(ids(list[:min(n, len(list))]), ids(first.Rows)); diff != "" || first.At != 0 || first.Before != 0 {
			t.Errorf("%+v first: at %d, %d before: %s", filter, first.At, first.Before, diff)
		}
		if diff := cmp.Diff(ids(list[max(len(list)-n, 0):]), ids(last.Rows)); diff != "" || last.Before+last.At != len(list)-1 {
			t.Errorf("%+v last: at %d, %d before: %s", filter, last.At, last.Before, diff)
		}
	}
	if _, found, err := r.Turn(ctx, index.Place{At: noon(), ID: 999}); found || err != nil {
		t.Errorf("a turn that isn't there: %v, %v", found, err)
	}
}

// BenchmarkWindow reads windows in the middle and at the ends of 100,000 turns.
func BenchmarkWindow(b *testing.B) {
	f := index.At(b.TempDir())
	ctx := b.Context()
	w, err := index.OpenWriter(ctx, f)
	fine(b, err)
	const inSession = 100
	put := func() error {
		for s := range 1000 {
			row, err := w.PutSession(ctx, index.Session{Name: fmt.Sprintf("session-%d", s), Agent: "Agent"})
			if err != nil {
				return err
			}
			for n := range inSession {
				if _, err := w.Turns.Put(ctx, row, turn(s, n)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	fine(b, w.Close(ctx, put()))
	r, err := index.Open(ctx, f)
	fine(b, err)
	defer func() { fine(b, r.Close()) }()
	list, _, err := r.Turns(ctx, index.Filter{}, 50_000)
	fine(b, err)
	middle := list[len(list)-1]
	for _, c := range []struct {
		name   string
		filter index.Filter
		place  index.Place
	}{
		{"middle", index.Filter{}, index.Place{At: middle.At, ID: middle.ID}},
		{"end", index.Filter{}, index.Oldest()},
		{"words", index.Filter{Words: "rateLimit word7*"}, index.Newest()},
		{"file", index.Filter{File: "file1.go"}, index.Newest()},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				w, err := r.Window(ctx, c.filter, c.place, 150)
				fine(b, err)
				if len(w.Rows) < 150 {
					b.Fatalf("%d rows of %d", len(w.Rows), w.Total)
				}
			}
		})
	}
}
