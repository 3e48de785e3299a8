package digest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
)

func TestEnough(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]bool{
		"": false, "yes": false, "go on then": false, "1 2 3 4 5": false, "add a token refresh": true, "@CLAUDE.md を最新の状態にアップデートしてください": true, "好的": false,
	} {
		if got := digest.Enough(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

func TestDecides(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]bool{
		"I decided to keep the old format.":                                                              true,
		"We'll use SQLite for the rows.":                                                                 true,
		"I put it into the agent package rather than into each of them.":                                 true,
		"I\u2019ll go with the second way.":                                                              true,
		"Should we use SQLite rather than files, or did we decide?":                                      false,
		"If we chose SQLite, it would be slower.":                                                        false,
		"The test checks the file instead of the row.":                                                   false,
		"You chose to keep the old format here.":                                                         false,
		"I chose x.":                                                                                     false,
		"As no one has the old tag, instead of a migration, I created a patch that renames it.":          true,
		"So we've kept the flag rather than a setting.":                                                  true,
		"The tests I wrote are more a verification rather than true tests of compatibility.":             false,
		"The user is right - I should run tests earlier, rather than leaving it to the end.":             false,
		"The hook has the agent, so we should detect it from the input rather than from the directory.":  false,
		"But inside the handlers they guess the agent by directory instead of the one that we know now.": false,
	} {
		if got := digest.Decides(sentence); got != want {
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
		if diff := cmp.Diff(want, digest.Announced(said)); diff != "" {
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
		if got := digest.LastQuestion(said); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
}

func TestPlanOf(t *testing.T) {
	t.Parallel()
	title, steps := digest.PlanOf("\n## **Plan: the store**\nwords\n### Implementation\n- [x] done\n- [ ] open\n1. `code`\n```\n- fenced\n```\n### Files\n- a.go", redact.New())
	if diff := cmp.Diff([]string{"open", "`code`"}, steps); title != "the store" || diff != "" {
		t.Errorf("%q %s", title, diff)
	}
}

func FuzzText(f *testing.F) {
	f.Add("Next steps:\n- a\n- b?")
	f.Fuzz(func(_ *testing.T, text string) {
		digest.Announced(text)
		digest.LastQuestion(text)
		digest.BareSummary(text)
		digest.Decides(text)
	})
}
