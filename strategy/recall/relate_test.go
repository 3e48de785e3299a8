package recall_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// saved returns a context in English, with files, a list, a pull request and an open question.
func saved() recall.Checkpoint {
	c := recall.Checkpoint{Summary: "Sort the invoices by due date", Cause: recall.Clear, Sessions: []string{"1c5d0a3e-1111"}}
	c.State.Files = map[string]recall.File{"billing/invoice_list.go": {}, "README.md": {}}
	c.State.Context.FilesRead = []string{"billing/store.go"}
	c.State.Context.GitBranch = "ann/invoice-order"
	c.State.Analysis.Requests = []recall.Request{
		{Text: "The invoices should be sorted by their due date, overdue ones first."},
		{Text: "Paginate the invoice table as well; use the `PageCursor` that the ledger has."},
	}
	c.State.Analysis.Todo = []recall.Todo{{Text: "Migrate stored cursors of the ledger", State: "pending"}}
	c.State.Analysis.OpenQuestion = "Should cursors expire?"
	c.State.Analysis.Progress = recall.Progress{
		PullRequests: []string{"https://example.com/acme/shop/pull/183"},
		Commits:      []recall.Commit{{Hash: "4f1c2ab", Subject: "Sort invoices by due date"}},
	}
	return c
}

// trunk returns saved, made on main without a pull request.
func trunk() recall.Checkpoint {
	c := saved()
	c.State.Context.GitBranch = "main"
	c.State.Analysis.Progress.PullRequests = nil
	return c
}

// planned returns a session that ended with the offer of a plan.
func planned() recall.Checkpoint {
	c := recall.Checkpoint{Cause: recall.Plan, Sessions: []string{"7b20c9aa-2222"}}
	c.State.Context.GitBranch = "main"
	c.State.Analysis.CurrentTask = "plan offered: Render parcel labels in a queue"
	c.State.Analysis.Requests = []recall.Request{{Text: "Labels block the request. How would you move them out of it?"}}
	return c
}

// judge returns the verdict on one context.
func judge(prompt, branch string, c recall.Checkpoint, offer recall.Offer) recall.Verdict {
	_, verdicts := recall.Judge(recall.Prompt{Text: prompt, Branch: branch}, []recall.Candidate{{Checkpoint: c, Offer: offer}})
	return verdicts[0]
}

// TestJudge checks the verdict on a context on main whose short form the session got.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prompt  string
		related bool
		reason  recall.Reason
	}{
		"continue":                           {"continue", true, recall.Continues},
		"continue, in a sentence":            {"Please carry on where we left off.", true, recall.Continues},
		"continue, in German":                {"Mach bitte weiter", true, recall.Continues},
		"continue, in French":                {"continue avec la suite", true, recall.Continues},
		"continue, in Russian":               {"продолжай, пожалуйста", true, recall.Continues},
		"continue, in Chinese":               {"请继续", true, recall.Continues},
		"the next step":                      {"ok, next step", true, recall.Replies},
		"what is left":                       {"what's left?", true, recall.Continues},
		"the same for another thing":         {"do the same for receipts", true, recall.Continues},
		"what the agent said":                {"you proposed a cron job, add it", true, recall.Continues},
		"only a reference to before":         {"it still fails", true, recall.Continues},
		"the tests, again":                   {"run the tests again", true, recall.Continues},
		"swapped letters":                    {"it sitll fials", true, recall.Continues},
		"the tests":                          {"run the tests", false, recall.TooLittle},
		"a later continue is a keyword":      {"The parser of the settings file has a loop over the keys; replace the break by a continue statement there", false, recall.TooLittle},
		"a version named like a word":        {"upgrade the website from Next 14 to 15", false, recall.TooLittle},
		"still, about another subject":       {"The mailer is still slow", false, recall.TooLittle},
		"yes":                                {"yes, do it", true, recall.Replies},
		"yes, and more":                      {"yes, but only after thirty days", true, recall.Replies},
		"a number":                           {"5", true, recall.Replies},
		"a number, and more":                 {"2, but log a warning as well", true, recall.Replies},
		"go ahead":                           {"sounds good, build it", true, recall.Replies},
		"a commit":                           {"why does 4f1c2ab8 break the nightly import", true, recall.NamesCommit},
		"a path":                             {"billing/store.go leaks a handle", true, recall.Scored},
		"a path with a line":                 {"fix @/home/ann/shop/billing/invoice_list.go:12-40", true, recall.Scored},
		"the end of a path":                  {"What does invoice_list.go export?", true, recall.Scored},
		"an identifier":                      {"Why is PageCursor exported?", true, recall.Scored},
		"a name that every project has":      {"Translate README.md into Danish", false, recall.TooLittle},
		"words":                              {"Overdue invoices appear twice", true, recall.Scored},
		"an item of the list":                {"now migrate the cursors stored by the ledger, and document how to roll back when the migration stops midway", true, recall.Scored},
		"an answer in words":                 {"cursors should expire after a week", true, recall.Scored},
		"one word of many":                   {"The export for accountants needs a column with the due amount per customer and currency", false, recall.TooLittle},
		"something else":                     {"Add a dark mode to the settings page", false, recall.TooLittle},
		"something else, with an error":      {"Docker build stops: `npm ERR! missing script: bundle`. What is wrong?", false, recall.TooLittle},
		"what every session is asked":        {"fix the failing test in ci", false, recall.TooLittle},
		"a question about the project":       {"what does this repo do?", false, recall.TooLittle},
		"a greeting":                         {"hello", false, recall.TooLittle},
		"a command":                          {"/init", false, recall.Empty},
		"another pull request":               {"review PR 190 from the mobile team", false, recall.OfAnother},
		"another language":                   {"Füge bitte noch einen dunklen Modus für die Oberfläche ein", false, recall.TooLittle},
		"another script":                     {"設定ページを暗くしてください", false, recall.TooLittle},
		"nothing":                            {" \n", false, recall.Empty},
		"an accepted plan of elsewhere":      {"Implement the following plan:\n\n# Dark mode", false, recall.TooLittle},
		"only punctuation of a sentence":     {"...", false, recall.Empty},
		"the plan, though there is none":     {"implement the plan", true, recall.Replies},
		"the comments, though there is none": {"look at the PR comments", false, recall.TooLittle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if v := judge(tt.prompt, "main", trunk(), recall.Shown); v.Related != tt.related || v.Reason != tt.reason {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestJudgePlan checks that a plan is carried out by its text, its title, or as "the plan".
func TestJudgePlan(t *testing.T) {
	t.Parallel()
	file, inText, accepted := recall.Checkpoint{}, recall.Checkpoint{}, trunk()
	file.State.Files = map[string]recall.File{"docs/plans/label-queue.md": {}}
	inText.State.Analysis.Progress.Reported = "This is how:\n\n## Plan: Render parcel labels in a queue\n\n1. a table\n2. a worker"
	accepted.State.Analysis.Requests = []recall.Request{{Text: "Implement the following plan: # Sort the invoices"}}
	const note = "\n\nIf you need specific details from before exiting plan mode, read the full transcript at: /home/ann/.claude/projects/shop/7b20c9aa-2222.jsonl"
	for name, tt := range map[string]struct {
		prompt string
		c      recall.Checkpoint
		offer  recall.Offer
		want   bool
	}{
		"its text":                        {"Implement the following plan:\n\n# Render parcel labels in a queue\n\n1. a table", planned(), recall.Shown, true},
		"its title":                       {"Render parcel labels in a queue, without the feature flag", planned(), recall.Shown, true},
		"the plan":                        {"implement the plan", planned(), recall.Shown, true},
		"your plan, changed":              {"go with your plan, but skip the snapshot tests of the labels", planned(), recall.Shown, true},
		"its steps":                       {"start with step 1 and 2", planned(), recall.Shown, true},
		"the plan of something else":      {"write the plan for the migration of the wiki", planned(), recall.Shown, false},
		"a plan":                          {"write a plan for returns, don't implement it", planned(), recall.Shown, false},
		"another accepted plan":           {"Implement the following plan:\n\n# Add a dark mode\n\n1. tokens", planned(), recall.Shown, false},
		"the session in the agent's note": {"Implement the following plan:\n\n# Faster labels" + note, planned(), recall.Shown, true},
		"a session some time ago":         {"implement the plan for the labels", planned(), recall.Unshown, true},
		"an old one, by its title":        {"Render parcel labels in a queue", planned(), recall.Old, true},
		"an old one, not by name":         {"implement the plan", planned(), recall.Old, false},
		"a file":                          {"implement docs/plans/label-queue.md", file, recall.Shown, true},
		"the plan in a file":              {"carry out the plan you wrote", file, recall.Shown, true},
		"a plan in the last message":      {"go ahead with the plan", inText, recall.Shown, true},
		"its title in the last message":   {"let's render parcel labels in a queue", inText, recall.Shown, true},
		"a plan that was carried out":     {"what did the plan say about pagination of invoices?", accepted, recall.Shown, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if v := judge(tt.prompt, "main", tt.c, tt.offer); v.Related != tt.want {
				t.Errorf("%+v", v)
			}
		})
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
		"German, the same subject":       {"Die überfälligen Rechnungen erscheinen doppelt", german, true},
		"German, another subject":        {"Bitte baue jetzt einen dunklen Modus für die Oberfläche ein", german, false},
		"German, a reference to before":  {"geht immer noch nicht", german, true},
		"Chinese, the same subject":      {"逾期发票显示了两次", chinese, true},
		"Chinese, another subject":       {"给设置页面添加深色模式", chinese, false},
		"English after German":           {"What is the retry policy of the mailer in this project?", german, false},
		"English after German, continue": {"go on", german, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if v := judge(tt.prompt, "", tt.c, recall.Shown); v.Related != tt.related {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestJudgeBranch checks that the branch is evidence: phrases refer to its work if the context is of
// the same branch, to other work if not.
func TestJudgeBranch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prompt, branch string
		related        bool
		reason         recall.Reason
	}{
		"continue, elsewhere":                     {"carry on where we left off", "main", true, recall.Continues},
		"a commit of what is in the tree":         {"commit this, then the other one", "main", true, recall.Continues},
		"the pull request of another branch":      {"can you take a look at the PR comments?", "ann/dark-mode", false, recall.OfAnother},
		"the pull request of the branch":          {"can you take a look at the PR comments?", "ann/invoice-order", true, recall.Continues},
		"the tests of the branch":                 {"fix tests", "ann/invoice-order", true, recall.Continues},
		"the branch":                              {"review the changes in this branch", "ann/invoice-order", true, recall.Continues},
		"another branch":                          {"review the changes in this branch", "bob/wiki", false, recall.OfAnother},
		"the branch by name":                      {"merge main into ann/invoice-order", "main", true, recall.NamesBranch},
		"a pull request by number":                {"look at the comments of #183", "main", true, recall.PullRequest},
		"a pull request by URL":                   {"see https://example.com/acme/shop/pull/183/files", "main", true, recall.PullRequest},
		"a pull request by its bare number":       {"rebase 183 onto main", "main", true, recall.PullRequest},
		"a number that is none":                   {"wait 183 seconds before the mailer stops", "main", false, recall.TooLittle},
		"a path":                                  {"billing/store.go leaks a handle", "main", false, recall.TooLittle},
		"a changed path":                          {"billing/invoice_list.go leaks a handle", "main", true, recall.Scored},
		"a question on the branch":                {"Why is the wiki so slow?", "ann/invoice-order", false, recall.TooLittle},
		"one word of some, on the branch":         {"The invoice blinks when it opens", "ann/invoice-order", true, recall.Scored},
		"one word of some, elsewhere":             {"The invoice blinks when it opens", "main", false, recall.TooLittle},
		"two words, elsewhere":                    {"Overdue invoices appear twice", "main", true, recall.Scored},
		"one word, and branches with one in both": {"The invoice is printed twice", "bob/invoice-colours", true, recall.Scored},
		"one word, and a person's branch":         {"The invoice blinks when it opens", "ann/colours", false, recall.TooLittle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if v := judge(tt.prompt, tt.branch, saved(), recall.Shown); v.Related != tt.related || v.Reason != tt.reason {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestJudgeOffers checks that a context that the session was not told about has to be named, an old
// one clearly.
func TestJudgeOffers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prompt       string
		unshown, old bool
	}{
		"a changed path":                  {"billing/invoice_list.go leaks a handle", true, true},
		"a path that was read, and words": {"billing/store.go leaks a handle of the ledger", true, false},
		"a path and words":                {"billing/invoice_list.go: overdue invoices twice", true, true},
		"a pull request":                  {"CodeRabbit commented on #183", true, true},
		"a commit":                        {"why does 4f1c2ab8 break the nightly import", true, true},
		"continue":                        {"continue", false, false},
		"continue, a thing":               {"continue with the ledger's PageCursor", true, false},
		"yes":                             {"yes, do it", false, false},
		"a word":                          {"Overdue parcels appear twice", false, false},
		"a rare word alone":               {"pagination", false, false},
		"the tests":                       {"fix the tests", false, false},
		"nothing":                         {"...", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for offer, want := range map[recall.Offer]bool{recall.Unshown: tt.unshown, recall.Old: tt.old} {
				if v := judge(tt.prompt, "ann/invoice-order", saved(), offer); v.Related != want {
					t.Errorf("offer %v: %+v", offer, v)
				}
			}
		})
	}
}

// TestJudgeChooses checks which of several contexts a prompt continues.
func TestJudgeChooses(t *testing.T) {
	t.Parallel()
	mailer := recall.Checkpoint{Summary: "Retry the mailer after an error"}
	mailer.State.Context.GitBranch = "main"
	mailer.State.Files = map[string]recall.File{"mail/retry.go": {}}
	mailer.State.Analysis.Requests = []recall.Request{{Text: "The mailer should retry after an error of the server."}}
	list := []recall.Candidate{{Checkpoint: mailer}, {Checkpoint: trunk(), Offer: recall.Unshown}, {Checkpoint: planned(), Offer: recall.Unshown}}
	for prompt, want := range map[string]int{
		"continue": 0,
		"continue with the pagination of the invoices": 1,
		"yes, and retry three times":                   0,
		"retry.go has a race":                          0,
		"Overdue invoices appear twice in the table":   1,
		"4f1c2ab is not on the release branch":         1,
		"implement the plan":                           2,
		"it still fails":                               0,
		"Add a dark mode":                              -1,
	} {
		if got, verdicts := recall.Judge(recall.Prompt{Text: prompt, Branch: "main"}, list); got != want {
			t.Errorf("%q: %d, want %d: %+v", prompt, got, want, verdicts)
		}
	}
	if got, _ := recall.Judge(recall.Prompt{Text: "continue"}, nil); got != -1 {
		t.Errorf("no contexts: %d", got)
	}
}

// TestJudgeUsualWords checks that a word that most contexts have is little evidence.
func TestJudgeUsualWords(t *testing.T) {
	t.Parallel()
	list := []recall.Candidate{{Checkpoint: trunk()}}
	p := recall.Prompt{Text: "Invoices and receipts need a letterhead", Branch: "main"}
	_, before := recall.Judge(p, list)
	for _, text := range []string{"Send invoices by mail", "Number the invoices", "Invoices in PDF", "Cancel invoices", "Print invoices"} {
		c := recall.Checkpoint{Summary: text}
		c.State.Context.GitBranch = "main"
		list = append(list, recall.Candidate{Checkpoint: c, Offer: recall.Unshown})
	}
	_, after := recall.Judge(p, list)
	if after[0].Score >= before[0].Score {
		t.Errorf("score %v alone, %v if all contexts have the word", before[0].Score, after[0].Score)
	}
}

// TestJudgeFacts checks that what a failed check printed, and a reference, name the work.
func TestJudgeFacts(t *testing.T) {
	t.Parallel()
	c := recall.Checkpoint{}
	c.State.Context.GitBranch = "main"
	c.State.Analysis.Facts = []recall.Fact{
		{Kind: recall.Failure, By: recall.Output, Text: "go test ./billing", Why: "TestPageCursor: want 3 rows, got 4"},
		{Kind: recall.Reference, By: recall.OfAgent, Text: "https://example.com/acme/shop/pull/77"},
	}
	for prompt, want := range map[string]bool{
		"--- FAIL: TestPageCursor (0.02s): want 3 rows, got 4": true,
		"TestLedger is red":         false,
		"is #77 ready to be merged": true,
		"is #78 ready to be merged": false,
	} {
		if v := judge(prompt, "main", c, recall.Shown); v.Related != want {
			t.Errorf("%q: %+v", prompt, v)
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("continue with billing/store.go #183", "feature/x")
	f.Add("\xff…/..//:.", "")
	f.Fuzz(func(t *testing.T, prompt, branch string) {
		c := saved()
		c.State.Analysis.Requests = append(c.State.Analysis.Requests, recall.Request{Text: prompt})
		index, verdicts := recall.Judge(recall.Prompt{Text: prompt, Branch: branch}, []recall.Candidate{{Checkpoint: c}, {Checkpoint: planned(), Offer: recall.Old}})
		for _, v := range verdicts {
			if v.Reason == "" || v.Score < 0 {
				t.Errorf("%+v", v)
			}
		}
		if slices.ContainsFunc(verdicts, func(v recall.Verdict) bool { return v.Related }) != (index >= 0) {
			t.Errorf("%d: %+v", index, verdicts)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	c := saved()
	c.State.Analysis.Progress.Reported = strings.Repeat("The table now pages through the ledger with a cursor. ", 100)
	list := []recall.Candidate{{Checkpoint: c}}
	for range 5 {
		list = append(list, recall.Candidate{Checkpoint: c, Offer: recall.Unshown})
	}
	p := recall.Prompt{Text: strings.Repeat("Explain how the mailer retries after an error of the upstream server. ", 100)}
	for b.Loop() {
		recall.Judge(p, list)
	}
}
