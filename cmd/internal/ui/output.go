package ui

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"
)

// output is a file that keeps the first write error: most callers that print do not check
// it.
type output struct {
	file   *os.File
	failed atomic.Pointer[error]
}

// Write writes to the file.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// OutError returns the first error of a write to Out, nil if Out isn't from Detect. A
// reader that has closed its end of a pipe is not an error.
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

// Inherited returns Out for a child process: the file itself, if there is one.
func (s Streams) Inherited() io.Writer {
	if o, ok := s.Out.(*output); ok {
		return o.file
	}
	return s.Out
}
