package checkpoint_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
)

// later redacts another word, too.
type later struct{ secrets }

func (later) Line(line []byte) []byte {
	return bytes.ReplaceAll(secrets{}.Line(line), []byte("l4ter"), []byte("REDACTED"))
}

// A masked transcript is the same as one that is stored with what is known then, also when it
// grows, and segments without the new secret are kept.
func TestMask(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	line := strings.Repeat("x", 1000) + "\n"
	text := strings.Repeat(line, 300) + "l4ter\n" + strings.Repeat(line, 400) + "s3cret\n"
	path := filepath.Join(t.TempDir(), "t.jsonl")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	w := f.segmenter("masked")
	st, err := w.Extend(t.Context(), session.Segments{}, path, int64(len(text)), 0)
	must(t, err)
	before, err := w.Transcript(st)
	must(t, err)
	w.Redact = later{}
	masked, err := w.Mask(t.Context(), st, true)
	must(t, err)
	if again, err := w.Mask(t.Context(), masked, false); err != nil || !cmp.Equal(again, masked) {
		t.Errorf("masked twice: %v", err)
	}
	text += line + "l4ter again\n"
	must(t, os.WriteFile(path, []byte(text), 0o600))
	masked, err = w.Extend(t.Context(), masked, path, int64(len(text)), 0)
	must(t, err)
	got, err := w.Transcript(masked)
	must(t, err)
	fresh := f.segmenter("fresh")
	fresh.Redact = later{}
	st2, err := fresh.Extend(t.Context(), session.Segments{Second: true}, path, int64(len(text)), 0)
	must(t, err)
	want, err := fresh.Transcript(st2)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Segments[0] != before.Segments[0] || got.Segments[1] == before.Segments[1] || len(got.Segments) != 3 {
		t.Errorf("%v became %v", before.Segments, got.Segments)
	}
	if old, err := w.Transcript(st); err != nil || !cmp.Equal(old, before) {
		t.Errorf("the former list: %v, %v", old, err)
	}
	// Another process that knows less writes its list over this one.
	w.Redact = secrets{}
	_, err = w.Extend(t.Context(), session.Segments{Second: true}, path, int64(len(text)), 0)
	must(t, err)
	if _, err := w.Transcript(masked); !errors.Is(err, checkpoint.ErrTranscriptLost) {
		t.Errorf("got %v", err)
	}
}
