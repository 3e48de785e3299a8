package checkpoint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/checkpoint"
)

func ranges(lines ...int) checkpoint.LineRanges {
	var r checkpoint.LineRanges
	for _, line := range lines {
		r = r.With(line)
	}
	return r
}

// TestLineRangesRoundTrip formats lines as ranges and parses them back.
func TestLineRangesRoundTrip(t *testing.T) {
	t.Parallel()
	if got := ranges(1, 2, 3, 4, 9, 11, 12).String(); got != "1-4,9,11-12" {
		t.Errorf("got %q", got)
	}
	for hostile, want := range map[string]checkpoint.LineRanges{
		"": nil, "0": nil, "-1": nil, "2-1": nil, "1-": nil, "x": nil, "1-999999999999999999999": nil, "1-2147483648": nil,
		"1,,": ranges(1), "3,1": ranges(3), "2-4,4": ranges(2, 3, 4),
	} {
		if diff := cmp.Diff(want, checkpoint.ParseRanges(hostile)); diff != "" {
			t.Errorf("%q: %s", hostile, diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var r checkpoint.LineRanges
		places := 0
		for i, in := range rapid.SliceOfN(rapid.Bool(), 0, 60).Draw(t, "lines") {
			line := i + 1
			if in {
				r = r.With(line)
				places++
			}
		}
		if diff := cmp.Diff(r, checkpoint.ParseRanges(r.String())); diff != "" {
			t.Fatal(diff)
		}
		for place := range places {
			line, found := r.At(place)
			if before, has := r.Place(line); !found || !has || before != place {
				t.Fatalf("place %d of %v is line %d, which has place %d", place, r, line, before)
			}
		}
		if line, found := r.At(places); found {
			t.Fatalf("%v has line %d at place %d", r, line, places)
		}
	})
}

// TestWrittenRoundTrip checks the format of the lines of several writers.
func TestWrittenRoundTrip(t *testing.T) {
	t.Parallel()
	by := map[int]checkpoint.LineRanges{0: ranges(1, 2, 3, 4, 9), 10: ranges(13), 2: ranges(12)}
	const want = "0=1-4,9;2=12;10=13"
	if got := checkpoint.FormatWritten(by); got != want {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff(by, checkpoint.ParseWritten(want)); diff != "" {
		t.Error(diff)
	}
	for _, hostile := range []string{"", "=", "x=1", "-1=1", "00=1", "1", "1=", "1=x", ";;"} {
		if got := checkpoint.ParseWritten(hostile); len(got) != 0 {
			t.Errorf("%q: %v", hostile, got)
		}
	}
}

// FuzzWritten checks that any stored value for the lines of writers is parsed into ordered
// ranges, and that these are formatted as the same value again.
func FuzzWritten(f *testing.F) {
	for _, seed := range []string{"0=1-4,9;2=12", "1=3-2", "0=1;0=2", "9999999999=1", "0=1-4,3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		by := checkpoint.ParseWritten(s)
		for writer, r := range by {
			last := 0
			for _, one := range r {
				if writer < 0 || one.First <= last || one.Last < one.First {
					t.Fatalf("%q: %v", s, by)
				}
				last = one.Last
			}
			if n, ok := r.Place(last); !ok || n < 0 {
				t.Fatalf("%q: line %d has place %d", s, last, n)
			}
		}
		if diff := cmp.Diff(by, checkpoint.ParseWritten(checkpoint.FormatWritten(by))); diff != "" {
			t.Fatalf("%q: %s", s, diff)
		}
	})
}
