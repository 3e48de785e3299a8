package checkpoint_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// clone is a copy of the branch and its expected content: the number of lines of each session's
// transcript.
type clone struct {
	tip   git.OID
	lines map[string]int
}

// TestMergeProperty lets two copies of the branch grow and merge each other at random. In the
// end both contain everything, each session at its longest.
func TestMergeProperty(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "random merges")
	f := newMergeFixture(t)
	ids := []checkpoint.ID{idOne, idTwo, idThree}
	rapid.Check(t, func(rt *rapid.T) {
		first := f.commit("")
		clones := []clone{{first, map[string]int{}}, {first, map[string]int{}}}
		pull := func(into, from int) {
			clones[into].tip = f.merge(clones[into].tip, clones[from].tip).OID
			for key, n := range clones[from].lines {
				clones[into].lines[key] = max(n, clones[into].lines[key])
			}
		}
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			c := &clones[rapid.IntRange(0, 1).Draw(rt, "clone")]
			id := rapid.SampledFrom(ids).Draw(rt, "id")
			session := rapid.SampledFrom([]string{"s", "t", "u"}).Draw(rt, "session")
			key := fmt.Sprintf("%s %s", id, session)
			c.lines[key] += rapid.IntRange(1, 3).Draw(rt, "lines") // transcripts only grow
			c.tip = f.commit(c.tip, f.put(id, session, c.lines[key]))
			if rapid.IntRange(0, 3).Draw(rt, "pull") == 0 {
				into := rapid.IntRange(0, 1).Draw(rt, "into")
				pull(into, 1-into)
			}
		}
		there := f.sessions(f.merge(clones[1].tip, clones[0].tip))
		pull(0, 1)
		here, err := f.git.Commit(t.Context(), string(clones[0].tip))
		must(t, err)
		if diff := cmp.Diff(there, f.sessions(here)); diff != "" {
			rt.Errorf("merged in the other direction: %s", diff)
		}
		pull(1, 0)
		if clones[0].tip != clones[1].tip {
			rt.Error("the copies differ")
		}
		want := maps.Clone(clones[0].lines)
		got := map[string]int{}
		c, err := f.git.Commit(t.Context(), string(clones[0].tip))
		must(t, err)
		for _, line := range f.sessions(c) {
			var id, session string
			var n int
			if _, err := fmt.Sscan(line, &id, &session, &n); err != nil {
				rt.Fatal(err)
			}
			got[id+" "+session] = n
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Error(diff)
		}
	})
}
