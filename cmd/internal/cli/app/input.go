package app

import (
	"context"
	"errors"
	"io"
	"time"
)

// inputTimeout limits the total time that a command waits for standard input. For hooks the limit
// is hooks.timeout.
const inputTimeout = 10 * time.Minute

// errInputTimeout means that standard input did not end within inputTimeout.
var errInputTimeout = errors.New("timed out reading standard input")

// input reads a command's standard input. A read fails when the command's context ends, or when all
// reads together have waited too long, regardless of how much they have read.
type input struct {
	ctx    context.Context //nolint:containedctx // io.Reader has no place for it
	in     io.Reader
	now    func() time.Time
	buf    []byte
	waited time.Duration
	most   time.Duration
}

// Input returns the standard input with a limit on the total time of its reads.
func (a *App) Input(ctx context.Context) io.Reader {
	return &input{ctx: ctx, in: a.Streams.In, now: a.Now, most: inputTimeout}
}

// Read implements io.Reader. If it returns early, it abandons the read of the stream, which can't
// be interrupted.
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
