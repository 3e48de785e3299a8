package difftest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestLines puts samples of every rule in lines of JSON, escaped in several ways, and checks that
// gitleaks' findings in the string are removed from the line.
func TestLines(t *testing.T) {
	t.Parallel()
	e := newEngines(t)
	gone := 0
	for id, rule := range e.theirs.Config.Rules {
		if rule.Regex == nil {
			continue
		}
		s := newSampler(uint64(len(id)) * 104729)
		for range 4 {
			text := strings.ToValidUTF8(s.sample(rule.Regex.String())+"\n"+s.pick(rule.Keywords...), "?")
			findings := e.theirs.DetectString(text)
			for _, line := range []string{jsonText(text), `["` + escapeAll(text) + `"]`, strings.ReplaceAll(jsonText(text), "/", `\/`)} {
				got := e.ours.Line([]byte(line))
				if !json.Valid(got) {
					t.Fatalf("%s: no longer valid JSON: %q", id, got)
				}
				var v any
				if err := json.Unmarshal(got, &v); err != nil {
					t.Fatal(err)
				}
				eachString(v, func(said string) {
					for _, f := range findings {
						if gone++; len(f.Secret) >= 8 && strings.Contains(said, f.Secret) {
							t.Errorf("%s: %q is left in %q", f.RuleID, f.Secret, said)
						}
					}
				})
			}
		}
	}
	t.Logf("%d secrets gone", gone)
}

// escapeAll returns s as the inside of a JSON string with every character escaped.
func escapeAll(s string) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return b.String()
}
