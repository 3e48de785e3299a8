package attribution_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// TestShares checks which lines count as an agent's share of a file.
func TestShares(t *testing.T) {
	t.Parallel()
	const person = attribution.Person
	lines := func(list ...string) string { return strings.Join(list, "\n") + "\n" }
	state := func(by attribution.Author, content string) attribution.State {
		return attribution.State{By: by, Content: []byte(content)}
	}
	ten := text("a b c d e f g h i j")
	cases := []struct {
		name        string
		base, final string
		states      []attribution.State
		want        attribution.Share
		counts      bool
	}{
		{"all of it", "", string(ten), []attribution.State{state(agent, string(ten))}, attribution.Share{Added: 10, Wrote: 10, Kept: 10}, true},
		{"a part of it", "", "c\n", []attribution.State{state(agent, string(ten))}, attribution.Share{Added: 1, Wrote: 10, Kept: 1}, true},
		{"replaced", "", "x\ny\n", []attribution.State{state(agent, "a\nb\n")}, attribution.Share{Added: 2, Wrote: 2}, false},
		{"emptied", "", "", []attribution.State{state(agent, "a\nb\n")}, attribution.Share{Wrote: 2}, false},
		{"an empty file that a person filled", "", "x\n", []attribution.State{state(agent, "")}, attribution.Share{Added: 1}, false},
		{
			"a quarter of what is committed", "", lines("a", "1", "2", "3"),
			[]attribution.State{state(agent, string(ten))},
			attribution.Share{Added: 4, Wrote: 10, Kept: 1},
			true,
		},
		{
			"less than a quarter and than half", "", lines("a", "1", "2", "3", "4"),
			[]attribution.State{state(agent, string(ten))},
			attribution.Share{Added: 5, Wrote: 10, Kept: 1},
			false,
		},
		{
			"less than a quarter and than half, but long", "", lines("a line of twenty letters", "1", "2", "3", "4"),
			[]attribution.State{state(agent, lines("a line of twenty letters", "b", "c"))},
			attribution.Share{Added: 5, Wrote: 3, Kept: 1},
			false,
		},
		{
			"half of the agent's among many", "", lines("a", "1", "2", "3", "4", "5", "6"),
			[]attribution.State{state(agent, "a\nb\n")},
			attribution.Share{Added: 7, Wrote: 2, Kept: 1},
			true,
		},
		{
			"blank lines and brackets don't count", "", lines("func x() {", "", "\t}", "});", "y"),
			[]attribution.State{state(agent, lines("func a() {", "", "\t}", "});", "b"))},
			attribution.Share{Added: 2, Wrote: 2},
			false,
		},
		{
			"nothing but brackets", "", lines("{", "}"),
			[]attribution.State{state(agent, lines("{", "", "}"))},
			attribution.Share{Added: 2, Wrote: 3, Kept: 2},
			true,
		},
		{
			"a last line without an end", "", "a\nb",
			[]attribution.State{state(agent, "a\nb\n")},
			attribution.Share{Added: 2, Wrote: 2, Kept: 2},
			true,
		},
		{"sorted by a person", "", lines("a", "b", "c", "d"), []attribution.State{state(agent, lines("d", "c", "b", "a"))}, attribution.Share{Added: 4, Wrote: 4, Kept: 4}, true},
		{
			"indented by a person", "", lines("  a", "  b", "\tc"),
			[]attribution.State{state(agent, lines("a", "  b", "c"))},
			attribution.Share{Added: 3, Wrote: 3, Kept: 3},
			true,
		},
		{
			"line ends of the worktree", "", lines("a", "b"),
			[]attribution.State{{By: agent, Content: []byte("a\r\nb\r\n"), Raw: true}},
			attribution.Share{Added: 2, Wrote: 2, Kept: 2},
			true,
		},
		{
			"one line in a person's file, undone", "", lines("1", "2", "3"),
			[]attribution.State{state(person, lines("1", "2", "3")), state(agent, lines("1", "X", "3"))},
			attribution.Share{},
			false,
		},
		{
			"one line in a person's file, kept", "", lines("1", "X", "3", "4", "5"),
			[]attribution.State{state(person, lines("1", "2", "3")), state(agent, lines("1", "X", "3"))},
			attribution.Share{Added: 5, Wrote: 1, Kept: 1},
			true,
		},
		{
			"staged before the last turn", "", "a\nb\n",
			[]attribution.State{state(agent, "a\nb\n"), state(agent, "x\ny\n")},
			attribution.Share{Added: 2, Wrote: 2, Kept: 2},
			true,
		},
		{
			"a person's measured edit before a part is committed", "", lines("1", "2", "a"),
			[]attribution.State{state(agent, "a\nb\nc\n"), state(person, lines("1", "2", "a"))},
			attribution.Share{Added: 3, Wrote: 3, Kept: 1},
			true,
		},
		{
			"lines of the base are nobody's", "k\nm\n", lines("k", "m", "x"),
			[]attribution.State{state(agent, lines("k", "m", "a"))},
			attribution.Share{Added: 1, Wrote: 1},
			false,
		},
		{
			"a line in a renamed file", "k\nm\n", lines("k", "m", "a"),
			[]attribution.State{state(agent, lines("k", "m", "a"))},
			attribution.Share{Added: 1, Wrote: 1, Kept: 1},
			true,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := attribution.File{Base: []byte(c.base), Final: []byte(c.final), States: c.states}
			got := file.Shares()[agent]
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got.Counts() != c.counts {
				t.Errorf("counts is %v for %+v", got.Counts(), got)
			}
		})
	}
}

// TestPropSharesEqualAttribution plays edits of known authors and commits the file, or a
// part of it: an author's share consists of the lines that Attribute assigns to them.
func TestPropSharesEqualAttribution(t *testing.T) {
	t.Parallel()
	repo := newRepository(t)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			by := authors().Draw(t, "by")
			w.edit(by)
			w.states = append(w.states, attribution.State{By: by, Content: content(w.now)})
		}
		if rapid.Bool().Draw(t, "edited before the commit") {
			w.edit(attribution.Person)
		}
		final := w.now
		if rapid.Bool().Draw(t, "a part") {
			final = w.part(repo)
		}
		file := attribution.File{Base: content(w.base), Final: content(final), States: w.states}
		unhinted := file.Shares()
		file.Hunks, _, _ = repo.diff(t, file.Base, file.Final)
		shares := file.Shares()
		if diff := cmp.Diff(shares, unhinted); diff != "" {
			t.Fatalf("without git's hunks: %s", diff)
		}
		for by, share := range shares {
			want := 0
			for _, line := range file.Attribute().Added {
				if line.By == by {
					want++
				}
			}
			if share.Kept != want || share.Kept > share.Added || by == attribution.Person {
				t.Fatalf("%q: %+v, %d lines attributed", by, share, want)
			}
			if share.Kept == 0 && share.Counts() {
				t.Fatalf("%q has a share without a line: %+v", by, share)
			}
		}
	})
}

// TestPropMovedLinesKeepTheirAuthor shuffles and indents the lines that an agent wrote.
func TestPropMovedLinesKeepTheirAuthor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		wrote := rapid.SliceOfNDistinct(rapid.StringMatching(`x[a-z]{0,5}`), 1, 20, rapid.ID).Draw(t, "lines") // no line that many files have
		moved := rapid.Permutation(wrote).Draw(t, "order")
		indent := rapid.SampledFrom([]string{"", "  ", "\t"}).Draw(t, "indent")
		final := indent + strings.Join(moved, "\n"+indent) + "\n"
		file := attribution.File{
			Final: []byte(final), States: []attribution.State{{By: agent, Content: []byte(strings.Join(wrote, "\n") + "\n")}},
		}
		want := attribution.Share{Added: len(wrote), Wrote: len(wrote), Kept: len(wrote)}
		if diff := cmp.Diff(want, file.Shares()[agent]); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzShares checks that a share never exceeds the file, for any contents, and that lines
// committed unchanged by one author are theirs.
func FuzzShares(f *testing.F) {
	f.Add([]byte("a\n"), []byte("a\nb\n"), []byte("b\n"))
	f.Add([]byte(""), []byte("{\r\n}\r\n"), []byte("{\n}"))
	f.Fuzz(func(t *testing.T, base, wrote, final []byte) {
		file := attribution.File{Base: base, Final: final, States: []attribution.State{{By: agent, Content: wrote}}}
		s := file.Shares()[agent]
		if s.Kept > s.Added || s.Added > strings.Count(string(final), "\n")+1 || s.Wrote > strings.Count(string(wrote), "\n")+1 {
			t.Fatalf("impossible share %+v", s)
		}
		file.Base, file.Final = nil, wrote
		if s := file.Shares()[agent]; len(wrote) > 0 && !s.Counts() || s.Kept != s.Wrote && !slices.Equal(wrote, nil) {
			t.Fatalf("unchanged, but %+v", s)
		}
	})
}
