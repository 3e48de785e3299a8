package redact

import (
	"bytes"
	"context"
	"sync/atomic"

	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
)

// longText is the length from which redacting a text may take longer than there is
// time: shorter ones take milliseconds, whatever is in them.
const longText = 64 << 10

// LineContext is Line, and returns an error soon after ctx ends, in the middle of a
// long line too.
func (r *Redactor) LineContext(ctx context.Context, line []byte) ([]byte, error) {
	line = keepable(line)
	return inTime(ctx, len(line), r, func(r *Redactor) []byte { return r.Line(line) })
}

// TextContext is Text, and returns an error soon after ctx ends.
func (r *Redactor) TextContext(ctx context.Context, s string) (string, error) {
	return inTime(ctx, len(s), r, func(r *Redactor) string { return r.Text(s) })
}

// CheckTextContext is CheckText, and returns an error soon after ctx ends.
func (r *Redactor) CheckTextContext(ctx context.Context, s string) ([]Hit, error) {
	return inTime(ctx, len(s), r, func(r *Redactor) []Hit { return r.CheckText(s) })
}

// CheckLineContext is CheckLine, and returns an error soon after ctx ends.
func (r *Redactor) CheckLineContext(ctx context.Context, line []byte) ([]Hit, error) {
	line = keepable(line)
	return inTime(ctx, len(line), r, func(r *Redactor) []Hit { return r.CheckLine(line) })
}

// MaskContext is m.Mask(data), and returns an error soon after ctx ends.
func MaskContext(ctx context.Context, m *forgotten.Masker, data []byte) ([]byte, error) {
	size := len(data) * max(1, m.Passes())
	if size >= longText {
		data = bytes.Clone(data)
	}
	return inTime(ctx, size, nil, func(*Redactor) []byte { return m.Mask(data) })
}

// keepable returns a line that its search may still read after an error, when the
// caller has something else in its buffer: a copy of a long one.
func keepable(line []byte) []byte {
	if len(line) < longText {
		return line
	}
	return bytes.Clone(line)
}

// inTime returns the result of do for a text of that size, or an error soon after ctx
// ends. What works on a long text does so in a goroutine, which is left behind then:
// parts of the search (one regular expression, one sort) can't be interrupted. The
// redactor that do is given ends its search as soon as it can.
func inTime[T any](ctx context.Context, size int, r *Redactor, do func(*Redactor) T) (T, error) { //nolint:ireturn // the type is the caller's
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if size < longText {
		return do(r), nil
	}
	stopped := new(atomic.Bool)
	if r != nil {
		r = &Redactor{finder{engine: r.engine, stopped: stopped}}
	}
	type result struct {
		value    T
		panicked any
	}
	done := make(chan result, 1)
	go func() {
		var got result
		defer func() {
			got.panicked = recover()
			done <- got
		}()
		got.value = do(r)
	}()
	select {
	case got := <-done:
		if got.panicked != nil {
			panic(got.panicked)
		}
		return got.value, nil
	case <-ctx.Done():
		stopped.Store(true) // what was searched in part is not redacted
		return none, ctx.Err()
	}
}
