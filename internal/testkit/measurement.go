package testkit

import (
	"fmt"
	"io"
	"runtime"
)

// Measurement is the TB of a program that measures. A failure ends the function that Do runs.
type Measurement struct {
	Progress io.Writer
	err      error
}

// Do runs f and returns the failure that ended it, or nil.
func (m *Measurement) Do(f func()) error {
	done := make(chan struct{})
	go func() { // Fatalf ends only this goroutine, and deferred calls still run
		defer close(done)
		f()
	}()
	<-done
	return m.err
}

// Helper is part of TB.
func (m *Measurement) Helper() {}

// Logf reports progress.
func (m *Measurement) Logf(format string, args ...any) { fmt.Fprintf(m.Progress, format+"\n", args...) }

// Fatalf ends the measurement.
func (m *Measurement) Fatalf(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
	runtime.Goexit()
}

// Must ends the measurement on an error.
func (m *Measurement) Must(err error) {
	if err != nil {
		m.Fatalf("%w", err)
	}
}
