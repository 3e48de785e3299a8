package report

import (
	"crypto/sha256"
	_ "embed" // the style and the script of the page
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// MaxPage is the maximum size of a page in bytes.
const MaxPage = 5_000_000

// limits limits the parts of a page; lengths are in bytes.
type limits struct {
	prompt, answer, output int
	calls, files           int
	turnDiff, commitDiff   int
	rows                   int // per table
	moments                int // of the time line, the newest; 0 for all
}

// WriteHTML writes the report as one self-contained page. It cuts long texts and diffs so that
// the page fits into MaxPage, and adds the command that shows the rest to each. If that is not
// enough, it leaves out the oldest entries of the time line.
func WriteHTML(w io.Writer, r *Report) error {
	const (
		attempts = 12
		// cuts is the number of attempts in which only texts are cut.
		cuts = 6
	)
	l := limits{
		prompt: 8 << 10, answer: 16 << 10, output: 4 << 10, calls: 150, files: 60,
		turnDiff: 48 << 10, commitDiff: 64 << 10, rows: 1000,
	}
	for n := range attempts {
		d := &document{r: r, limits: l, totals: r.totals()}
		d.write()
		if d.b.Len() <= MaxPage {
			_, err := io.WriteString(w, d.b.String())
			return err
		}
		const two = 2 // halve the limits
		if n >= cuts {
			l.moments = (len(r.Turns) + len(r.Commits)) >> (n - cuts + 1)
		}
		l = limits{
			prompt: max(l.prompt/two, 300), answer: max(l.answer/two, 200), output: l.output / two, calls: max(l.calls*3/4, 8), files: max(l.files*3/4, 8), //nolint:mnd // a little less
			turnDiff: l.turnDiff / two, commitDiff: l.commitDiff / two, rows: max(l.rows/two, 50), moments: l.moments, //nolint:mnd // a table that is worth reading
		}
	}
	return fmt.Errorf("the page of %s would have more than %d bytes", plural(len(r.Turns), "turn"), MaxPage)
}

// document is a page of a report.
type document struct {
	page

	r       *Report
	limits  limits
	totals  totals
	moments []moment // of the time line
	agents  []string // in the order of the filter's list
	persons []string
}

// hashOf returns the source expression of a style or script for a content security policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// choose sets the entries of the time line, and those that are left out.
func (d *document) choose() {
	d.moments = d.r.moments()
	if d.limits.moments == 0 || len(d.moments) <= d.limits.moments {
		return
	}
	d.omitted = map[string]bool{}
	older := len(d.moments) - d.limits.moments
	for _, m := range d.moments[:older] {
		switch {
		case m.turn >= 0:
			d.omitted[d.r.Turns[m.turn].ID] = true
		case m.commit >= 0:
			d.omitted[commitID(&d.r.Commits[m.commit])] = true
		}
	}
	d.moments = d.moments[older:]
}

func (d *document) write() {
	d.choose()
	agents, persons := map[string]bool{}, map[string]bool{}
	for i := range d.r.Turns {
		agents[d.r.Turns[i].Agent] = true
	}
	for i := range d.r.Commits {
		persons[d.r.Commits[i].Author] = true
	}
	d.agents, d.persons = slices.Sorted(maps.Keys(agents)), slices.Sorted(maps.Keys(persons))
	d.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\"")
	d.attr("content", "default-src 'none'; style-src "+hashOf(style)+"; script-src "+hashOf(script)+"; base-uri 'none'; form-action 'none'")
	d.raw(">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	d.element("<title>", d.r.Name+": what was done", "</title>\n")
	d.raw("<style>")
	d.raw(markup(style))
	d.raw("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#timeline\">Skip to the time line</a>\n")
	d.header()
	d.raw("<main>\n")
	d.overview()
	d.shares()
	d.timeline()
	d.raw("</main>\n")
	d.raw("<footer>\n<p>Made ")
	d.time(d.r.Made, "2 January 2006 15:04 MST")
	d.element(" by <code>entire report</code> ", d.r.Version, ". Secrets are replaced by REDACTED. The page asks nothing of any network.</p>\n")
	d.raw(`<p class="keys">Keys: <kbd>/</kbd> searches, <kbd>j</kbd> and <kbd>k</kbd> go to the next and the previous entry, <kbd>o</kbd> opens and closes it, <kbd>t</kbd> changes between light and dark, <kbd>Esc</kbd> clears the search. The button Keys turns them off.</p>
</footer>
`)
	d.raw("<script>")
	d.raw(markup(script))
	d.raw("</script>\n</body>\n</html>\n")
}

func (d *document) header() {
	d.raw("<header>\n")
	d.element("<h1>", d.r.Name, "</h1>\n")
	d.raw("<p class=\"lead\">")
	d.text(d.r.Selection)
	if n := len(d.r.Turns); n > 0 {
		d.raw(", ")
		d.time(d.r.Turns[0].At, "2 January 2006")
		if last := d.r.Turns[n-1].At; last.Format("2006-01-02") != d.r.Turns[0].At.Format("2006-01-02") {
			d.raw(" to ")
			d.time(last, "2 January 2006")
		}
	}
	d.raw("</p>\n<dl class=\"figures\">\n")
	t := &d.totals
	figure := func(name markup, value, note string) {
		d.raw("<div><dt>")
		d.raw(name)
		d.element("</dt><dd>", value, "")
		if note != "" {
			d.element(" <small>", note, "</small>")
		}
		d.raw("</dd></div>\n")
	}
	figure("Turns", count(int64(len(d.r.Turns))), "in "+plural(t.sessions, "session"))
	lines := fmt.Sprintf("+%s \u2212%s lines", count(int64(t.share.Total())), count(int64(t.removed)))
	if n, linked := len(d.r.Commits), d.r.linked(); n == linked {
		figure("Linked commits", count(int64(n)), lines)
	} else {
		figure("Commits", count(int64(n)), count(int64(linked))+" linked, "+lines)
	}
	figure("Written by agents", agentShare(t.share), "of the added lines")
	tests := ""
	if t.tests > 0 {
		tests = plural(t.broken, "failure")
	}
	figure("Test runs", count(int64(t.tests)), tests)
	figure("Tokens", short(t.tokens.Total()), short(t.tokens.Output)+" written")
	if t.cost > 0 {
		figure("Cost", money(t.cost), d.r.Prices.Currency+", by prices of "+d.r.Prices.Date)
	}
	d.raw("</dl>\n")
	if d.r.Omitted > 0 {
		d.element("<p class=\"note\">", plural(d.r.Omitted, "older turn")+" left out: --limit shows more.", "</p>\n")
	}
	if len(d.r.Unpriced) > 0 {
		d.element("<p class=\"note\">", "Without a price, and not in the cost: "+strings.Join(d.r.Unpriced, ", ")+".", "</p>\n")
	}
	d.raw("<nav aria-label=\"Parts of the page\"><a href=\"#overview\">Over time</a> <a href=\"#shares\">Who wrote what</a> <a href=\"#timeline\">Time line</a></nav>\n</header>\n")
}

// agentShare returns the agents' share of lines in percent, as text. It is a lower bound if the
// authors of some lines are unknown.
func agentShare(s Share) string {
	switch {
	case s.Total() == 0, s.Unknown == s.Total():
		return "\u2013"
	case s.Unknown > 0:
		const hundred = 100
		return fmt.Sprintf("\u2265 %d %%", s.Agent*hundred/s.Total())
	case s.Agent == 0:
		return "0 %"
	}
	return percent(s.Agent, s.Total())
}

func money(cost float64) string { return fmt.Sprintf("%.2f", cost) }
