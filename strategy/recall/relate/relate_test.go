package relate_test

import (
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/relate"
)

// saved returns a context in English, with files, a list and a pull request.
func saved() recall.Checkpoint {
	c := recall.Checkpoint{Summary: "Sort the invoices by due date", Cause: recall.Clear}
	c.State.Files = map[string]recall.File{"billing/invoice_list.go": {}, "README.md": {}}
	c.State.Context.FilesRead = []string{"billing/store.go"}
	c.State.Analysis.Requests = []recall.Request{
		{Text: "The invoices should be sorted by their due date, overdue ones first."},
		{Text: "Paginate the invoice table as well; use the `PageCursor` that the ledger has."},
	}
	c.State.Analysis.Todo = []recall.Todo{{Text: "Migrate stored cursors of the ledger", State: "pending"}}
	c.State.Analysis.Progress = recall.Progress{
		PullRequests: []string{"https://example.com/acme/shop/pull/183"},
		Commits:      []recall.Commit{{Hash: "4f1c2ab", Subject: "Sort invoices by due date"}},
	}
	return c
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prompt  string
		related bool
		reason  relate.Reason
	}{
		"continue":                       {"continue", true, relate.Continues},
		"continue, in a sentence":        {"Please carry on where we left off.", true, relate.Continues},
		"continue, in German":            {"Mach bitte weiter", true, relate.Continues},
		"continue, in French":            {"continue avec la suite", true, relate.Continues},
		"continue, in Russian":           {"продолжай, пожалуйста", true, relate.Continues},
		"continue, in Chinese":           {"请继续", true, relate.Continues},
		"a later continue is a keyword":  {"The parser of the settings file has a loop over the keys; replace the break by a continue statement there", false, relate.TooLittle},
		"yes":                            {"yes, do it", true, relate.Replies},
		"a number":                       {"5", true, relate.Replies},
		"a pull request by number":       {"CodeRabbit commented on #183", true, relate.PullRequest},
		"a pull request by URL":          {"see https://example.com/acme/shop/pull/183/files", true, relate.PullRequest},
		"another pull request":           {"review #190 from the mobile team", false, relate.TooLittle},
		"a commit":                       {"why does 4f1c2ab8 break the nightly import", true, relate.NamesCommit},
		"a path":                         {"billing/store.go leaks a handle", true, relate.Scored},
		"the end of a path":              {"What does invoice_list.go export?", true, relate.Scored},
		"a name that every project has":  {"Translate README.md into Danish", false, relate.TooLittle},
		"words":                          {"Overdue invoices appear twice", true, relate.Scored},
		"an item of the list":            {"now migrate the cursors stored by the ledger, and document how to roll back when the migration stops midway", true, relate.Scored},
		"something else":                 {"Add a dark mode to the settings page", false, relate.TooLittle},
		"something else, with an error":  {"Docker build stops: `npm ERR! missing script: bundle`. What is wrong?", false, relate.TooLittle},
		"another language":               {"Füge bitte noch einen dunklen Modus für die Oberfläche ein", true, relate.Incomparable},
		"another script":                 {"設定ページを暗くしてください", true, relate.Incomparable},
		"nothing":                        {" \n", false, relate.Empty},
		"an accepted plan of elsewhere":  {"Implement the following plan:\n\n# Dark mode", false, relate.TooLittle},
		"only punctuation of a sentence": {"...", false, relate.Empty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := relate.Judge(relate.Prompt{Text: tt.prompt, Branch: "main"}, saved())
			if v.Related != tt.related || v.Reason != tt.reason {
				t.Errorf("%+v", v)
			}
		})
	}
}

// A typed prompt needs fewer common words than a plan, which is longer. The words in a file's name
// count.
func TestJudgeTypedPromptsAndPlans(t *testing.T) {
	t.Parallel()
	c := recall.Checkpoint{}
	c.State.Files = map[string]recall.File{"web/LedgerTab.tsx": {}}
	const typed = "The ledger blinks when it opens"
	if v := relate.Judge(relate.Prompt{Text: typed}, c); !v.Related || v.Reason != relate.Scored {
		t.Errorf("typed: %+v", v)
	}
	if v := relate.Judge(relate.Prompt{Text: "Implement the following plan:\n\n" + typed}, c); v.Related || v.Reason != relate.TooLittle {
		t.Errorf("a plan: %+v", v)
	}
	if v := relate.Judge(relate.Prompt{Text: "The invoice blinks when it opens"}, c); v.Related {
		t.Errorf("another subject: %+v", v)
	}
}

func TestJudgeOtherLanguages(t *testing.T) {
	t.Parallel()
	german := recall.Checkpoint{Summary: "Rechnungen sortieren"}
	german.State.Analysis.Requests = []recall.Request{{Text: "Bitte sortiere die Rechnungen nach dem Datum ihrer Fälligkeit, und zwar die überfälligen zuerst."}}
	chinese := recall.Checkpoint{Summary: "发票排序"}
	chinese.State.Analysis.Requests = []recall.Request{{Text: "请按到期日对发票进行排序，逾期的排在最前面。"}}
	for name, tt := range map[string]struct {
		prompt  string
		c       recall.Checkpoint
		related bool
	}{
		"German, the same subject":  {"Die überfälligen Rechnungen erscheinen doppelt", german, true},
		"German, another subject":   {"Bitte baue jetzt einen dunklen Modus für die Oberfläche ein", german, false},
		"Chinese, the same subject": {"逾期发票显示了两次", chinese, true},
		"Chinese, another subject":  {"给设置页面添加深色模式", chinese, false},
		"English after German":      {"What is the retry policy of the mailer in this project?", german, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if v := relate.Judge(relate.Prompt{Text: tt.prompt}, tt.c); v.Related != tt.related {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestJudgeUsesTheBranch(t *testing.T) {
	t.Parallel()
	p := relate.Prompt{Text: "Explain the pagination approach", Branch: "main"}
	c := saved()
	c.State.Analysis.Decisions = []string{"pagination by cursor"}
	without := relate.Judge(p, c)
	p.Branch = "feature/invoice-pagination"
	if with := relate.Judge(p, c); with.Score <= without.Score {
		t.Errorf("score %v on the branch, %v elsewhere", with.Score, without.Score)
	}
}

func TestJudgePlan(t *testing.T) {
	t.Parallel()
	c := saved()
	c.Cause = recall.Plan
	v := relate.Judge(relate.Prompt{Text: "Implement the following plan:\n\n# Dark mode"}, c)
	if !v.Related || v.Reason != relate.AcceptedPlan {
		t.Errorf("%+v", v)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("continue with billing/store.go #183", "feature/x")
	f.Add("\xff…/..//:.", "")
	f.Fuzz(func(t *testing.T, prompt, branch string) {
		c := saved()
		c.State.Analysis.Requests = append(c.State.Analysis.Requests, recall.Request{Text: prompt})
		v := relate.Judge(relate.Prompt{Text: prompt, Branch: branch}, c)
		if v.Reason == "" || v.Score < 0 {
			t.Errorf("%+v", v)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	c := saved()
	c.State.Analysis.Progress.Reported = strings.Repeat("The table now pages through the ledger with a cursor. ", 400)
	p := relate.Prompt{Text: strings.Repeat("Explain how the mailer retries after an error of the upstream server. ", 100)}
	for b.Loop() {
		relate.Judge(p, c)
	}
}

// TestJudgeSameBranch checks that a typed prompt on the branch of the context continues it, unless
// the branch is one that all work is done on.
func TestJudgeSameBranch(t *testing.T) {
	t.Parallel()
	for branch, want := range map[string]bool{"ann/invoices": true, "ann/other": false, "main": false, "release/1.2": false, "": false} {
		c := recall.Checkpoint{}
		c.State.Context.GitBranch = branch
		if branch == "ann/other" {
			c.State.Context.GitBranch = "ann/invoices"
		}
		v := relate.Judge(relate.Prompt{Text: "Why is the table so slow?", Branch: branch}, c)
		if v.Related != want {
			t.Errorf("%q: %+v", branch, v)
		}
	}
}

// TestJudgeAnotherBranch checks that a prompt on another branch needs more in common with the
// context than one on the context's branch.
func TestJudgeAnotherBranch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prompt, branch string
		related        bool
		reason         relate.Reason
	}{
		"continue":                          {"carry on where we left off", "main", true, relate.Continues},
		"a commit of what is in the tree":   {"commit this, then the other one", "main", true, relate.Continues},
		"the pull request of the branch":    {"can you take a look at the PR comments?", "ann/dark-mode", false, relate.TooLittle},
		"that of the context's branch":      {"can you take a look at the PR comments?", "ann/invoice-order", true, relate.Continues},
		"a pull request by number":          {"look at the comments of #183", "main", true, relate.PullRequest},
		"a path":                            {"billing/store.go leaks a handle", "main", true, relate.Scored},
		"one word":                          {"The invoice blinks when it opens", "main", false, relate.TooLittle},
		"two words":                         {"Overdue invoices appear twice", "main", true, relate.Scored},
		"one word and a branch of one name": {"The invoice blinks when it opens", "bob/invoice-colours", true, relate.Scored},
		"a person's branch":                 {"The invoice blinks when it opens", "ann/colours", false, relate.TooLittle},
		"a word of the branch":              {"What is a good order for the rows of the invoice?", "main", true, relate.Scored},
		"another language":                  {"Füge bitte noch einen dunklen Modus für die Oberfläche ein", "main", false, relate.TooLittle},
		"the branch that is checked out":    {"Look at the changes in this branch, and sort overdue parcels the same way as invoices", "main", false, relate.TooLittle},
		"a path, in that branch":            {"Does this branch change billing/store.go?", "main", true, relate.Scored},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := saved()
			c.State.Context.GitBranch = "ann/invoice-order"
			v := relate.Judge(relate.Prompt{Text: tt.prompt, Branch: tt.branch}, c)
			if v.Related != tt.related || v.Reason != tt.reason {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestJudgeOther(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prompt  string
		related bool
		reason  relate.Reason
	}{
		"a path":                      {"billing/store.go leaks a handle", true, relate.Scored},
		"a pull request":              {"CodeRabbit commented on #183", true, relate.PullRequest},
		"a commit":                    {"why does 4f1c2ab8 break the nightly import", true, relate.NamesCommit},
		"continue":                    {"continue", false, relate.TooLittle},
		"continue, and what":          {"continue with the ledger's PageCursor", true, relate.Scored},
		"yes":                         {"yes, do it", false, relate.TooLittle},
		"a word":                      {"Overdue parcels appear twice", false, relate.TooLittle},
		"another language":            {"Füge bitte noch einen dunklen Modus für die Oberfläche ein", false, relate.TooLittle},
		"the branch that both are on": {"Add a dark mode to the settings page", false, relate.TooLittle},
		"nothing":                     {"...", false, relate.Empty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := saved()
			c.State.Context.GitBranch = "invoices"
			got := relate.JudgeOther(relate.Prompt{Text: tt.prompt, Branch: "invoices"}, c)
			if got.Related != tt.related || got.Reason != tt.reason {
				t.Errorf("JudgeOther(%q) = %+v, want %v by %q", tt.prompt, got, tt.related, tt.reason)
			}
		})
	}
}

func TestExceeds(t *testing.T) {
	t.Parallel()
	scored := func(score float64) relate.Verdict {
		return relate.Verdict{Related: true, Reason: relate.Scored, Score: score}
	}
	rule := func(reason relate.Reason) relate.Verdict { return relate.Verdict{Related: true, Reason: reason} }
	for name, tt := range map[string]struct {
		other, offered relate.Verdict
		want           bool
	}{
		"much more in common":            {scored(5), scored(3), true},
		"little more in common":          {scored(4.5), scored(3), false},
		"it names the pull request":      {rule(relate.PullRequest), scored(9), true},
		"the prompt asks to continue":    {scored(9), rule(relate.Continues), false},
		"both have the pull request":     {rule(relate.PullRequest), rule(relate.PullRequest), false},
		"the offered one is of no words": {scored(2), rule(relate.Incomparable), true},
	} {
		if got := tt.other.Exceeds(tt.offered); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
