package difftest

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/detect"
)

// TestDecoded plants encoded secrets of every rule. If gitleaks has findings in the decoded text,
// ours must replace a part of the encoded text, except in one of a thousand texts. Single findings
// can't be compared: gitleaks reports the decoded secret, ours the whole encoded part, in which its
// own rules find more.
func TestDecoded(t *testing.T) {
	t.Parallel()
	e := newEngines(t)
	theirs := detect.NewDetector(e.theirs.Config)
	theirs.MaxDecodeDepth, theirs.IgnoreGitleaksAllow = 5, true
	encodings := map[string]func(string) string{
		"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 url": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"hex":        func(s string) string { return hex.EncodeToString([]byte(s)) },
		"percent":    func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
	}
	found, left := 0, map[string]int{}
	for id, rule := range e.theirs.Config.Rules {
		if rule.Regex == nil {
			continue
		}
		s := newSampler(uint64(len(id)) * 104729)
		for range 10 {
			secret := s.sample(rule.Regex.String())
			plain := s.pick(append(rule.Keywords, "token")...) + " = \"" + secret + "\"\n"
			for name, encode := range encodings {
				encoded := encode(plain)
				text := "data: " + encoded + "\nnext line\n"
				decoded := false
				for _, f := range theirs.DetectString(text) {
					decoded = decoded || slices.ContainsFunc(f.Tags, func(tag string) bool { return strings.HasPrefix(tag, "decoded:") })
				}
				if !decoded {
					continue
				}
				found++
				if strings.Contains(e.ours.Text(text), encoded) {
					if left[name]++; left[name] < 4 {
						t.Logf("%s, %s: %q is left", id, name, plain)
					}
				}
			}
		}
	}
	t.Logf("%d encoded texts with findings of gitleaks, left by ours: %v", found, left)
	total := 0
	for _, n := range left {
		total += n
	}
	if found < 1000 || total*1000 > found {
		t.Errorf("%d encoded texts found by gitleaks, want 1000 or more; %d left by ours, want one in 1000", found, total)
	}
}
