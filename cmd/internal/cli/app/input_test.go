package app

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// A command ends if its standard input is never closed or receives only single bytes, after a time
// limit or when the command is interrupted.
func TestAttackInputThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		drips, interrupted bool
		want               error
	}{
		"open":        {want: errInputTimeout},
		"drips":       {drips: true, want: errInputTimeout},
		"interrupted": {interrupted: true, want: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close() }()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := &input{ctx: ctx, in: out, now: time.Now, most: 200 * time.Millisecond}
			if c.interrupted {
				r.most = time.Hour
				time.AfterFunc(50*time.Millisecond, cancel)
			}
			if c.drips {
				go func() {
					for ctx.Err() == nil {
						if _, err := in.WriteString("x"); err != nil {
							return
						}
						time.Sleep(10 * time.Millisecond)
					}
				}()
			}
			began := time.Now()
			data, err := io.ReadAll(r)
			if !errors.Is(err, c.want) || c.drips != (len(data) > 0) || time.Since(began) > 10*time.Second {
				t.Errorf("%d bytes, %v after %v", len(data), err, time.Since(began))
			}
			cancel()
		})
	}
}

func TestInputIsReadWhole(t *testing.T) {
	t.Parallel()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 20
	go func() {
		_, _ = in.Write(make([]byte, size))
		_ = in.Close()
	}()
	data, err := io.ReadAll(&input{ctx: t.Context(), in: out, now: time.Now, most: time.Minute})
	if err != nil || len(data) != size {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}
