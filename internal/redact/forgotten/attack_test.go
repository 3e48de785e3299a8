package forgotten_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// Masking a forgotten text takes time in proportion to the data, however often the text occurs: on
// lines of its own, across lines, and as numbers in one line of JSON.
//
//nolint:paralleltest // measures processor time, so not next to the tests that work at once
func TestAttackForgottenTextEverywhere(t *testing.T) {
	const times = 100_000
	for name, c := range map[string]struct{ text, data string }{
		"lines":   {"a secret sentence", strings.Repeat("a secret sentence\n", times)},
		"across":  {"secret\nsentence", strings.Repeat("secret\nsentence\nx\n", times)},
		"numbers": {"12345678", "[" + strings.Repeat("12345678,", times) + "0]"},
	} {
		f := forgotten.Of([]byte("salt"), c.text)
		var out []byte
		took := testkit.ProcessorTime(t, func() { out = f.Mask([]byte(c.data)) })
		if bytes.Contains(out, []byte(c.text)) {
			t.Errorf("%s: the text is there", name)
		}
		if json.Valid([]byte(c.data)) && !json.Valid(out) {
			t.Errorf("%s: no JSON any more", name)
		}
		if strings.Count(string(out), "\n") < strings.Count(c.data, "\n")/3 {
			t.Errorf("%s: lines are gone", name)
		}
		if took > 5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}
