package capture

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// matchesSlowly implements the definition of a pattern: "**" is any number of directories, and
// all numbers are tried.
func matchesSlowly(want, segments []string) bool {
	if len(want) == 0 {
		return len(segments) == 0
	}
	if want[0] == "**" {
		for skip := range len(segments) + 1 {
			if matchesSlowly(want[1:], segments[skip:]) {
				return true
			}
		}
		return false
	}
	if len(segments) == 0 {
		return false
	}
	ok, err := path.Match(want[0], segments[0])
	return err == nil && ok && matchesSlowly(want[1:], segments[1:])
}

func texts(p pattern) []string {
	var list []string
	for _, s := range p.segments {
		list = append(list, s.text)
	}
	return list
}

func leftOutSlowly(text string, segments []string) bool {
	p, ok := newPattern(text)
	if !ok {
		return false
	}
	for n := 1; n <= len(segments); n++ {
		if (n < len(segments) || !p.dirs) && matchesSlowly(texts(p), segments[:n]) {
			return true
		}
	}
	return false
}

// compareWithSlow compares a pattern with its slow version on a path. NewExclusion handles
// patterns of a single path separately: they are not compared.
func compareWithSlow(t *testing.T, text, name string) {
	t.Helper()
	p, ok := newPattern(text)
	segments := strings.Split(name, "/")
	if ok && p.matches(segments) != matchesSlowly(texts(p), segments) {
		t.Fatalf("pattern %q, path %q: %v", text, name, p.matches(segments))
	}
	if _, literal := literalPath(text); literal {
		return
	}
	if got := NewExclusion([]string{text}).File(name); got != leftOutSlowly(text, segments) {
		t.Fatalf("pattern %q, file %q: %v", text, name, got)
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("**/a/**/b", "x/a/y/a/b")
	f.Add("/a*/**/", "ab/c/d")
	f.Add("[", "[")
	f.Fuzz(func(t *testing.T, text, name string) {
		if strings.Count(text, "**") > 4 || len(text) > 64 || len(name) > 64 {
			t.Skip("too slow for the slow one")
		}
		compareWithSlow(t, text, name)
	})
}

func TestPatternsEqualReference(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	pick := func(parts []string, most int) string {
		var list []string
		for range 1 + rng.IntN(most) {
			list = append(list, parts[rng.IntN(len(parts))])
		}
		return strings.Join(list, "/")
	}
	names, parts := []string{"a", "b", "ab"}, []string{"a", "b", "*", "**", "**", "a*", "?", "[ab]", "["}
	for range 50_000 {
		text := pick(parts, 6)
		if rng.IntN(3) == 0 {
			text = "/" + text
		}
		if rng.IntN(3) == 0 {
			text += "/"
		}
		compareWithSlow(t, text, pick(names, 7))
	}
}

// The pattern of a hostile repository takes no longer than the product of its length
// and the path's: the worst that settings and file systems let through.
//
//nolint:paralleltest // measures processor time, so not next to the tests that work at once
func TestAttackPatternOfManyStars(t *testing.T) {
	patterns := []string{
		strings.Repeat("**/", 40) + "x/y",
		strings.Repeat("**/a/", 100) + "x",
		strings.Repeat("*a", 250) + "x",
		"/" + strings.Repeat("a/**/", 100) + "x",
	}
	long := strings.Repeat("*a", 15_000)
	patterns = append(patterns, long, long+"/x", "/"+long, "**/"+long+"/**/x", strings.Repeat("?", 30_000))
	took := testkit.ProcessorTime(t, func() {
		deep := strings.Repeat("a/", 2000) + "b"
		if e := NewExclusion(slices.Repeat(patterns, 10)); e.File(deep) || e.File(strings.Repeat("a", 255)) {
			t.Error("left out")
		}
	})
	if took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
