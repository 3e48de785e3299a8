// Package difftest compares package redact with gitleaks itself. It is a separate module, so that
// the program doesn't depend on gitleaks.
package difftest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/seed-3aff656d/entire/internal/redact"
)

// engines holds the two engines to compare.
type engines struct {
	theirs *detect.Detector
	ours   *redact.Redactor
}

func newEngines(tb testing.TB) engines {
	tb.Helper()
	d, err := detector()
	if err != nil {
		tb.Fatal(err)
	}
	return engines{d, redact.New()}
}

// detector creates gitleaks' detector once, because it reads its rules through package variables.
var detector = sync.OnceValues(func() (*detect.Detector, error) {
	zerolog.SetGlobalLevel(zerolog.Disabled)
	d, err := detect.NewDetectorDefaultConfig()
	if err == nil {
		d.IgnoreGitleaksAllow = true // an agent's output must not exempt itself
	}
	return d, err
})

// compare checks that both engines have the same findings in text, and returns their number.
func (e engines) compare(tb testing.TB, text string) int {
	tb.Helper()
	var want, got []string
	for _, f := range e.theirs.DetectString(text) {
		want = append(want, f.RuleID+"\x00"+f.Secret)
	}
	for _, f := range e.ours.FindListed(text) {
		got = append(got, f.Rule+"\x00"+f.Secret)
		if text[f.Start:f.End] != f.Secret {
			tb.Errorf("%s: secret %q is not at [%d:%d] of %q", f.Rule, f.Secret, f.Start, f.End, shorten(text))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("findings (-gitleaks +ours) in %q:\n%s", shorten(text), diff)
	}
	return len(want)
}

func shorten(s string) string {
	if len(s) <= 2000 {
		return s
	}
	return s[:1000] + strings.Repeat(".", 5) + s[len(s)-1000:]
}
