package report_test

import (
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/report"
	"github.com/seed-3aff656d/entire/internal/index"
)

// example returns a report with the text in every field that others can write.
func example(text string) *report.Report {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	diff := []report.File{{
		Path: text, OldPath: "old " + text, Added: 3, Removed: 1, Note: "renamed", Share: report.Share{Agent: 1, Person: 1, Unknown: 1},
		Hunks: []report.Hunk{{Old: 1, New: 1, Blocks: []report.Block{
			{Kind: report.Kept, Turn: -1, Text: text, Lines: 1},
			{Kind: report.Removed, Turn: -1, Text: text, Lines: 1},
			{Kind: report.Added, By: report.Agent, Turn: 0, Text: "a " + text, Lines: 1},
			{Kind: report.Added, By: report.Person, Turn: -1, Text: "b " + text, Lines: 1},
			{Kind: report.Added, By: report.UnknownWriter, Turn: -1, Text: "c " + text, Lines: 1},
			{Kind: report.Added, By: report.NoWriter, Turn: -1, Text: "d " + text, Lines: 1},
		}}},
	}, {Path: "binary " + text, Binary: true}, {Path: "not shown " + text, Added: 2}}
	return &report.Report{
		Name: text, Selection: text, Made: at, Version: text, Omitted: 2, Prices: report.Prices{Date: text, Currency: text}, Unpriced: []string{text},
		Turns: []report.Turn{{
			ID: "turn-a-1", Session: text, Agent: text, Branch: text, At: at, Ended: at, Title: "t " + text, Prompt: "p " + text, Answer: "a " + text, Output: "o " + text, Subagents: "s " + text,
			Calls: []report.Call{
				{Tool: text, Text: text, Command: true, Test: true, Outcome: index.Failed, Status: 2},
				{Tool: text, Text: text, Subagent: true, Outcome: index.Passed},
				{Tool: "Bash", Text: "go test " + text, Command: true, Test: true},
			},
			Files: diff, Tokens: index.Tokens{Input: 100, CacheWrite: 20, CacheRead: 5000, Output: 1234567}, SubagentTokens: index.Tokens{Output: 9}, Cost: 1.5,
			Commits: []int{0}, Before: "v1", After: "v2", Show: "entire explain " + text, Back: "entire rewind " + text,
		}},
		Commits: []report.Commit{
			{OID: "0123456789abcdef", Subject: text, Author: text, At: at.Add(time.Hour), Checkpoints: []string{text}, Files: diff, Turns: []int{0}},
			{OID: "fedcba9876543210", Subject: text, Author: "other " + text, At: at.Add(2 * time.Hour)},
		},
		Rewinds: []report.Rewind{{At: at.Add(3 * time.Hour), Target: "v1", Rescue: "v3", Paths: []string{text}}},
	}
}

// hostile returns texts that try to be interpreted as markup or code.
func hostile() []string {
	return []string{
		`<script>window.hit=1</script>`, `"><img src=x onerror=window.hit=1>`, `' onmouseover='window.hit=1' x='`, `</style><script>window.hit=1</script>`,
		`</title></pre></code></details><svg onload=window.hit=1>`, `<!--`, `-->`, `]]>`, `<![CDATA[`, `&lt;script&gt;`, `&#60;img src=x onerror=window.hit=1&#62;`,
		`javascript:window.hit=1`, `data:text/html,<script>window.hit=1</script>`, `<a href="javascript:window.hit=1">x</a>`, `<iframe srcdoc="<script>parent.hit=1</script>">`,
		`<base href="https://example.com/">`, `<meta http-equiv=refresh content="0;url=https://example.com/">`, `<link rel=stylesheet href=https://example.com/x.css>`,
		`<form action=https://example.com><button name=q>`, "a\x00b<script\x00>window.hit=1</script>", "\xff\xfe<script>window.hit=1</script>", "\u2028<script>window.hit=1</script>",
		"+ADw-script+AD4-window.hit=1+ADw-/script+AD4-", `{{.}}${window.hit=1}<%= 1 %>`, "\u202egnp.txt\u202c", `<details open ontoggle=window.hit=1>`, `<style>*{display:none}</style>`,
		"`\\`|*_[x](javascript:window.hit=1)![x](https://example.com/x.png)<b>@everyone #1 https://example.com www.example.com ~~~", "\n\n# heading\n| a | b |\n|---|---|\n", "```\n</details>",
	}
}
