package history

import (
	"strconv"
	"strings"
	"testing"
)

// TestPlaces checks which arguments name lines of a file.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]place{
		"a.go:12":                      {"a.go", 12, 12},
		"a.go:12-20":                   {"a.go", 12, 20},
		"C:/a b.go:007":                {"C:/a b.go", 7, 7},
		"a:3:4":                        {"a:3", 4, 4},
		"a.go:0":                       {path: "a.go"},
		"a.go:5-2":                     {path: "a.go"},
		"a.go:5-":                      {path: "a.go"},
		"a.go:+5":                      {path: "a.go"},
		"a.go:1,5":                     {path: "a.go"},
		"a.go:99999999999999999999999": {path: "a.go"},
	} {
		if got, ok := splitPlace(what); !ok || got != want {
			t.Errorf("%s: %+v, %v", what, got, ok)
		}
	}
	for _, what := range []string{"a.go", ":12", "a.go:", "a.go:x", "http://x", "say: 12 of them", "a.go:-", "HEAD:a.go"} {
		if got, ok := splitPlace(what); ok {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// FuzzPlace checks that the lines are those in the argument, and a valid range.
func FuzzPlace(f *testing.F) {
	for _, seed := range []string{"a.go:12", "a.go:12-20", "a:0-0", "a: 1", ":1", "a:1-2-3", "a:+1--2", "a:9223372036854775808", "a:1_0", "a:\u0661"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, what string) {
		p, ok := splitPlace(what)
		if !ok {
			if p != (place{}) {
				t.Fatalf("%q: %+v", what, p)
			}
			return
		}
		lines, found := strings.CutPrefix(what, p.path+":")
		if !found || p.path == "" {
			t.Fatalf("%q is of %q", what, p.path)
		}
		if p.from == 0 && p.to == 0 {
			return
		}
		if p.from < 1 || p.to < p.from {
			t.Fatalf("%q: from %d to %d", what, p.from, p.to)
		}
		first, last, isRange := strings.Cut(lines, "-")
		if !isRange {
			last = first
		}
		if strings.TrimLeft(first, "0") != strconv.Itoa(p.from) || strings.TrimLeft(last, "0") != strconv.Itoa(p.to) {
			t.Fatalf("%q: from %d to %d", what, p.from, p.to)
		}
	})
}
