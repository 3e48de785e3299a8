package attribution_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// figures are the counts of a file's lines.
type figures struct {
	Agent, Added, Modified                                   int
	AgentRemoved, AgentReplaced, HumanRemoved, HumanReplaced int
}

func count(l attribution.Lines) figures {
	var f figures
	for _, line := range l.Added {
		switch {
		case line.By != attribution.Person:
			f.Agent++
		case line.Modified:
			f.Modified++
		default:
			f.Added++
		}
	}
	for _, line := range l.Removed {
		switch {
		case line.By != attribution.Person && line.Modified:
			f.AgentReplaced++
		case line.By != attribution.Person:
			f.AgentRemoved++
		case line.Modified:
			f.HumanReplaced++
		default:
			f.HumanRemoved++
		}
	}
	return f
}

// text writes words as lines; "" is a missing file.
func text(words string) []byte {
	if words == "" {
		return nil
	}
	return []byte(strings.Join(strings.Fields(words), "\n") + "\n")
}

const agent attribution.Author = "agent"

func by(author attribution.Author, words string) attribution.State {
	return attribution.State{By: author, Content: text(words)}
}

// TestAttribute has hand-counted cases. The hunks are those that git prints.
func TestAttribute(t *testing.T) {
	t.Parallel()
	const person = attribution.Person
	hunks := func(list ...git.Hunk) []git.Hunk { return list }
	cases := []struct {
		name        string
		base, final string
		states      []attribution.State
		by          attribution.Author
		hunks       []git.Hunk
		want        figures
	}{
		{
			name: "all by the agent", final: "a b c", states: []attribution.State{by(agent, "a b c")},
			hunks: hunks(git.Hunk{New: 1, NewLines: 3}), want: figures{Agent: 3},
		},
		{
			name: "all by a person", final: "a b c", hunks: hunks(git.Hunk{New: 1, NewLines: 3}), want: figures{Added: 3},
		},
		{
			name: "two of ten lines changed before the commit", final: "a X c d e f g h Y j",
			states: []attribution.State{by(agent, "a b c d e f g h i j")},
			hunks:  hunks(git.Hunk{New: 1, NewLines: 10}), want: figures{Agent: 8, Modified: 2},
		},
		{
			name: "a line added behind the agent's", final: "a b X", states: []attribution.State{by(agent, "a b")},
			hunks: hunks(git.Hunk{New: 1, NewLines: 3}), want: figures{Agent: 2, Added: 1},
		},
		{
			name: "an agent's line deleted counts nowhere", final: "a c", states: []attribution.State{by(agent, "a b c")},
			hunks: hunks(git.Hunk{New: 1, NewLines: 2}), want: figures{Agent: 2},
		},
		{
			name: "a person's lines were there before the turn", base: "k", final: "k p a",
			states: []attribution.State{by(person, "k p"), by(agent, "k p a")},
			hunks:  hunks(git.Hunk{Old: 1, New: 2, NewLines: 2}), want: figures{Agent: 1, Added: 1},
		},
		{
			name: "the agent replaces a person's line", final: "A q", base: "",
			states: []attribution.State{by(person, "p q"), by(agent, "A q")},
			hunks:  hunks(git.Hunk{New: 1, NewLines: 2}), want: figures{Agent: 1, Added: 1},
		},
		{
			name: "a person rewrites an own new line", base: "k", final: "k P",
			states: []attribution.State{by(person, "k p"), by(agent, "j k p"), by(person, "k p")},
			hunks:  hunks(git.Hunk{Old: 1, New: 2, NewLines: 1}), want: figures{Added: 1},
		},
		{
			name: "a base line replaced by the agent", base: "a b c", final: "a B c", states: []attribution.State{by(agent, "a B c")},
			hunks: hunks(git.Hunk{Old: 2, OldLines: 1, New: 2, NewLines: 1}), want: figures{Agent: 1, AgentReplaced: 1},
		},
		{
			name: "a base line replaced by a person", base: "a b c", final: "a B c",
			hunks: hunks(git.Hunk{Old: 2, OldLines: 1, New: 2, NewLines: 1}), want: figures{Modified: 1, HumanReplaced: 1},
		},
		{
			name: "a base line replaced by the agent, and that by a person", base: "a b c", final: "a P c",
			states: []attribution.State{by(agent, "a B c")},
			hunks:  hunks(git.Hunk{Old: 2, OldLines: 1, New: 2, NewLines: 1}), want: figures{Modified: 1, HumanReplaced: 1},
		},
		{
			name: "a replacement deleted by a person", base: "a b c", final: "a c", states: []attribution.State{by(agent, "a B c")},
			hunks: hunks(git.Hunk{Old: 2, OldLines: 1, New: 1}), want: figures{HumanRemoved: 1},
		},
		{
			name: "deletions of both", base: "a b c d e", final: "b d", states: []attribution.State{by(agent, "b c d e")},
			hunks: hunks(git.Hunk{Old: 1, OldLines: 1, New: 0}, git.Hunk{Old: 3, OldLines: 1, New: 1}, git.Hunk{Old: 5, OldLines: 1, New: 2}),
			want:  figures{AgentRemoved: 1, HumanRemoved: 2},
		},
		{
			name: "the agent deletes a file", base: "a b", states: []attribution.State{by(agent, "")},
			hunks: hunks(git.Hunk{Old: 1, OldLines: 2, New: 0}), want: figures{AgentRemoved: 2},
		},
		{
			name: "staged after the first turn, committed after the second", final: "a b", by: person,
			states: []attribution.State{by(agent, "a b"), by(agent, "A B c")},
			hunks:  hunks(git.Hunk{New: 1, NewLines: 2}), want: figures{Agent: 2},
		},
		{
			name: "stashed and brought back", base: "k", final: "k a b",
			states: []attribution.State{by(agent, "k a b"), by(person, "k"), by(person, "k a b")},
			hunks:  hunks(git.Hunk{Old: 1, New: 2, NewLines: 2}), want: figures{Agent: 2},
		},
		{
			name: "an agent's own commit", base: "k", final: "k a", by: agent,
			hunks: hunks(git.Hunk{Old: 1, New: 2, NewLines: 1}), want: figures{Agent: 1},
		},
		{
			name: "two agents", final: "a b", states: []attribution.State{by("other", "a"), by(agent, "a b")},
			hunks: hunks(git.Hunk{New: 1, NewLines: 2}), want: figures{Agent: 2},
		},
		{
			name: "of two equal lines git names the other", base: "x", final: "x x", states: []attribution.State{by(agent, "x x")},
			hunks: hunks(git.Hunk{Old: 0, New: 1, NewLines: 1}), want: figures{Agent: 1},
		},
		{
			name: "a part of the agent's lines is committed", base: "k m", final: "k a m",
			states: []attribution.State{by(agent, "k a m b")},
			hunks:  hunks(git.Hunk{Old: 1, New: 2, NewLines: 1}), want: figures{Agent: 1},
		},
		{
			name: "a replaced commit has its lines", base: "k", final: "k a p q",
			states: []attribution.State{{
				Content: text("k a p"), Known: &attribution.Known{Written: map[int]attribution.Author{1: agent}},
			}},
			hunks: hunks(git.Hunk{Old: 1, New: 2, NewLines: 3}), want: figures{Agent: 1, Added: 2},
		},
		{
			name: "filtered content is no step", base: "a b", final: "a b c",
			states: []attribution.State{{Content: text("X Y"), Raw: true}, by(agent, "a b c")},
			hunks:  hunks(git.Hunk{Old: 2, New: 3, NewLines: 1}), want: figures{Agent: 1},
		},
		{
			name: "line ends of the worktree don't count", base: "a b", final: "a b p c",
			states: []attribution.State{{Content: []byte("a\r\nb\r\np\r\n"), Raw: true}, by(agent, "a b p c")},
			hunks:  hunks(git.Hunk{Old: 2, New: 3, NewLines: 2}), want: figures{Agent: 1, Added: 1},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := attribution.File{Base: text(c.base), Final: text(c.final), States: c.states, By: c.by, Hunks: c.hunks}
			if diff := cmp.Diff(c.want, count(file.Attribute())); diff != "" {
				t.Error(diff)
			}
		})
	}
}
