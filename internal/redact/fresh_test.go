package redact_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/testkit/secretkinds"
)

const (
	// mostInClear is the number of kinds that may be in clear: passwords of letters, digits and
	// signs without a name or quotes, of which one in twenty is left, at three places.
	mostInClear = 3
	// moreValues is the number of further values of a kind that are tried in a place where one
	// was left. The kind is in clear there if another one is left; a single one may be left
	// because its characters resemble a word by chance.
	moreValues = 15
	// mostByChance is the number of such single values in a run.
	mostByChance = 5
)

// Places of a text in the lines of a transcript of Claude Code.
var transcriptPlaces = []struct {
	name  string
	lines func(text string) []any
}{
	{"prompt", func(text string) []any {
		return []any{map[string]any{"type": "user", "uuid": "5f0c7a52-3f3e-4c0a-9d43-1d64c1d0a111", "message": map[string]any{"role": "user", "content": text}}}
	}},
	{"result", func(text string) []any {
		return []any{map[string]any{
			"type":          "user",
			"message":       map[string]any{"role": "user", "content": []any{map[string]any{"tool_use_id": "toolu_01A09q90qw90lq917835lq9", "type": "tool_result", "content": text}}},
			"toolUseResult": map[string]any{"stdout": text, "stderr": "", "interrupted": false},
		}}
	}},
	{"edit", func(text string) []any {
		edit := map[string]any{"file_path": "/srv/app/settings", "old_string": "", "new_string": text}
		var added []string
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			added = append(added, "+"+line)
		}
		return []any{
			map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "Edit", "input": edit}}}},
			map[string]any{"type": "user", "toolUseResult": map[string]any{"filePath": "/srv/app/settings", "structuredPatch": []any{map[string]any{"oldStart": 1, "lines": added}}}},
		}
	}},
	{"command", func(text string) []any {
		return []any{map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{map[string]any{
			"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "Bash",
			"input": map[string]any{"command": text, "description": "Run it"},
		}}}}}
	}},
}

// left returns the text that redaction leaves of a secret in a place of a transcript, and
// whether a part of the secret is in clear there.
func left(t *testing.T, r *redact.Redactor, lines []any, parts []string) (text string, found bool) {
	t.Helper()
	var whole strings.Builder
	for _, v := range lines {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Line(line)
		if !json.Valid(got) {
			t.Fatalf("no longer valid JSON: %s", got)
		}
		if again := r.Line(got); string(again) != string(got) {
			t.Errorf("a second time: %s, first %s", again, got)
		}
		var all strings.Builder
		var value any
		if err := json.Unmarshal(got, &value); err != nil {
			t.Fatal(err)
		}
		allStrings(&all, value)
		whole.Write(got)
		for _, p := range parts {
			found = found || strings.Contains(all.String(), p)
		}
	}
	return whole.String(), found
}

// allStrings writes all strings of a value.
func allStrings(b *strings.Builder, value any) {
	switch v := value.(type) {
	case string:
		b.WriteString(v + "\n")
	case []any:
		for _, e := range v {
			allStrings(b, e)
		}
	case map[string]any:
		for k, e := range v {
			b.WriteString(k + "\n")
			allStrings(b, e)
		}
	}
}

// TestAttackFreshSecrets counts the kinds of secrets that are in clear after redaction. Every run
// makes new values; ENTIRE_TEST_SEED repeats those of an earlier one, and ENTIRE_TEST_ATTACK sets
// the number of values of each kind, up to 12.
func TestAttackFreshSecrets(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("ENTIRE_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	r := redact.New()
	kinds := secretkinds.Kinds()
	n := min(tries(1), 12)
	inClear, byChance := 0, 0
	seen := make(map[string]bool)
	for i, k := range kinds {
		if seen[k.Name] {
			t.Errorf("%s is there twice", k.Name)
		}
		seen[k.Name] = true
		m := secretkinds.New(seed, uint64(i))
		isInClear := false
		for _, p := range transcriptPlaces {
			most := n
			leaves := 0
			for v := 0; v < most; v++ {
				s := k.Make(m)
				text, found := left(t, r, p.lines(s.Text), s.Parts)
				if !found {
					continue
				}
				if leaves++; leaves == 1 {
					most = max(n, v+1+moreValues)
					t.Logf("%s in a %s: %.600s", k.Name, p.name, text)
				}
			}
			if leaves == 1 {
				byChance++
			}
			isInClear = isInClear || leaves > 1
		}
		if isInClear {
			inClear++
			t.Logf("%s is in clear", k.Name)
		}
	}
	t.Logf("seed %d: of %d kinds %d are in clear, and %d values", seed, len(kinds), inClear, byChance)
	if inClear > mostInClear || byChance > mostByChance+n {
		t.Errorf("%d kinds in clear, and %d values by chance, with ENTIRE_TEST_SEED=%d", inClear, byChance, seed)
	}
}
