package index

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTextsAreSplitIntoWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rateLimit":                        "rate limit ratelimit",
		"rate_limit, rate-limit":           "rate limit rate limit",
		"HTTPServer":                       "http server httpserver",
		"parseURL2":                        "parse url2 parseurl2",
		"strategy/turn/save.go":            "strategy turn save go",
		"ENTIRE_NO_DETACH=1":               "entire no detach 1",
		"Größe ändern":                     "größe ändern",
		"日本go":                             "日 本 go",
		"":                                 "",
		"\xff\xfe":                         "",
		strings.Repeat("x", 100) + " y":    strings.Repeat("x", longestWord) + " y",
		"v1.2.3 sha256:abc":                "v1 2 3 sha256 abc",
		"don't":                            "don t",
		"iPhone XMLHttpRequest A AB ABc a": "i phone xml http request a ab a bc a iphone xmlhttprequest abc",
		"GitHub Actions of GitHub":         "git hub actions of git hub github",
		"aBcDeFgHiJkLmN":                   "a bc de fg hi jk lm n", // no identifier
	} {
		if got := normal(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestQueriesAreParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rate limit":         `("rate" AND "limit")`,
		"rateLimit":          `(("rate limit" OR "ratelimit"))`,
		`api.GitHub*`:        `(("api git hub"* OR "api github"*))`,
		`"rate limiting" x*`: `("rate limiting" AND "x"*)`,
		`"un closed`:         `("un closed")`,
		`a"b c"d`:            `("a" AND "b c" AND "d")`,
		`"re lim"*`:          `("re lim"*)`,
		`NEAR(a b) OR -c:^*`: `("near a" AND "b" AND "or" AND "c"*)`,
		`--- "" * '`:         `()`,
		"same same":          `("same")`,
	} {
		if got := expression(parse(text), nil); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got, want := expression(parse("x"), []Kind{Prompt, File}), `{prompt file} : ("x")`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTermsAreFoundInTexts(t *testing.T) {
	t.Parallel()
	text := "the rate_limit of rateLimiter"
	places, found := find(text, parse("rateLimit* missing"), 10)
	if diff := cmp.Diff([]match{{4, 14}, {18, 29}}, places, cmp.AllowUnexported(match{})); diff != "" || found != 1 {
		t.Errorf("%d found, %s", found, diff)
	}
	text = "GitHub, github and gitHubber"
	for query, want := range map[string][]match{"github": {{0, 6}, {8, 14}}, "GitHub": {{0, 6}, {8, 14}}, "hub": {{3, 6}}} {
		places, _ := find(text, parse(query), 10)
		if diff := cmp.Diff(want, places, cmp.AllowUnexported(match{})); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

// For any text, words are at their reported positions, and a search finds the same words.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"rateLimit", "a \"b c\"* d", "日本go", "\xff", "ÀÉ İ ß"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for s := range wordsOf(text) {
			if s.start < last || s.end <= s.start || s.end > len(text) || s.word == "" || len(s.word) > longestWord || !utf8.ValidString(s.word) {
				t.Fatalf("%q: %+v behind %d", text, s, last)
			}
			last = s.end
		}
		for _, t1 := range parse(text) {
			if strings.ContainsAny(strings.Join(t1.words, ""), "\"' \t\n*") {
				t.Fatalf("%q: %q", text, t1.words)
			}
			if _, found := find(strings.Join(t1.words, " "), []term{t1}, 1); found != 1 && normal(strings.Join(t1.words, " ")) == strings.Join(t1.words, " ") {
				t.Fatalf("%q: %q not found in itself", text, t1.words)
			}
		}
	})
}
