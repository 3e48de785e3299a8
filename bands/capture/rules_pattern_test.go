package capture

import "testing"

// The expected results are those of git for the same line of a .gitignore.
func TestPatternsAgreeWithGit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, file string
		out           bool
	}{
		{"a/**", "a", false},
		{"a/**", "a/b", true},
		{"a/**", "a/b/c", true},
		{"a/**", "x/a/b", false},
		{"a/**/**", "a", false},
		{"a/**/**", "a/b", true},
		{"**/a/**", "x/a", false},
		{"**/a/**", "x/a/b", true},
		{"a/**/", "a/b", false},
		{"a/**/", "a/b/c", true},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/b", true},
		{"/**", "a", true},
		{"**", "a/b", true},
		{"**/**", "a", true},
		{"**/", "a", false},
		{"**/", "a/b", true},
		{"a", "x/a/b", true},
		{"/a", "x/a", false},
	} {
		if got := NewExclusion([]string{c.pattern}).File(c.file); got != c.out {
			t.Errorf("%q, %q: %v", c.pattern, c.file, got)
		}
	}
}

func TestShortestNameOfASegment(t *testing.T) {
	t.Parallel()
	for text, least := range map[string]int{
		"*": 0, "a*b": 2, "?": 1, "[a-z]*": 1, `[\]x]?`: 2, `\**`: 1, "[^a]b": 2, "é": 2,
	} {
		s, ok := newSegment(text)
		if !ok || s.least != least {
			t.Errorf("%q: %d, %v", text, s.least, ok)
		}
	}
	if _, ok := newSegment("a["); ok {
		t.Error("a pattern that is none was taken")
	}
}
