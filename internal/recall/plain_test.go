package recall_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/redact"
)

func TestShortened(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 9, "short"},
		{"two words and more!", 17, "two words and..."},
		{"two words, and more", 14, "two words..."},
		{strings.Repeat("x", 30), 10, "xxxxxxx..."},
		{"äöüäöüäöü", 10, "äöü..."},
		{"<<<<", 15, "<<..."},
	} {
		if got := recall.Shortened(test.text, test.limit); got != test.want {
			t.Errorf("%q to %d: %q", test.text, test.limit, got)
		}
	}
}

func TestTidy(t *testing.T) {
	t.Parallel()
	if got := recall.Tidy("  a\x1b[31mb\u202ec\u200b\n\td\xff\r\n "); got != "a[31mbc\n\td\uFFFD" {
		t.Errorf("%q", got)
	}
}

func TestEnough(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]bool{
		"": false, "yes": false, "go on then": false, "1 2 3 4 5": false, "add a token refresh": true, "@CLAUDE.md を最新の状態にアップデートしてください": true, "好的": false,
	} {
		if got := recall.Enough(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

func TestDecides(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]bool{
		"I decided to keep the old format.":                              true,
		"We'll use SQLite for the rows.":                                 true,
		"I put it into the agent package rather than into each of them.": true,
		"I\u2019ll go with the second way.":                              true,
		"Should we use SQLite rather than files, or did we decide?":      false,
		"If we chose SQLite, it would be slower.":                        false,
		"The test checks the file instead of the row.":                   false,
		"You chose to keep the old format here.":                         false,
		"I chose x.":                                                     false,
	} {
		if got := recall.Decides(sentence); got != want {
			t.Errorf("%q: %v", sentence, got)
		}
	}
}

func TestAnnounced(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]string{
		"Next steps:\n1. one\n2) two\n   - not this\n\n- three\n\nBye.": {"one", "two", "three"},
		"**Remaining:**\n- [ ] one\n- [x] two\n* **three**":             {"one", "three"},
		"# Done\n- one\n# Follow-ups\n- two":                            {"two"},
		"All done. TODO:\n- one":                                        {"one"},
		"- one\n- two":                                                  nil,
		"No remaining items:\n- one":                                    nil,
		"Next steps:\n```\n- one\n```\n":                                nil,
		"I looked at the next step and wrote down what it was:\n- the parser is slow, and should be made faster by next year": nil,
	} {
		if diff := cmp.Diff(want, recall.Announced(said)); diff != "" {
			t.Errorf("%q: %s", said, diff)
		}
	}
}

func TestLastQuestion(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Done. Shall I commit it?":               "Shall I commit it?",
		"Done.\n\n**Shall I commit it to a.b?**": "Shall I commit it to a.b?",
		"Shall I?":                               "",
		"Shall I commit it? I did.":              "",
	} {
		if got := recall.LastQuestion(said); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
}

func TestPlanOf(t *testing.T) {
	t.Parallel()
	title, steps := recall.PlanOf("\n## **Plan: the store**\nwords\n### Implementation\n- [x] done\n- [ ] open\n1. `code`\n```\n- fenced\n```\n### Files\n- a.go", redact.New())
	if diff := cmp.Diff([]string{"open", "`code`"}, steps); title != "the store" || diff != "" {
		t.Errorf("%q %s", title, diff)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("go test ./... | tail -5", "45 tests, 0 failures")
	f.Add("cat <<EOF && $( \" ' ` (", "Next steps:\n- a\n- b?")
	f.Fuzz(func(t *testing.T, a, b string) {
		line := recall.SplitShell(a)
		_, _, _, _ = line.Outcome(b), line.Trivial(), line.Sorts(), line.Mentions("/w")
		recall.Announced(b)
		recall.LastQuestion(b)
		recall.BareSummary(b)
		recall.Decides(a)
		const limit = 50
		short := recall.Shortened(recall.Tidy(a), limit)
		stored, err := json.Marshal(short)
		if err != nil || len(stored) > limit+2 || !utf8.ValidString(short) || len(stored)-2 > recall.Weight(short) {
			t.Errorf("%q: %d bytes, %v", short, len(stored), err)
		}
	})
}
