package claude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/session"
)

func TestFillOfLine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		window string
		want   session.Fill // without id and time
		known  bool
	}{
		"measured":           {`{"total_input_tokens": 17010, "context_window_size": 1000000, "current_usage": {"input_tokens": 10, "output_tokens": 42, "cache_creation_input_tokens": 2000, "cache_read_input_tokens": 15000}, "used_percentage": 2}`, session.Fill{Tokens: 17010, Window: 1_000_000, Percent: 2}, true},
		"before an answer":   {`{"total_input_tokens": 0, "context_window_size": 200000, "current_usage": null, "used_percentage": null}`, session.Fill{}, false},
		"after a compaction": {`{"total_input_tokens": 0, "context_window_size": 200000, "current_usage": {"input_tokens": 0}, "used_percentage": 0}`, session.Fill{Window: 200_000}, true},
		"no percentage":      {`{"context_window_size": 200000, "current_usage": {"input_tokens": 50000}}`, session.Fill{Tokens: 50_000, Window: 200_000, Percent: 25}, true},
		"no usage":           {`{"context_window_size": 200000, "total_input_tokens": 100, "used_percentage": 69.6}`, session.Fill{Tokens: 100, Window: 200_000, Percent: 70}, true},
		"no window":          {`{"context_window_size": 0, "used_percentage": 3}`, session.Fill{}, false},
		"nothing":            {`{}`, session.Fill{}, false},
		"absurd":             {`{"context_window_size": 10, "total_input_tokens": -4, "used_percentage": 1e300}`, session.Fill{Window: 10, Percent: 100}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line, raw, err := claude.ReadLine(t.Context(), strings.NewReader(`{"session_id": "s", "context_window": `+c.window+`} more`))
			if err != nil || !json.Valid(raw) {
				t.Fatal(err)
			}
			c.want.SessionID, c.want.At = "s", at
			got, known := line.Fill(at.Add(time.Microsecond))
			if known != c.known {
				t.Errorf("known %v", known)
			}
			if diff := cmp.Diff(c.want, got); known && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadLineTimesOut(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, raw, err := claude.ReadLine(ctx, r); err == nil || raw != nil {
		t.Errorf("%q, %v", raw, err)
	}
}

// TestRecordedLines reads the recorded input of a status line from the genuine client.
func TestRecordedLines(t *testing.T) {
	t.Parallel()
	samples := os.Getenv("ENTIRE_SAMPLES")
	files, err := filepath.Glob(filepath.Join(samples, "lab-*", "*", "statusline-payloads.jsonl"))
	if samples == "" || err != nil || len(files) == 0 {
		t.Skip("ENTIRE_SAMPLES names no recorded payloads")
	}
	fills := 0
	for _, path := range files {
		for text := range bytes.Lines([]byte(read(t, path))) {
			var recorded struct{ Stdin json.RawMessage }
			if err := json.Unmarshal(text, &recorded); err != nil {
				t.Fatal(err)
			}
			line, raw, err := claude.ReadLine(t.Context(), bytes.NewReader(recorded.Stdin))
			if err != nil || !bytes.Equal(raw, recorded.Stdin) || line.Dir == "" || line.Workspace.Project == "" {
				t.Errorf("%v: %s", err, text)
			}
			fill, known := line.Fill(time.Now())
			if known != (line.Context.Percent != nil) || known && fill.Tokens != line.Context.Input {
				t.Errorf("%+v of %s", fill, text)
			}
			if known {
				fills++
			}
		}
	}
	if fills == 0 {
		t.Error("no line had a fill")
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","cwd":"/a","context_window":{"context_window_size":10,"used_percentage":1e400}}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"context_window":{"current_usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807},"context_window_size":1},"session_id":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		line, raw, err := claude.ReadLine(t.Context(), bytes.NewReader(data))
		if raw != nil && !json.Valid(raw) {
			t.Errorf("%q is no JSON", raw)
		}
		fill, known := line.Fill(time.Now())
		if err != nil && known {
			t.Error("a fill of a line that couldn't be read")
		}
		if known && (fill.Tokens < 0 || fill.Percent < 0 || fill.Percent > 100 || session.CheckID(fill.SessionID) != nil) {
			t.Errorf("%+v", fill)
		}
	})
}
