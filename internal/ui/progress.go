package ui

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// progressDelay is how long a step may take before it is named.
const progressDelay = time.Second

// Count is Progress for a step that tells how far it is: do calls tick with what
// is done, and of how much if that is known, else 0.
func (s Streams) Count(what string, do func(tick func(done, total int64)) error) error {
	var now atomic.Pointer[string]
	now.Store(&what)
	tick := func(done, total int64) {
		text := what + " " + strconv.FormatInt(done, 10)
		if total > 0 {
			text += " of " + strconv.FormatInt(total, 10)
		}
		now.Store(&text)
	}
	return s.progress(func() string { return *now.Load() }, func() error { return do(tick) })
}

// Progress names what is being done while do runs, on Err and only if that is a
// terminal and do takes longer than a second. Its line is gone afterwards.
func (s Streams) Progress(what string, do func() error) error {
	return s.progress(func() string { return what }, do)
}

func (s Streams) progress(what func() string, do func() error) error {
	if !s.Terminal.Err || s.Terminal.Accessible {
		return do()
	}
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.spin(what, done)
	}()
	err := do()
	close(done)
	<-ended
	return err
}

// spin draws until done is closed.
func (s Streams) spin(what func() string, done <-chan struct{}) {
	wait := time.NewTimer(progressDelay)
	defer wait.Stop()
	frames := [...]string{"⠋", "⠙", "⠸", "⠴", "⠦", "⠇"}
	for i := 0; ; i++ {
		select {
		case <-done:
			if i > 0 {
				fmt.Fprint(s.Err, "\r\x1b[K")
			}
			return
		case <-wait.C:
			fmt.Fprintf(s.Err, "\r\x1b[K%s %s", frames[i%len(frames)], what())
			wait.Reset(progressDelay / 8)
		}
	}
}
