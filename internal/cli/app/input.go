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
func (r *input) Read(p []byte) (int, error) {
	const largest = 64 << 10
	if err := r.ctx.Err(); err != nil || len(p) == 0 {
		return 0, err
	}
	if r.buf == nil {
		r.buf = make([]byte, largest)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	buf := r.buf[:min(len(p), largest)]
	go func() {
		n, err := r.in.Read(buf)
		done <- result{n, err}
	}()
	began := r.now()
	left := time.NewTimer(r.most - r.waited)
	defer left.Stop()
	select {
	case got := <-done:
		r.waited += r.now().Sub(began)
		return copy(p, buf[:got.n]), got.err
	case <-r.ctx.Done():
		r.buf = nil
		return 0, r.ctx.Err()
	case <-left.C:
		r.buf, r.waited = nil, r.most
		return 0, errInputTimeout
	}
}
