package app

import (
	"context"
	"errors"
	"io"
	"time"
)

// inputTimeout is how long a command waits for standard input altogether. Hooks wait
// for theirs as long as hooks.timeout allows.
const inputTimeout = 10 * time.Minute

// errInputTimeout means that what a command reads did not end.
var errInputTimeout = errors.New("standard input did not end in time")

// input reads a command's standard input: it ends with the command's context, and when
// it has waited too long, however many bytes came.
type input struct {
	ctx    context.Context //nolint:containedctx // io.Reader has no place for it
	in     io.Reader
	now    func() time.Time
	buf    []byte
	waited time.Duration
	most   time.Duration
}

// Input returns the standard input, read within a deadline.
func (a *App) Input(ctx context.Context) io.Reader {
	return &input{ctx: ctx, in: a.Streams.In, now: a.Now, most: inputTimeout}
}

// Read is that of io.Reader. The read below is left behind when the time is up: the
// stream can't be woken.
func (i *input) Read(p []byte) (int, error) {
	const largest = 64 << 10
	if err := i.ctx.Err(); err != nil || len(p) == 0 {
		return 0, err
	}
	if i.buf == nil {
		i.buf = make([]byte, largest)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	buf := i.buf[:min(len(p), largest)]
	go func() {
		n, err := i.in.Read(buf)
		done <- result{n, err}
	}()
	began := i.now()
	left := time.NewTimer(i.most - i.waited)
	defer left.Stop()
	select {
	case got := <-done:
		i.waited += i.now().Sub(began)
		return copy(p, buf[:got.n]), got.err
	case <-i.ctx.Done():
		i.buf = nil
		return 0, i.ctx.Err()
	case <-left.C:
		i.buf, i.waited = nil, i.most
		return 0, errInputTimeout
	}
}
