package ui

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// progressDelay is the time after which a running step is shown.
const progressDelay = time.Second

// Count is Progress for a step that reports its progress: do calls tick with the amount
// done and the total, 0 if unknown.
func (s Streams) Count(what string, do func(tick func(done, total int64)) error) error {
	return s.Stages(what, func(reach func(stage string, done, total int64)) error {
		return do(func(done, total int64) { reach("", done, total) })
	})
}

// Stages is Count for a step of several stages. The name of a stage, if not empty, is shown
// after what.
func (s Streams) Stages(what string, do func(reach func(stage string, done, total int64)) error) error {
	return s.Sized(what, func(reach func(stage string, at Amount)) error {
		return do(func(stage string, done, total int64) { reach(stage, Amount{Done: done, Total: total}) })
	})
}

// Amount is the progress of a stage: Done of Total items, and Bytes of Size. Unknown totals
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

// reached is the progress of a step.
type reached struct {
	stage string
	Amount
}

// amount returns the items and the bytes as text.
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

// beginning is the time at which a stage was first seen, with its progress at that time.
type beginning struct {
	at time.Time
	reached
}

// left returns the remaining time of the stage at its speed so far, as text. It is empty as
// long as that is unknown.
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

// remaining returns the time for rest if done took passed, 0 if unknown.
func remaining(passed time.Duration, done, rest int64) time.Duration {
	if done <= 0 || rest <= 0 {
		return 0
	}
	return time.Duration(float64(passed) * float64(rest) / float64(done))
}

// Progress shows the text what on Err while do runs, if Err is a terminal and do takes
// longer than a second. It removes its line afterwards.
func (s Streams) Progress(what string, do func() error) error {
	return spinner{s, func(time.Time) string { return what }}.during(do)
}

// ClearProgress removes the progress line if Out and Err are terminals, so that another
// line can be printed during a step. The progress line is then drawn again below it.
func (s Streams) ClearProgress() {
	if s.Terminal.Out && s.Terminal.Err && !s.Terminal.Accessible {
		fmt.Fprint(s.Err, "\r\x1b[K")
	}
}

// spinner draws the running step on Err, in one line.
type spinner struct {
	Streams

	what func(time.Time) string
}

// during draws while do runs, and then removes the line. If Err is not a terminal it only
// runs do.
func (s spinner) during(do func() error) error {
	if !s.Terminal.Err || s.Terminal.Accessible || s.Quiet {
		return do()
	}
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wait := time.NewTimer(progressDelay)
		defer wait.Stop()
		const markWidth = 2
		frames := [...]string{"⠋", "⠙", "⠸", "⠴", "⠦", "⠇"}
		for i := 0; ; i++ {
			select {
			case <-done:
				if i > 0 {
					fmt.Fprint(s.Err, "\r\x1b[K")
				}
				return
			case at := <-wait.C:
				width, _ := s.Size()
				text := Line(s.what(at), width-markWidth) // a second row couldn't be removed
				fmt.Fprintf(s.Err, "\r\x1b[K%s %s", frames[i%len(frames)], text)
				wait.Reset(progressDelay / 8)
			}
		}
	}()
	err := do()
	close(done)
	<-ended
	return err
}
