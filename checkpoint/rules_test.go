package checkpoint_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
)

func TestRaiseRulesOfUnchangedCheckpoints(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	newer := meta("s2")
	newer.RedactionRules = 3
	f.update(t,
		put(f, idA, checkpoint.Slot{Meta: meta("s1")}), put(f, idA, checkpoint.Slot{Meta: newer}),
		put(f, idB, checkpoint.Slot{Meta: meta("s1")}))
	tree, err := checkpoint.Tree(t.Context(), f.git)
	must(t, err)
	located, err := checkpoint.BranchSource(f.git, tree).List(t.Context())
	must(t, err)
	f.update(t, put(f, idB, checkpoint.Slot{Meta: meta("s3")})) // it was changed after it was searched
	damaged := f.spoil(t, "7/metadata.json", "{")
	for _, c := range f.inspect(t, damaged, nil) {
		if c.ID == idA {
			located = append(located, checkpoint.Located{ID: idA, Dir: c.Dir})
		}
	}
	raised, n, err := checkpoint.RaiseRules(t.Context(), f.git, damaged, located, 2)
	must(t, err)
	got := map[checkpoint.ID]int{}
	for _, c := range f.inspect(t, raised, nil) {
		got[c.ID] = c.Rules
	}
	if diff := cmp.Diff(map[checkpoint.ID]int{idA: 2, idB: 0}, got); n != 1 || diff != "" {
		t.Error(n, diff)
	}
	c, err := f.readIn(t, raised, idA)
	must(t, err)
	for _, s := range c.Sessions {
		if s.Meta.SessionID == "s2" && s.Meta.RedactionRules != 3 {
			t.Errorf("lowered to %d", s.Meta.RedactionRules)
		}
	}
	again, n, err := checkpoint.RaiseRules(t.Context(), f.git, raised, located, 2)
	must(t, err)
	if again != raised || n != 0 {
		t.Errorf("%d checkpoints are changed again", n)
	}
}

// A slot that keeps the summary of an older one is masked by the older rules, too.
func TestPutKeepsTheRulesOfASummary(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	old, next := meta("s1"), meta("s1")
	old.RedactionRules, next.RedactionRules = 1, 2
	for _, c := range []struct {
		summary string
		want    int
	}{{"", 2}, {`{"intent":"x"}`, 1}} {
		if c.summary != "" {
			old.Summary = json.RawMessage(c.summary)
		}
		f.update(t, put(f, idA, checkpoint.Slot{Meta: old}), put(f, idA, checkpoint.Slot{Meta: next}))
		if got := f.read(t, idA).Sessions[0].Meta.RedactionRules; got != c.want {
			t.Errorf("summary %q: %d, want %d", c.summary, got, c.want)
		}
	}
}
