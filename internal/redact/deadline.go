package redact

import (
	"bytes"
	"context"
	"sync/atomic"

	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
)

// longText is the length from which redacting a text may exceed a deadline. Shorter texts
// take milliseconds whatever their content.
const longText = 64 << 10

// LineContext is Line, but returns an error soon after ctx ends, even in the middle of a
// long line.
func (r *Redactor) LineContext(ctx context.Context, line []byte) ([]byte, error) {
	line = keepable(line)
	return inTime(ctx, len(line), r, func(r *Redactor) []byte { return r.Line(line) })
}

// TextContext is Text, but returns an error soon after ctx ends.
func (r *Redactor) TextContext(ctx context.Context, s string) (string, error) {
	return inTime(ctx, len(s), r, func(r *Redactor) string { return r.Text(s) })
}

// CheckTextContext is CheckText, but returns an error soon after ctx ends.
func (r *Redactor) CheckTextContext(ctx context.Context, s string) ([]Hit, error) {
	return inTime(ctx, len(s), r, func(r *Redactor) []Hit { return r.CheckText(s) })
}

// CheckLineContext is CheckLine, but returns an error soon after ctx ends.
func (r *Redactor) CheckLineContext(ctx context.Context, line []byte) ([]Hit, error) {
	line = keepable(line)
	return inTime(ctx, len(line), r, func(r *Redactor) []Hit { return r.CheckLine(line) })
}

// MaskContext is m.Mask(data), but returns an error soon after ctx ends.
func MaskContext(ctx context.Context, m *forgotten.Masker, data []byte) ([]byte, error) {
	size := len(data) * max(1, m.Passes())
	if size >= longText {
		data = bytes.Clone(data)
	}
	return inTime(ctx, size, nil, func(*Redactor) []byte { return m.Mask(data) })
}

// keepable returns line, or a copy if it is long: after an error the search may still read
// it while the caller reuses the buffer.
func keepable(line []byte) []byte {
	if len(line) < longText {
		return line
	}
	return bytes.Clone(line)
}

// inTime returns the result of do for a text of size bytes, or an error soon after ctx
// ends. For a long text do runs in a goroutine, which is abandoned when ctx ends: parts of
// the search (one regular expression, one sort) can't be interrupted. The redactor passed
// to do ends its search as soon as it can.
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
		stopped.Store(true) // a partial search would leave secrets
		return none, ctx.Err()
	}
}
