package ui

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// progressDelay is how long a step may take before it is named.
const progressDelay = time.Second

// Count is Progress for a step that reports how far it is: do calls tick with what
// is done, and of how much if that is known, else 0.
func (s Streams) Count(what string, do func(tick func(done, total int64)) error) error {
	return s.Stages(what, func(reach func(stage string, done, total int64)) error {
		return do(func(done, total int64) { reach("", done, total) })
	})
}

// Stages is Count for a step of several stages, which are named after what; an empty
// stage is what itself.
func (s Streams) Stages(what string, do func(reach func(stage string, done, total int64)) error) error {
	return s.Sized(what, func(reach func(stage string, at Amount)) error {
		return do(func(stage string, done, total int64) { reach(stage, Amount{Done: done, Total: total}) })
	})
}

// Amount is how much of a stage is done: in number, and in bytes. Totals that aren't known
// are 0.
type Amount struct{ Done, Total, Bytes, Size int64 }

// Sized is Stages for a step that reports bytes, too.
func (s Streams) Sized(what string, do func(reach func(stage string, at Amount)) error) error {
	var now atomic.Pointer[reached]
	now.Store(&reached{})
	var began beginning
	text := func(at time.Time) string {
		r := *now.Load()
		return strings.TrimSuffix(what+", "+r.stage, ", ") + r.amount() + began.left(r, at)
	}
	return spinner{s, text}.during(func() error {
		return do(func(stage string, at Amount) { now.Store(&reached{stage, at}) })
	})
}

// reached is how far a step is.
type reached struct {
	stage string
	Amount
}

// amount is the number and the bytes, as text.
func (a Amount) amount() string {
	var parts []string
	switch {
	case a.Total > 0:
		parts = append(parts, Thousands(a.Done)+" of "+Thousands(a.Total))
	case a.Done > 0:
		parts = append(parts, Thousands(a.Done))
	}
	switch {
	case a.Size > 0:
		parts = append(parts, Size(min(a.Bytes, a.Size))+" of "+Size(a.Size))
	case a.Bytes > 0:
		parts = append(parts, Size(a.Bytes))
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, ", ")
}

// beginning is when a stage was seen first, and how far it was then.
type beginning struct {
	at time.Time
	reached
}

// left is how long the stage takes yet, at the speed of until now, as text; empty as long
// as that would be a guess.
func (b *beginning) left(r reached, at time.Time) string {
	if b.at.IsZero() || b.stage != r.stage || b.Total != r.Total || b.Size != r.Size {
		*b = beginning{at, r}
	}
	passed := at.Sub(b.at)
	if passed < progressDelay {
		return ""
	}
	left := max(remaining(passed, r.Done-b.Done, r.Total-r.Done), remaining(passed, r.Bytes-b.Bytes, r.Size-r.Bytes)).Round(time.Second)
	if left <= 0 {
		return ""
	}
	return ", " + left.String() + " left"
}

// remaining is how long the rest takes, if as much as is done took passed; 0 if that can't
// be said.
func remaining(passed time.Duration, done, rest int64) time.Duration {
	if done <= 0 || rest <= 0 {
		return 0
	}
	return time.Duration(float64(passed) * float64(rest) / float64(done))
}

// Progress names what is being done while do runs, on Err and only if that is a
// terminal and do takes longer than a second. Its line is gone afterwards.
func (s Streams) Progress(what string, do func() error) error {
	return spinner{s, func(time.Time) string { return what }}.during(do)
}

// ClearProgress makes room for a line that is printed while a step is under way: what the
// step has drawn where Out and Err are one terminal goes, until it is drawn anew below.
func (s Streams) ClearProgress() {
	if s.Terminal.Out && s.Terminal.Err && !s.Terminal.Accessible {
		fmt.Fprint(s.Err, "\r\x1b[K")
	}
}
