package ui

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"
)

// output is a file that keeps the first error of its writes: most of what commands print is
// written where nobody checks the error.
type output struct {
	file   *os.File
	failed atomic.Pointer[error]
}

// Write is that of the file.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// OutError is the first error of a write to Out, nil where Out isn't of Detect. That a reader
// has closed its end of a pipe is no error.
func (s Streams) OutError() error {
	o, ok := s.Out.(*output)
	if !ok {
		return nil
	}
	if failed := o.failed.Load(); failed != nil && !errors.Is(*failed, syscall.EPIPE) {
		return *failed
	}
	return nil
}

// Inherited is Out for a program that is started: the file itself, if there is one.
func (s Streams) Inherited() io.Writer {
	if o, ok := s.Out.(*output); ok {
		return o.file
	}
	return s.Out
}
