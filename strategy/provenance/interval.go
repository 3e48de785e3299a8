package provenance

import (
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Interval is the time between two snapshots, or from the newest one until now.
type Interval struct {
	From, To time.Time // to is zero for now
	Until    bands.Version
	// Turn is the session at whose stop the later snapshot was taken, others what
	// changed and isn't of its turn.
	Turn   string
	Others map[string]bool
	// OthersUnknown reports whether Others isn't known, so that the times of files decide.
	OthersUnknown bool
	// Between reports whether no turn was under way: what still runs in the background
	// proves nothing. late reports whether the snapshot was taken after the turn began
	// which it precedes.
	Between, Late bool
	// Begun is the turn before which the later snapshot was taken or meant to be,
	// snapped the turns of whose changes there is a snapshot.
	Begun   string
	Snapped map[string]bool
	// Restored is the tree that a rewind made at the beginning of it, nil if none did.
	Restored *RestoredTree
	// Interrupted reports whether it was interrupted: a file that it was creating may be
	// there in part.
	Interrupted bool
}

// hasStep reports whether a step is about the interval: that of the turn whose
// beginning the later snapshot missed, or one of which no snapshot was taken.
func (i *Interval) hasStep(m StepMark) bool {
	if i.Late && m.Turn == i.Begun {
		return true
	}
	isOver := !i.To.IsZero() && m.at.After(i.To.Add(workspace.ClockSlack))
	return !i.Snapped[m.Turn] && !isOver && !m.at.Before(i.From.Add(-workspace.ClockSlack))
}

// Span is the time of a tool call; end is zero while it runs.
type Span struct{ Start, End time.Time }

// Covers reports whether a time is within the span or shortly after.
func (s Span) Covers(at time.Time, after time.Duration) bool {
	return s.Start.IsZero() || !at.Before(s.Start.Add(-workspace.ClockSlack)) && (s.End.IsZero() || !at.After(s.End.Add(after)))
}

// Within reports whether the span and the interval overlap.
func (s Span) Within(st *Interval) bool {
	if s.Start.IsZero() {
		return true
	}
	return (st.To.IsZero() || !s.Start.After(st.To)) && (s.End.IsZero() || s.End.After(st.From))
}

// mergeSpans orders spans and merges those that overlap.
func mergeSpans(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.Start.Compare(b.Start) })
	var apart []Span
	for _, s := range spans {
		n := len(apart)
		if n == 0 || !apart[n-1].End.IsZero() && s.Start.After(apart[n-1].End) {
			apart = append(apart, s)
			continue
		}
		if last := &apart[n-1]; !last.End.IsZero() && (s.End.IsZero() || s.End.After(last.End)) {
			last.End = s.End
		}
	}
	return apart
}

// RestoredTree is what a rewind made of the tree that its rescue holds.
type RestoredTree struct {
	Version bands.Version
	Root    tree.Entry
	Records *tree.Records
}

// Find is what the rewind's target has at a path, nil if nothing or if it isn't
// known.
func (t *RestoredTree) Find(name string) *tree.Entry {
	e, err := tree.Lookup(t.Records, t.Root.Content, name)
	if err != nil {
		return nil
	}
	return &e
}
