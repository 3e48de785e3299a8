package report_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/report"
	"github.com/seed-3aff656d/entire/internal/index"
)

// sessionsOf returns a report of n sessions of several agents and persons, with texts as people and
// agents write them: 3 turns, and a commit, each. Every tenth session has names and texts of other
// scripts and without a place to break a line.
func sessionsOf(n int) *report.Report {
	const turns = 3
	agents := []string{"Claude Code", "Codex", "Gemini CLI", "Copilot CLI"}
	persons := []string{"Ada Lovelace <ada@example.com>", "Grace Hopper <grace@example.com>", "山田 太郎 <taro@example.jp>"}
	subjects := []string{
		"Limit logins to five a minute", "Return 404 for deleted accounts", "Move the session store to Redis",
		"Why does the build take eleven minutes on CI, and which of the steps could be cached without changing what they produce?",
		"Write a test for the parser of dates", "Rename Account to Member in the API and in the database, with a migration that can be undone",
	}
	at := time.Date(2026, 3, 2, 8, 40, 0, 0, time.UTC)
	r := &report.Report{
		Name: "storefront", Selection: "Branch main", Version: "1.4.0", Omitted: 12,
		Prices: report.Prices{Date: "2026-01-01", Currency: "USD"}, Unpriced: []string{"local-model-7b"},
	}
	for s := range n {
		subject, folder := subjects[s%len(subjects)], []string{"internal/login", "cmd/server", "web/src/components/checkout", "docs"}[s%4]
		if s%10 == 9 { //nolint:mnd // every tenth
			subject, folder = "ログインを毎分五回までに制限する "+strings.Repeat("x", 90)+" 🚀", "web/"+strings.Repeat("a-folder-with-a-long-name/", 5)+"国際化"
		}
		commit := report.Commit{
			OID: fmt.Sprintf("%08x%032x", (s+1)*0x9e3779b1&0xffffffff, s), Subject: subject, Author: persons[s%len(persons)],
			Checkpoints: []string{fmt.Sprintf("%012x", (s+7)*0x9e3779b97f)[:12]},
		}
		for i := range turns {
			one := report.Turn{
				ID: fmt.Sprintf("turn-%08x-%d", (s+1)*0x9e3779b1&0xffffffff, i+1), Session: fmt.Sprintf("%08x-7f6a-4b4e-9d57-1f0f5a3c2b1a", (s+1)*0x9e3779b1&0xffffffff),
				Agent: agents[s%len(agents)], Branch: "feature/" + strings.ToLower(strings.ReplaceAll(subject[:min(len(subject), 24)], " ", "-")), At: at, Ended: at.Add(4 * time.Minute),
				Title: subject, Show: "entire show turn", Back: fmt.Sprintf("entire rewind v%d", 3*s+i),
				Answer: strings.Repeat("I read the handler and its tests. The limit is kept per address, in a window of a minute; a sixth try gets 429 and a Retry-After header.\n\n", 1+i),
				Calls: []report.Call{
					{Tool: "Read", Text: folder + "/limit.go"},
					{Tool: "Edit", Text: folder + "/limit.go"},
					{Tool: "Bash", Text: "go test ./" + folder + "/...", Command: true, Test: true, Outcome: index.Outcome(1 + (s+i)%2), Status: (s + i) % 2},
					{Tool: "Bash", Text: "grep -rn 'func Limit' " + folder + " | sort | uniq -c | sort -rn | head -n 20", Command: true, Outcome: index.Passed, Subagent: i == 2},
				},
				Tokens: index.Tokens{Input: int64(900 + 37*s), CacheWrite: 20_000, CacheRead: int64(180_000 + 900*s), Output: int64(2_000 + 300*i)}, Cost: 0.11 * float64(i+1),
				Commits: []int{s}, Before: fmt.Sprintf("v%d", 3*s+i), After: fmt.Sprintf("v%d", 3*s+i+1),
				Output: "--- FAIL: TestLimit (0.00s)\n    limit_test.go:31: the sixth try got 200\nFAIL\n",
			}
			one.Prompt = one.Title
			switch i {
			case 1:
				one.Title, one.Prompt = "Now with a test", "Now with a test.\nIt should fail without the limit."
			case 2: //nolint:mnd // the last
				one.Title, one.Prompt = "commit it", "commit it"
				one.Subagents = "Reviewed the change: the window starts at the first try, which is what was asked."
				one.SubagentTokens = index.Tokens{Output: 1200}
			}
			one.Files = []report.File{fileOf(folder+"/limit.go", len(r.Turns)), fileOf(folder+"/limit_test.go", len(r.Turns))}
			commit.Turns = append(commit.Turns, len(r.Turns))
			r.Turns = append(r.Turns, one)
			at = at.Add(17 * time.Minute)
		}
		commit.Files, commit.At = r.Turns[len(r.Turns)-1].Files, at
		r.Commits = append(r.Commits, commit)
		at = at.Add(5 * time.Hour)
		if s%7 == 3 { //nolint:mnd // some
			r.Rewinds = append(r.Rewinds, report.Rewind{At: at, Target: fmt.Sprintf("v%d", 3*s), Rescue: fmt.Sprintf("v%d", 3*s+3), Paths: []string{folder + "/limit.go"}})
		}
	}
	r.Made = at
	return r
}

// fileOf returns a changed file whose lines are by the turn, a person and nobody known.
func fileOf(path string, turn int) report.File {
	lines := func(n int) string {
		return strings.TrimSuffix(strings.Repeat("\tif l.tries[address] > l.most && now.Sub(l.first[address]) < time.Minute { return errLimited } // a long line\n", n), "\n")
	}
	return report.File{
		Path: path, Added: 7, Removed: 2, Share: report.Share{Agent: 4, Person: 2, Unknown: 1},
		Hunks: []report.Hunk{{Old: 12, New: 12, Blocks: []report.Block{
			{Kind: report.Kept, Turn: -1, Text: "func (l *Limit) Allow(address string) error {\n\tnow := l.now()", Lines: 2},
			{Kind: report.Removed, Turn: -1, Text: lines(2), Lines: 2},
			{Kind: report.Added, By: report.Agent, Turn: turn, Text: lines(4), Lines: 4},
			{Kind: report.Added, By: report.Person, Turn: -1, Text: lines(2), Lines: 2},
			{Kind: report.Added, By: report.UnknownWriter, Turn: -1, Text: lines(1), Lines: 1},
			{Kind: report.Kept, Turn: -1, Text: "\treturn nil\n}", Lines: 2},
		}}},
	}
}
