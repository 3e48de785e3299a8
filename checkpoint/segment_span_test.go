package checkpoint_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// segmentsOf writes the lines as segments of each lines.
func (f *fixture) segmentsOf(tb testing.TB, lines []string, each int) checkpoint.StoredTranscript {
	tb.Helper()
	var t checkpoint.StoredTranscript
	for len(lines) > 0 {
		n := min(each, len(lines))
		oid, err := f.git.WriteBlob([]byte(strings.Join(lines[:n], "\n")))
		must(tb, err)
		t.Segments = append(t.Segments, oid)
		lines = lines[n:]
	}
	return t
}

// linesIn collects the lines that Lines yields.
func (f *fixture) linesIn(tb testing.TB, t checkpoint.StoredTranscript, s checkpoint.LineSpan) []string {
	tb.Helper()
	var got []string
	must(tb, t.Lines(tb.Context(), f.git, s, func(line []byte, n int) error {
		got = append(got, fmt.Sprintf("%d %s", n, line))
		return nil
	}))
	return got
}

func TestLinesOfSpan(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	const total = 11
	lines := make([]string, total)
	for i := range lines {
		lines[i] = strings.Repeat("x", i%3) // some are empty
	}
	for each := range total + 2 {
		transcript := f.segmentsOf(t, lines, each+1)
		for from := range total + 2 {
			for to := range total + 3 {
				for _, known := range []int{0, total, total - 4, total + 4} {
					var want []string
					for i := from; i < total && (to == 0 || i < to); i++ {
						want = append(want, fmt.Sprintf("%d %s", i, lines[i]))
					}
					got := f.linesIn(t, transcript, checkpoint.LineSpan{From: from, To: to, Total: known})
					if known == 0 || known == total {
						if diff := cmp.Diff(want, got); diff != "" {
							t.Fatalf("%d each, %d to %d, total %d:\n%s", each+1, from, to, known, diff)
						}
					}
				}
			}
		}
	}
}

func TestLinesBeforeSpanAreNotRead(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	transcript := f.segmentsOf(t, strings.Split("0 1 2 3 4 5 6 7", " "), 2)
	transcript.Segments[0] = git.OID(strings.Repeat("1", 40)) // a missing object
	got := f.linesIn(t, transcript, checkpoint.LineSpan{From: 3, To: 5, Total: 8})
	if diff := cmp.Diff([]string{"3 3", "4 4"}, got); diff != "" {
		t.Error(diff)
	}
	err := transcript.Lines(t.Context(), f.git, checkpoint.LineSpan{From: 3}, func([]byte, int) error { return nil })
	if !errors.Is(err, git.ErrMissing) {
		t.Errorf("got %v", err)
	}
}

func TestLinesOmitTrailingEmptyLine(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	oid, err := f.git.WriteBlob([]byte("a\nb\n"))
	must(t, err)
	transcript := checkpoint.StoredTranscript{Segments: []git.OID{oid}}
	if diff := cmp.Diff([]string{"0 a", "1 b"}, f.linesIn(t, transcript, checkpoint.LineSpan{})); diff != "" {
		t.Error(diff)
	}
	stop := errors.New("stop")
	if err := transcript.Lines(t.Context(), f.git, checkpoint.LineSpan{}, func([]byte, int) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestAfterEarlierState(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	lines := strings.Split("a b c d e f g", " ")
	for before := range len(lines) + 1 {
		old := f.segmentsOf(t, lines[:before], 3)
		rest, span, err := f.segmentsOf(t, lines, 3).After(t.Context(), f.git, old)
		must(t, err)
		var got []string
		must(t, rest.Lines(t.Context(), f.git, span, func(line []byte, _ int) error {
			got = append(got, string(line))
			return nil
		}))
		if strings.Join(got, " ") != strings.Join(lines[before:], " ") {
			t.Errorf("after %d: %q", before, got)
		}
	}
}
