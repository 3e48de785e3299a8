package attribution_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// TestUnsureLines checks which added lines are unsure: those that the base or an
// earlier commit had. The hunks are those that git prints.
func TestUnsureLines(t *testing.T) {
	t.Parallel()
	const block = "firstOfTheBlock secondOfTheBlock"
	cases := []struct {
		name  string
		file  attribution.File
		hunks []git.Hunk
		want  map[int]bool // whether an added line is unsure, by its number from 0
	}{
		{
			name:  "indented",
			file:  attribution.File{Base: []byte("a\nb\n"), Final: []byte("a\n\tb\n"), States: []attribution.State{{By: agent, Content: []byte("a\n\tb\n")}}},
			hunks: []git.Hunk{{Old: 2, OldLines: 1, New: 2, NewLines: 1}},
			want:  map[int]bool{1: true},
		},
		{
			name:  "indented beside a new line",
			file:  attribution.File{Base: []byte("a\nb\n"), Final: []byte("a\nif {\n\tb\n"), States: []attribution.State{{By: agent, Content: []byte("a\nif {\n\tb\n")}}},
			hunks: []git.Hunk{{Old: 2, OldLines: 1, New: 2, NewLines: 2}},
			want:  map[int]bool{1: false, 2: true},
		},
		{
			name:  "a block moved",
			file:  attribution.File{Base: lines("a " + block + " b c d"), Final: lines("a b c d " + block), States: []attribution.State{by(agent, "a b c d "+block)}},
			hunks: []git.Hunk{{Old: 2, OldLines: 2, New: 1}, {Old: 6, New: 5, NewLines: 2}},
			want:  map[int]bool{4: true, 5: true},
		},
		{
			name:  "a short line elsewhere is the same by chance",
			file:  attribution.File{Base: lines("a x b c d"), Final: lines("a b c d x"), States: []attribution.State{by(agent, "a b c d x")}},
			hunks: []git.Hunk{{Old: 2, OldLines: 1, New: 1}, {Old: 5, New: 5, NewLines: 1}},
			want:  map[int]bool{4: false},
		},
		{
			name:  "a copy is new",
			file:  attribution.File{Base: lines("a " + block + " b"), Final: lines(block + " b " + block), States: []attribution.State{by(agent, block+" b "+block)}},
			hunks: []git.Hunk{{Old: 1, OldLines: 1, New: 0}, {Old: 4, New: 4, NewLines: 2}},
			want:  map[int]bool{3: false, 4: false},
		},
		{
			name:  "git names a line that the base has",
			file:  attribution.File{Base: lines("a b"), Final: lines("b a n"), States: []attribution.State{by(agent, "b a n")}},
			hunks: []git.Hunk{{Old: 1, OldLines: 1, New: 0}, {Old: 2, New: 2, NewLines: 2}},
			want:  map[int]bool{1: false, 2: false},
		},
		{
			name:  "a person had what an earlier commit has, before the base removed it",
			file:  attribution.File{Base: lines("a"), Final: lines("a a-line-of-twenty-letters own"), Earlier: [][]byte{lines("a a-line-of-twenty-letters")}, States: []attribution.State{{Content: lines("a a-line-of-twenty-letters own"), Early: true}}},
			hunks: []git.Hunk{{Old: 1, New: 2, NewLines: 2}},
			want:  map[int]bool{1: true, 2: false},
		},
		{
			name:  "the agent brings back what the base removed",
			file:  attribution.File{Base: lines("a"), Final: lines("a a-line-of-twenty-letters"), Earlier: [][]byte{lines("a a-line-of-twenty-letters")}, States: []attribution.State{by(agent, "a a-line-of-twenty-letters")}},
			hunks: []git.Hunk{{Old: 1, New: 2, NewLines: 1}},
			want:  map[int]bool{1: false},
		},
		{
			name:  "what an earlier commit has comes with the commit",
			file:  attribution.File{Base: lines("a"), Final: lines("a a-line-of-twenty-letters old own"), Earlier: [][]byte{lines("a a-line-of-twenty-letters old")}},
			hunks: []git.Hunk{{Old: 1, New: 2, NewLines: 3}},
			want:  map[int]bool{1: true, 2: false, 3: false},
		},
		{
			name:  "a state that may be another's",
			file:  attribution.File{Base: lines("a"), Final: lines("a b own"), States: []attribution.State{{Content: lines("a b"), Unsure: true}}},
			hunks: []git.Hunk{{Old: 1, New: 2, NewLines: 2}},
			want:  map[int]bool{1: true, 2: false},
		},
		{
			name: "a replaced commit doesn't know an indented line, which the one before it has",
			file: attribution.File{Base: lines("a"), Final: []byte("a\n\tb\n"), States: []attribution.State{
				{Content: lines("a b"), Known: &attribution.Known{Written: map[int]attribution.Author{1: agent}}},
				{Content: []byte("a\n\tb\n"), Known: &attribution.Known{Written: map[int]attribution.Author{1: "two"}, Origins: map[int]attribution.Origin{1: {Unsure: true}}}},
			}},
			hunks: []git.Hunk{{Old: 1, New: 2, NewLines: 1}},
			want:  map[int]bool{1: false},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.file.Hunks = c.hunks
			got := map[int]bool{}
			for _, line := range c.file.Attribute().Added {
				got[line.Number] = line.Unsure
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMovedAndRemovedLine checks that a line of the base that one step moves and the
// next removes has no author: it may have moved to another file.
func TestMovedAndRemovedLine(t *testing.T) {
	t.Parallel()
	const moved = "aLineOfTheBaseThatIsMoved"
	file := attribution.File{
		Base: text("a " + moved + " b c d"), Final: text("a b c d"),
		States: []attribution.State{by(agent, "a b c d "+moved), by(attribution.Person, "a b c d")},
		Hunks:  []git.Hunk{{Old: 2, OldLines: 1, New: 1}},
	}
	for _, gone := range file.Attribute().Gone {
		if gone.Text == moved && !gone.Base && !gone.Unsure {
			t.Errorf("it is of %q", gone.By)
		}
	}
}

// TestCommitContinuesStateWithItsLines moves a block past a line that the previous state
// lacks: the line keeps its author.
func TestCommitContinuesStateWithItsLines(t *testing.T) {
	t.Parallel()
	file := attribution.File{
		Base: text("p q z e f g h c d i"), Final: text("p q NEW e f g h a b c d i"), By: "mover",
		States: []attribution.State{by(agent, "p q a b c d i z e f g h"), by("writer", "p q a b c d i NEW e f g h")},
		Hunks:  []git.Hunk{{Old: 3, OldLines: 1, New: 3, NewLines: 1}, {Old: 7, New: 8, NewLines: 2}},
	}
	if line := file.Attribute().Added[0]; line.By != "writer" {
		t.Errorf("the line is of %q", line.By)
	}
}

// TestMovedInTwoSteps checks that a line which a turn removes and adds again at another place keeps
// its author.
func TestMovedInTwoSteps(t *testing.T) {
	t.Parallel()
	const line = "aLineThatIsWrittenByAPerson"
	before := attribution.State{Content: lines("a b c " + line + " d")}
	in := func(turn, content string) attribution.State {
		return attribution.State{By: agent, Turn: turn, Content: lines(content)}
	}
	cases := []struct {
		name   string
		states []attribution.State
		want   attribution.Author
	}{
		{"in one turn", []attribution.State{before, in("1", "a b c d"), in("1", line+" a b c d")}, attribution.Person},
		{"in two turns", []attribution.State{before, in("1", "a b c d"), in("2", line+" a b c d")}, agent},
		{"by another", []attribution.State{before, {Content: lines("a b c d")}, in("1", line+" a b c d")}, agent},
		{"removed for good, and another written", []attribution.State{before, in("1", "a b c d"), in("1", "anotherLineOfTwentyLetters a b c d")}, agent},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			final := c.states[len(c.states)-1].Content
			file := attribution.File{Base: lines("a b c d"), Final: final, Hunks: []git.Hunk{{Old: 0, New: 1, NewLines: 1}}, States: c.states}
			for _, added := range file.Attribute().Added {
				if added.By != c.want || added.Unsure {
					t.Errorf("line %d is of %q (unsure: %t), want %q", added.Number, added.By, added.Unsure, c.want)
				}
			}
		})
	}
}
