package settings_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A list of patterns that would cost every hook time is a problem, and the default
// holds.
func TestAttackListsOfPatterns(t *testing.T) {
	t.Parallel()
	lists := map[string][]string{
		"long":     {strings.Repeat("**/", 200)},
		"many":     slices.Repeat([]string{"*x"}, 1001),
		"big":      slices.Repeat([]string{strings.Repeat("*a", 200)}, 100),
		"one long": append(slices.Repeat([]string{"a"}, 10), strings.Repeat("a", 513)),
	}
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := json.Marshal(map[string]any{"bands": map[string]any{"exclude": list}, "recall": map[string]any{"exclude_patterns": list}})
			if err != nil {
				t.Fatal(err)
			}
			s := place{project: string(data)}.load(t)
			if len(s.Problems) != 2 || len(s.Bands.Exclude) != 0 || !slices.Contains(s.Recall.Exclude, "*.log") {
				t.Errorf("%d problems, patterns %.60q and %.60q", len(s.Problems), s.Bands.Exclude, s.Recall.Exclude)
			}
			for _, p := range s.Problems {
				if text := p.String(); len(text) > 400 || !strings.Contains(text, "at most 1000") {
					t.Errorf("%q", text)
				}
			}
		})
	}
}
