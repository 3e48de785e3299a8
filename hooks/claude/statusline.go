package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/seed-3aff656d/entire/session"
)

// ErrPayload means that the input of the status line is unusable.
var ErrPayload = errors.New("unusable payload")

// maxPayload is the maximum number of bytes read from standard input.
const maxPayload = 16 << 20

// Line is the agent's input for its status line. Every member may be absent.
type Line struct {
	SessionID string `json:"session_id"`
	Dir       string `json:"cwd"`
	Workspace struct {
		Project string `json:"project_dir"`
	} `json:"workspace"`
	Context contextWindow `json:"context_window"`
}

type contextWindow struct {
	Input   int64         `json:"total_input_tokens"`
	Window  int64         `json:"context_window_size"`
	Percent *float64      `json:"used_percentage"`
	Usage   *contextUsage `json:"current_usage"`
}

type contextUsage struct {
	Input   int64 `json:"input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
}

// ReadLine reads one JSON value without waiting for the end of the stream. It returns early when
// ctx is done. raw is the value as read, also if it can't be decoded into line.
func ReadLine(ctx context.Context, in io.Reader) (line Line, raw []byte, err error) {
	type result struct {
		raw json.RawMessage
		err error
	}
	done := make(chan result, 1)
	go func() { // left running when ctx ends: the read can't be canceled
		var r result
		r.err = json.NewDecoder(io.LimitReader(in, maxPayload)).Decode(&r.raw)
		done <- r
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return Line{}, nil, fmt.Errorf("%w: %w", ErrPayload, r.err)
		}
		raw = r.raw
	case <-ctx.Done():
		return Line{}, nil, fmt.Errorf("%w: %w", ErrPayload, ctx.Err())
	}
	if err := json.Unmarshal(raw, &line); err != nil {
		return Line{}, raw, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	return line, raw, nil
}

// Fill returns how full the context is, false if the input doesn't contain it, as before the first
// answer.
func (l Line) Fill(now time.Time) (session.Fill, bool) {
	const hundred = 100
	c := l.Context
	f := session.Fill{SessionID: l.SessionID, Window: c.Window, At: now.UTC().Truncate(time.Millisecond)}
	if c.Usage == nil && c.Percent == nil || c.Window <= 0 || session.CheckID(l.SessionID) != nil {
		return f, false
	}
	f.Tokens = c.Input
	if u := c.Usage; u != nil {
		f.Tokens = max(u.Input, 0) + max(u.Written, 0) + max(u.Read, 0)
	}
	percent := float64(f.Tokens) / float64(c.Window) * hundred
	if c.Percent != nil {
		percent = *c.Percent
	}
	f.Percent = int(math.Round(min(max(percent, 0), hundred)))
	f.Tokens = max(f.Tokens, 0)
	return f, true
}
