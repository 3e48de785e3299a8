package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/blame"
)

// timeline writes the filters, and the turns, commits and rewinds by day.
func (d *document) timeline() {
	d.raw("<section id=\"timeline\" tabindex=\"-1\" aria-labelledby=\"timeline-title\">\n<h2 id=\"timeline-title\">Time line</h2>\n")
	// The script makes the search visible.
	d.raw(`<form class="filters" role="search" aria-label="Entries of the time line" hidden>
<label>Search <input type="search" name="q" autocomplete="off" spellcheck="false"></label>
<label>Agent <select name="agent"><option value="">all</option>`)
	choose := func(list []string) {
		for i, name := range list {
			d.raw(`<option value="`)
			d.number(i)
			d.raw(`">`)
			if name == "" {
				name = "unknown"
			}
			d.text(name)
			d.raw("</option>")
		}
	}
	choose(d.agents)
	d.raw(`</select></label>
<label>Person <select name="person"><option value="">all</option>`)
	choose(d.persons)
	d.raw(`</select></label>
<label>File <input name="file" autocomplete="off" spellcheck="false" placeholder="part of a path"></label>
<span class="actions"><button type="button" data-do="open">Open all</button> <button type="button" data-do="close">Close all</button> <button type="button" data-do="theme">Light or dark</button> <button type="button" data-do="keys" aria-pressed="true">Keys</button></span>
<output aria-live="polite"></output>
</form>
`)
	d.raw(`<p class="legend"><span class="by agent">agent</span> <span class="by person">person</span> <span class="by unknown">not recorded</span> mark who wrote the added lines of a commit, by the record of its checkpoint.</p>` + "\n")
	if n := len(d.omitted); n > 0 {
		d.element("<p class=\"note\">", "Older turns and commits are left out here, as the page would have more than 5 MB: "+count(int64(n))+". A range, or --since and --until, shows them.", "</p>\n")
	}
	day := ""
	for _, m := range d.moments {
		if on := m.at.Format("2006-01-02"); on != day {
			if day != "" {
				d.raw("</ol></section>\n")
			}
			day = on
			d.raw("<section class=\"day\"><h3>")
			d.time(m.at, "Monday, 2 January 2006")
			d.raw("</h3>\n<ol class=\"moments\">\n")
		}
		switch {
		case m.turn >= 0:
			d.turn(&d.r.Turns[m.turn])
		case m.commit >= 0:
			d.commit(&d.r.Commits[m.commit])
		default:
			w := &d.r.Rewinds[m.rewind]
			d.raw("<li><div class=\"entry rewind\">")
			d.time(w.At, "15:04")
			d.element("<h4>Rewound to ", w.Target, "</h4><span class=\"meta\">")
			if len(w.Paths) > 0 {
				d.text(strings.Join(w.Paths[:min(len(w.Paths), 5)], ", ") + " \u00b7 ")
			}
			d.element("what was there before: <code>", "entire rewind "+w.Rescue, "</code></span></div></li>\n")
		}
	}
	if day != "" {
		d.raw("</ol></section>\n")
	} else {
		d.raw("<p>Nothing is recorded.</p>\n")
	}
	d.raw("</section>\n")
}

// entry begins an entry of the time line.
func (d *document) entry(class markup, id string, agent int, persons []int) {
	d.raw("<li><details class=\"entry ")
	d.raw(class)
	d.raw("\"")
	d.attr("id", id)
	if agent >= 0 {
		d.attr("data-agent", strconv.Itoa(agent))
	}
	if len(persons) > 0 {
		list := make([]string, len(persons))
		for i, p := range persons {
			list[i] = strconv.Itoa(p)
		}
		d.attr("data-person", strings.Join(list, " "))
	}
	d.raw("><summary>")
}

const endEntry = "</div></details></li>\n"

func (d *document) turn(t *Turn) {
	class := markup("turn")
	if t.TakenBack {
		class = "turn back"
	}
	persons := make([]int, 0, len(t.Commits))
	for _, c := range t.Commits {
		persons = append(persons, indexOf(d.persons, d.r.Commits[c].Author))
	}
	d.entry(class, t.ID, indexOf(d.agents, t.Agent), persons)
	d.time(t.At, "15:04")
	title := t.Title
	if title == "" {
		title = "(before the first prompt)"
	}
	d.element("<h4>", title, "</h4><span class=\"meta\">")
	var parts []string
	if t.Agent != "" {
		parts = append(parts, t.Agent)
	}
	if n := len(t.Files); n > 0 {
		added, removed := changedLines(t.Files)
		parts = append(parts, fmt.Sprintf("%s +%s \u2212%s", plural(n, "file"), count(int64(added)), count(int64(removed))))
	}
	commands, failed, tests := 0, 0, 0
	for _, c := range t.Calls {
		if c.Command {
			commands++
		}
		if c.Outcome == index.Failed {
			failed++
		}
		if c.Test {
			tests++
		}
	}
	if commands > 0 {
		parts = append(parts, plural(commands, "command"))
	}
	if tests > 0 {
		parts = append(parts, plural(tests, "test run"))
	}
	if n := t.Tokens.Total() + t.SubagentTokens.Total(); n > 0 {
		parts = append(parts, short(n)+" tokens")
	}
	if len(t.Others) > 0 {
		parts = append(parts, "also changed "+strings.Join(t.Others, ", "))
	}
	d.text(strings.Join(parts, " \u00b7 "))
	if t.TakenBack {
		d.raw(" \u00b7 <strong class=\"back\">taken back</strong>")
	}
	if failed > 0 {
		d.element(" \u00b7 <strong class=\"failed\">", strconv.Itoa(failed)+" failed", "</strong>")
	}
	d.raw("</span></summary>\n<div class=\"body\">\n")
	if strings.TrimSpace(t.Prompt) != t.Title {
		d.texts("Asked", t.Prompt, d.limits.prompt, t.Show)
	}
	d.texts("Said", t.Answer, d.limits.answer, t.Show)
	d.calls(t)
	d.folded("Subagents", t.Subagents, d.limits.answer, t.Show)
	d.folded("Output", t.Output, d.limits.output, t.Show)
	if len(t.Files) > 0 {
		d.raw("<h5>Changed</h5>\n")
		more := t.Show
		if t.Before != "" && t.After != "" {
			more = "entire diff " + t.Before + " " + t.After
		}
		d.files(t.Files, d.limits.turnDiff, more)
	}
	d.about(t)
	d.raw(endEntry)
}

func indexOf(list []string, name string) int {
	for i, n := range list {
		if n == name {
			return i
		}
	}
	return -1
}

// calls writes the tool calls of a turn.
func (d *document) calls(t *Turn) {
	if len(t.Calls) == 0 {
		return
	}
	d.raw("<h5>Did</h5>\n<ol class=\"calls\">\n")
	shown := t.Calls[:min(len(t.Calls), d.limits.calls)]
	for _, c := range shown {
		d.raw("<li")
		if c.Outcome == index.Failed {
			d.raw(" class=\"failed\"")
		}
		d.element("><span class=\"tool\">", c.Tool, "</span> ")
		text, rest := cut(c.Text, maxCall)
		if rest > 0 {
			text += " \u2026"
		}
		d.element("<code>", text, "</code>")
		if c.Subagent {
			d.raw(" <span class=\"note\">subagent</span>")
		}
		if c.Test {
			d.raw(" <span class=\"note\">tests</span>")
		}
		switch {
		case c.Outcome == index.Failed && c.Status > 0:
			d.element(" <strong>", "failed with "+strconv.Itoa(c.Status), "</strong>")
		case c.Outcome == index.Failed:
			d.raw(" <strong>failed</strong>")
		case c.Outcome == index.Passed && (c.Command || c.Test):
			d.raw(" <span class=\"note\">passed</span>")
		case c.Outcome == index.Unknown && c.Test:
			d.raw(" <span class=\"note\">result not known</span>")
		}
		d.raw("</li>\n")
	}
	d.raw("</ol>\n")
	if n := len(t.Calls) - len(shown); n > 0 {
		d.element("<p class=\"cut\">", plural(n, "use")+" of tools more: ", "")
		d.element("<code>", t.Show, "</code></p>\n")
	}
}

// maxCall is the maximum length of a shown command in bytes.
const maxCall = 400

// about writes the figures, links and commands of a turn.
func (d *document) about(t *Turn) {
	d.raw("<dl class=\"about\">\n")
	if total := t.Tokens.Total(); total > 0 {
		d.raw("<div><dt>Tokens</dt><dd>")
		d.text(fmt.Sprintf("%s read, %s from the cache, %s written to it, %s written", short(t.Tokens.Input), short(t.Tokens.CacheRead), short(t.Tokens.CacheWrite), short(t.Tokens.Output)))
		if n := t.SubagentTokens.Total(); n > 0 {
			d.text("; subagents " + short(n))
		}
		if t.Cost > 0 {
			d.text("; " + money(t.Cost) + " " + d.r.Prices.Currency)
		}
		d.raw("</dd></div>\n")
	}
	if len(t.Commits) > 0 {
		d.raw("<div><dt>Committed</dt><dd>")
		for i, c := range t.Commits {
			if i > 0 {
				d.raw(", ")
			}
			d.raw("<a")
			d.href(commitID(&d.r.Commits[c]))
			d.element("><code>", shortOID(d.r.Commits[c].OID), "</code> ")
			d.element("", d.r.Commits[c].Subject, "</a>")
		}
		d.raw("</dd></div>\n")
	}
	if t.After != "" {
		d.element("<div><dt>Snapshot</dt><dd>", t.After, "")
		d.element(" <span class=\"note\">at its end:</span> <code>", "entire rewind "+t.After, "</code></dd></div>\n")
	}
	if t.Back != "" {
		d.element("<div><dt>Go back</dt><dd><code>", t.Back, "</code> <span class=\"note\">to before this turn</span></dd></div>\n")
	}
	d.element("<div><dt>All of it</dt><dd><code>", t.Show, "</code></dd></div>\n")
	d.element("<div><dt>Session</dt><dd>", t.Session, "")
	if t.Branch != "" {
		d.element(" <span class=\"note\">on ", t.Branch, "</span>")
	}
	d.raw(" <a class=\"here\"")
	d.href(t.ID)
	d.raw(">Link to this turn</a></dd></div>\n</dl>\n")
}

func shortOID(oid string) string { return oid[:min(len(oid), 7)] }

// commitID returns the fragment of a commit on the page.
func commitID(c *Commit) string { return "commit-" + c.OID[:min(len(c.OID), 12)] }

func (d *document) commit(c *Commit) {
	d.entry("commit", commitID(c), -1, []int{indexOf(d.persons, c.Author)})
	d.time(c.At, "15:04")
	d.element("<h4><code>", shortOID(c.OID), "</code> ")
	d.element("", c.Subject, "</h4><span class=\"meta\">")
	share := c.Share()
	parts := []string{c.Author}
	if len(c.Files) > 0 {
		added, removed := changedLines(c.Files)
		parts = append(parts, fmt.Sprintf("%s +%s \u2212%s", plural(len(c.Files), "file"), count(int64(added)), count(int64(removed))))
	}
	if share.Total() > 0 {
		parts = append(parts, shareText(share))
	}
	d.text(strings.Join(parts, " \u00b7 "))
	d.raw("</span></summary>\n<div class=\"body\">\n")
	switch {
	case len(c.Files) > 0:
		d.files(c.Files, d.limits.commitDiff, "git show "+shortOID(c.OID))
	default:
		d.raw("<p class=\"note\">It has no lines of its own: a merge, an empty commit, or one whose files are not in this clone.</p>\n")
	}
	d.raw("<dl class=\"about\">\n")
	if len(c.Turns) > 0 {
		d.raw("<div><dt>Turns</dt><dd>")
		for i, n := range c.Turns {
			if i > 0 {
				d.raw(", ")
			}
			d.raw("<a")
			d.href(d.r.Turns[n].ID)
			d.element(">", d.r.Turns[n].At.Format("15:04")+" "+d.r.Turns[n].Title, "</a>")
		}
		d.raw("</dd></div>\n")
	}
	if len(c.Checkpoints) > 0 {
		d.element("<div><dt>Checkpoint</dt><dd>", strings.Join(c.Checkpoints, ", "), "")
		d.element(" <code>", "entire show "+shortOID(c.OID), "</code></dd></div>\n")
	}
	d.raw("<div class=\"here\"><dt>Link</dt><dd><a")
	d.href(commitID(c))
	d.element(">Link to this commit</a> <code>", "git show "+shortOID(c.OID), "</code></dd></div>\n</dl>\n")
	d.raw(endEntry)
}

// shareText returns a share as text.
func shareText(s Share) string {
	var parts []string
	for _, p := range []struct {
		name  string
		lines int
	}{{"agent ", s.Agent}, {"person ", s.Person}, {blame.NotRecorded + " ", s.Unknown}} {
		if p.lines > 0 {
			parts = append(parts, p.name+percent(p.lines, s.Total()))
		}
	}
	return strings.Join(parts, ", ")
}

// texts writes a text with a heading, or nothing if the text is empty.
func (p *page) texts(heading markup, text string, limit int, more string) {
	if strings.TrimSpace(text) == "" || limit == 0 {
		return
	}
	p.raw("<h5>")
	p.raw(heading)
	p.raw("</h5>\n")
	p.pre(text, limit, more)
}

// pre writes the beginning of a text and the command that shows the rest.
func (p *page) pre(text string, limit int, more string) {
	head, rest := cut(strings.TrimSpace(text), limit)
	p.element("<pre class=\"text\">", head, "</pre>\n")
	if rest == 0 {
		return
	}
	const kib = 1024
	size := strconv.Itoa(rest) + " bytes"
	if rest >= kib {
		size = strconv.Itoa(rest/kib) + " KiB"
	}
	p.element("<p class=\"cut\">", size+" more: ", "")
	p.element("<code>", more, "</code></p>\n")
}

// folded is like texts, but the text is initially collapsed.
func (p *page) folded(heading markup, text string, limit int, more string) {
	if strings.TrimSpace(text) == "" || limit == 0 {
		return
	}
	p.raw("<details class=\"fold\"><summary><h5>")
	p.raw(heading)
	p.raw("</h5></summary>\n")
	p.pre(text, limit, more)
	p.raw("</details>\n")
}
