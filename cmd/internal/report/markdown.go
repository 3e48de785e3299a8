package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/index"
)

// MaxMarkdown is the maximum length of a Markdown text in bytes, a little less than the
// limit of hosts for a comment.
const MaxMarkdown = 60_000

// WriteMarkdown writes the report as a text for a pull request: requests and results, shares of
// lines, tests, tokens. It cuts the lists until the text is short enough.
func WriteMarkdown(w io.Writer, r *Report) error {
	for rows := 100; ; rows /= 2 {
		m := &summary{r: r, rows: rows}
		m.write()
		if m.b.Len() <= MaxMarkdown || rows == 0 {
			_, err := io.WriteString(w, m.b.String())
			return err
		}
	}
}

// summary writes a report in Markdown. Every text of the report is escaped by inline, cell or
// cellCode.
type summary struct {
	b    strings.Builder
	r    *Report
	rows int // maximum per list
}

func (m *summary) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

const (
	// titleLength is the maximum length of a shown prompt or subject, pathLength that of a
	// path.
	titleLength, pathLength = 160, 120
)

func (m *summary) write() {
	r, t := m.r, m.r.totals()
	m.line("### %s: %s, %s", inline(r.Name, titleLength), plural(len(r.Turns), "turn"), r.CommitsText())
	m.line("")
	parts := []string{inline(r.Selection, titleLength)}
	if total := t.share.Total(); total > 0 {
		parts = append(parts, fmt.Sprintf("**%s** of %s written by agents", agentShare(t.share), plural(total, "added line")))
	}
	if t.tests > 0 {
		parts = append(parts, fmt.Sprintf("%s, %s", plural(t.tests, "test run"), plural(t.broken, "failure")))
	}
	if n := t.tokens.Total(); n > 0 {
		text := short(n) + " tokens"
		if t.cost > 0 {
			text += fmt.Sprintf(", %s %s", money(t.cost), inline(r.Prices.Currency, titleLength))
		}
		parts = append(parts, text)
	}
	m.line("%s.", strings.Join(parts, " \u00b7 "))
	if len(r.Commits) > 0 {
		m.line("\n| commit | | lines | agent | checkpoint |\n|---|---|---:|---:|---|")
		shown := r.Commits[max(len(r.Commits)-m.rows, 0):]
		for i := range shown {
			c := &shown[i]
			share := c.Share()
			const most = 5
			checkpoints := make([]string, 0, most)
			for _, id := range c.Checkpoints[:min(len(c.Checkpoints), most)] {
				checkpoints = append(checkpoints, cellCode(id, pathLength))
			}
			if n := len(c.Checkpoints) - most; n > 0 {
				checkpoints = append(checkpoints, fmt.Sprintf("and %d more", n))
			}
			agents := ""
			if share.Agent > 0 {
				agents = agentShare(share)
			}
			m.line("| %s | %s | %d | %s | %s |", shortOID(c.OID), cell(c.Subject, titleLength), share.Total(), agents, strings.Join(checkpoints, " "))
		}
		m.more(len(r.Commits)-len(shown), "older commit")
	}
	m.asked()
	var list []pathShare
	for _, p := range r.paths() {
		if !p.isDir {
			list = append(list, p)
		}
	}
	if len(list) > 0 {
		slices.SortStableFunc(list, func(a, b pathShare) int { return b.share.Total() - a.share.Total() })
		m.line("\n<details><summary>Agent's share of %s</summary>\n", plural(len(list), "file"))
		m.line("| file | lines | agent | person | not recorded |\n|---|---:|---:|---:|---:|")
		shown := list[:min(len(list), m.rows)]
		for _, p := range shown {
			n := p.share.Total()
			m.line("| %s | %d | %s | %s | %s |", cellCode(p.path, pathLength), n, agentShare(p.share), percent(p.share.Person, n), percent(p.share.Unknown, n))
		}
		m.more(len(list)-len(shown), "file")
		m.line("\n</details>")
	}
	m.tests()
	if r.Omitted > 0 {
		m.line("\n%s left out.", plural(r.Omitted, "older turn"))
	}
	m.line("\n<sub>Made by `entire report`. `entire show ID` shows a conversation, `entire show FILE:LINE` what led to a line.</sub>")
}

// more writes the number of omitted items of a list.
func (m *summary) more(n int, noun string) {
	if n > 0 {
		m.line("\n%s more.", plural(n, noun))
	}
}

// asked lists the turns with their prompts and the last lines of the answers.
func (m *summary) asked() {
	if len(m.r.Turns) == 0 {
		return
	}
	m.line("\n#### Asked and done\n")
	shown := m.r.Turns[max(len(m.r.Turns)-m.rows, 0):]
	for i := range shown {
		t := &shown[i]
		title := t.Title
		if title == "" {
			title = "(before the first prompt)"
		}
		about := []string{inline(t.Agent, pathLength)}
		if len(t.Files) > 0 {
			added, removed := changedLines(t.Files)
			about = append(about, fmt.Sprintf("%s, +%d \u2212%d", plural(len(t.Files), "file"), added, removed))
		}
		for _, c := range t.Commits {
			about = append(about, shortOID(m.r.Commits[c].OID))
		}
		if t.TakenBack {
			about = append(about, "taken back")
		}
		if len(t.Others) > 0 {
			about = append(about, "also changed "+inline(strings.Join(t.Others, ", "), pathLength))
		}
		m.line("%d. %s  ", i+1, inline(title, titleLength))
		m.line("   <sub>%s</sub>", strings.Join(slices.DeleteFunc(about, func(s string) bool { return s == "" }), " \u00b7 "))
		// Agents usually sum up in the last line.
		said := strings.TrimSpace(t.Answer)
		if said = said[strings.LastIndexByte(said, '\n')+1:]; said != "" {
			m.line("   > %s", inline(said, 2*titleLength))
		}
	}
	m.more(len(m.r.Turns)-len(shown), "older turn")
}

// tests lists the commands that ran tests, each with its last outcome.
func (m *summary) tests() {
	type run struct {
		text         string
		runs, failed int
		last         index.Outcome
	}
	var list []*run
	of := map[string]*run{}
	for i := range m.r.Turns {
		for _, c := range m.r.Turns[i].Calls {
			if !c.Test {
				continue
			}
			r := of[c.Text]
			if r == nil {
				r = &run{text: c.Text}
				of[c.Text], list = r, append(list, r)
			}
			r.runs++
			if r.last = c.Outcome; c.Outcome == index.Failed {
				r.failed++
			}
		}
	}
	if len(list) == 0 {
		return
	}
	m.line("\n<details><summary>Tests that ran: %s</summary>\n", plural(len(list), "command"))
	m.line("| command | runs | failed | last |\n|---|---:|---:|---|")
	shown := list[:min(len(list), m.rows)]
	for _, r := range shown {
		m.line("| %s | %d | %d | %s |", cellCode(r.text, titleLength), r.runs, r.failed, [...]string{"not known", "passed", "failed"}[r.last])
	}
	m.more(len(list)-len(shown), "command")
	m.line("\n</details>")
}
