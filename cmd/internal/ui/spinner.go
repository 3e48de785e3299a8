package ui

import (
	"fmt"
	"time"
)

// spinner draws the running step on Err, in one line.
type spinner struct {
	Streams

	what func(time.Time) string
}

// during draws while do runs, and then removes the line. If Err is not a terminal it only
// runs do.
func (s spinner) during(do func() error) error {
	if !s.Terminal.Err || s.Terminal.Accessible {
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
