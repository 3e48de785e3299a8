package recall_test

import (
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/strategy/recall"
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
		reason  recall.Reason
	}{
		"continue":                       {"continue", true, recall.Continues},
		"continue, in a sentence":        {"Please carry on where we left off.", true, recall.Continues},
		"continue, in German":            {"Mach bitte weiter", true, recall.Continues},
		"continue, in French":            {"continue avec la suite", true, recall.Continues},
		"continue, in Russian":           {"продолжай, пожалуйста", true, recall.Continues},
		"continue, in Chinese":           {"请继续", true, recall.Continues},
		"a later continue is a keyword":  {"The parser of the settings file has a loop over the keys; replace the break by a continue statement there", false, recall.TooLittle},
		"yes":                            {"yes, do it", true, recall.Replies},
		"a number":                       {"5", true, recall.Replies},
		"a pull request by number":       {"CodeRabbit commented on #183", true, recall.PullRequest},
		"a pull request by URL":          {"see https://example.com/acme/shop/pull/183/files", true, recall.PullRequest},
		"another pull request":           {"review #190 from the mobile team", false, recall.TooLittle},
		"a commit":                       {"why does 4f1c2ab8 break the nightly import", true, recall.NamesCommit},
		"a path":                         {"billing/store.go leaks a handle", true, recall.Scored},
		"the end of a path":              {"What does invoice_list.go export?", true, recall.Scored},
		"a name that every project has":  {"Translate README.md into Danish", false, recall.TooLittle},
		"words":                          {"Overdue invoices appear twice", true, recall.Scored},
		"an item of the list":            {"now migrate the cursors stored by the ledger, and document how to roll back when the migration stops midway", true, recall.Scored},
		"something else":                 {"Add a dark mode to the settings page", false, recall.TooLittle},
		"something else, with an error":  {"Docker build stops: `npm ERR! missing script: bundle`. What is wrong?", false, recall.TooLittle},
		"another language":               {"Füge bitte noch einen dunklen Modus für die Oberfläche ein", true, recall.Incomparable},
		"another script":                 {"設定ページを暗くしてください", true, recall.Incomparable},
		"nothing":                        {" \n", false, recall.Empty},
		"an accepted plan of elsewhere":  {"Implement the following plan:\n\n# Dark mode", false, recall.TooLittle},
		"only punctuation of a sentence": {"...", false, recall.Empty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := recall.Judge(recall.Prompt{Text: tt.prompt, Branch: "main"}, saved())
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
	if v := recall.Judge(recall.Prompt{Text: typed}, c); !v.Related || v.Reason != recall.Scored {
		t.Errorf("typed: %+v", v)
	}
	if v := recall.Judge(recall.Prompt{Text: "Implement the following plan:\n\n" + typed}, c); v.Related || v.Reason != recall.TooLittle {
		t.Errorf("a plan: %+v", v)
	}
	if v := recall.Judge(recall.Prompt{Text: "The invoice blinks when it opens"}, c); v.Related {
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
			if v := recall.Judge(recall.Prompt{Text: tt.prompt}, tt.c); v.Related != tt.related {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestJudgeUsesTheBranch(t *testing.T) {
	t.Parallel()
	p := recall.Prompt{Text: "Explain the pagination approach", Branch: "main"}
	c := saved()
	c.State.Analysis.Decisions = []string{"pagination by cursor"}
	without := recall.Judge(p, c)
	p.Branch = "feature/invoice-pagination"
	if with := recall.Judge(p, c); with.Score <= without.Score {
		t.Errorf("score %v on the branch, %v elsewhere", with.Score, without.Score)
	}
}

func TestJudgePlan(t *testing.T) {
	t.Parallel()
	c := saved()
	c.Cause = recall.Plan
	v := recall.Judge(recall.Prompt{Text: "Implement the following plan:\n\n# Dark mode"}, c)
	if !v.Related || v.Reason != recall.AcceptedPlan {
		t.Errorf("%+v", v)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("continue with billing/store.go #183", "feature/x")
	f.Add("\xff…/..//:.", "")
	f.Fuzz(func(t *testing.T, prompt, branch string) {
		c := saved()
		c.State.Analysis.Requests = append(c.State.Analysis.Requests, recall.Request{Text: prompt})
		v := recall.Judge(recall.Prompt{Text: prompt, Branch: branch}, c)
		if v.Reason == "" || v.Score < 0 {
			t.Errorf("%+v", v)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	c := saved()
	c.State.Analysis.Progress.Reported = strings.Repeat("The table now pages through the ledger with a cursor. ", 400)
	p := recall.Prompt{Text: strings.Repeat("Explain how the mailer retries after an error of the upstream server. ", 100)}
	for b.Loop() {
		recall.Judge(p, c)
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
		v := recall.Judge(recall.Prompt{Text: "Why is the table so slow?", Branch: branch}, c)
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
		reason         recall.Reason
	}{
		"continue":                          {"carry on where we left off", "main", true, recall.Continues},
		"a commit of what is in the tree":   {"commit this, then the other one", "main", true, recall.Continues},
		"the pull request of the branch":    {"can you take a look at the PR comments?", "ann/dark-mode", false, recall.TooLittle},
		"that of the context's branch":      {"can you take a look at the PR comments?", "ann/invoice-order", true, recall.Continues},
		"a pull request by number":          {"look at the comments of #183", "main", true, recall.PullRequest},
		"a path":                            {"billing/store.go leaks a handle", "main", true, recall.Scored},
		"one word":                          {"The invoice blinks when it opens", "main", false, recall.TooLittle},
		"two words":                         {"Overdue invoices appear twice", "main", true, recall.Scored},
		"one word and a branch of one name": {"The invoice blinks when it opens", "bob/invoice-colours", true, recall.Scored},
		"a person's branch":                 {"The invoice blinks when it opens", "ann/colours", false, recall.TooLittle},
		"a word of the branch":              {"What is a good order for the rows of the invoice?", "main", true, recall.Scored},
		"another language":                  {"Füge bitte noch einen dunklen Modus für die Oberfläche ein", "main", false, recall.TooLittle},
		"the branch that is checked out":    {"Look at the changes in this branch, and sort overdue parcels the same way as invoices", "main", false, recall.TooLittle},
		"a path, in that branch":            {"Does this branch change billing/store.go?", "main", true, recall.Scored},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := saved()
			c.State.Context.GitBranch = "ann/invoice-order"
			v := recall.Judge(recall.Prompt{Text: tt.prompt, Branch: tt.branch}, c)
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
		reason  recall.Reason
	}{
		"a path":                      {"billing/store.go leaks a handle", true, recall.Scored},
		"a pull request":              {"CodeRabbit commented on #183", true, recall.PullRequest},
		"a commit":                    {"why does 4f1c2ab8 break the nightly import", true, recall.NamesCommit},
		"continue":                    {"continue", false, recall.TooLittle},
		"continue, and what":          {"continue with the ledger's PageCursor", true, recall.Scored},
		"yes":                         {"yes, do it", false, recall.TooLittle},
		"a word":                      {"Overdue parcels appear twice", false, recall.TooLittle},
		"another language":            {"Füge bitte noch einen dunklen Modus für die Oberfläche ein", false, recall.TooLittle},
		"the branch that both are on": {"Add a dark mode to the settings page", false, recall.TooLittle},
		"nothing":                     {"...", false, recall.Empty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := saved()
			c.State.Context.GitBranch = "invoices"
			got := recall.JudgeOther(recall.Prompt{Text: tt.prompt, Branch: "invoices"}, c)
			if got.Related != tt.related || got.Reason != tt.reason {
				t.Errorf("JudgeOther(%q) = %+v, want %v by %q", tt.prompt, got, tt.related, tt.reason)
			}
		})
	}
}

func TestExceeds(t *testing.T) {
	t.Parallel()
	scored := func(score float64) recall.Verdict {
		return recall.Verdict{Related: true, Reason: recall.Scored, Score: score}
	}
	rule := func(reason recall.Reason) recall.Verdict { return recall.Verdict{Related: true, Reason: reason} }
	for name, tt := range map[string]struct {
		other, offered recall.Verdict
		want           bool
	}{
		"much more in common":            {scored(5), scored(3), true},
		"little more in common":          {scored(4.5), scored(3), false},
		"it names the pull request":      {rule(recall.PullRequest), scored(9), true},
		"the prompt asks to continue":    {scored(9), rule(recall.Continues), false},
		"both have the pull request":     {rule(recall.PullRequest), rule(recall.PullRequest), false},
		"the offered one is of no words": {scored(2), rule(recall.Incomparable), true},
	} {
		if got := tt.other.Exceeds(tt.offered); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
