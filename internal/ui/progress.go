package ui

import (
	"fmt"
	"time"
)

// progressDelay is how long a step may take before it is named.
const progressDelay = time.Second

// Progress names what is being done while do runs, on Err and only if that is a
// terminal and do takes longer than a second. Its line is gone afterwards.
func (s Streams) Progress(what string, do func() error) error {
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
func (s Streams) spin(what string, done <-chan struct{}) {
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
			fmt.Fprintf(s.Err, "\r%s %s", frames[i%len(frames)], what)
			wait.Reset(progressDelay / 8)
		}
	}
}
