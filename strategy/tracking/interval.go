package tracking

import (
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Interval is the time between two snapshots, or from the newest one until now.
type Interval struct {
	From, To time.Time // To is zero for now
	Until    bands.Version
	// Turn is the session at whose stop the later snapshot was taken, Others the paths that
	// changed outside its turn.
	Turn   string
	Others map[string]bool
	// OthersUnknown reports whether Others isn't known, so that the times of files decide.
	OthersUnknown bool
	// Between reports whether no turn was under way, so that background calls prove nothing.
	// Late reports whether the later snapshot was taken after the turn that it precedes had
	// begun.
	Between, Late bool
	// Begun is the turn before which the later snapshot was taken or should have been, Snapped
	// the turns whose changes have a snapshot.
	Begun   string
	Snapped map[string]bool
	// Restored is the tree that a rewind restored at the beginning of the interval, nil
	// without a rewind.
	Restored *RestoredTree
	// Interrupted reports whether that rewind was interrupted: a file that it was creating may
	// be incomplete.
	Interrupted bool
}

// hasStep reports whether a step belongs to the interval: that of the turn whose beginning the
// later snapshot missed, or one without a snapshot.
func (i *Interval) hasStep(m StepMark) bool {
	if i.Late && m.Turn == i.Begun {
		return true
	}
	isOver := !i.To.IsZero() && m.at.After(i.To.Add(workspace.ClockSlack))
	return !i.Snapped[m.Turn] && !isOver && !m.at.Before(i.From.Add(-workspace.ClockSlack))
}

// Span is the time of a tool call; End is zero while it runs.
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

// RestoredTree is the tree that a rewind restored, replacing that in its rescue.
type RestoredTree struct {
	Version bands.Version
	Root    band.Entry
	Records *band.DirectoryLoader
}

// Find returns the entry of the rewind's target at a path, nil if there is none or it can't be
// read.
func (t *RestoredTree) Find(name string) *band.Entry {
	e, err := band.LookupPath(t.Records, t.Root.Content, name)
	if err != nil {
		return nil
	}
	return &e
}
