package report

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// page writes HTML. Markup consists of constants of this package, and other strings don't
// convert to its type implicitly; every other text is escaped by text or attr. So no text
// of a report can become markup: elements and names of attributes are never computed, and
// values of attributes are always quoted. Nothing is written into scripts, styles or
// addresses except the fragments of turns and commits, which are letters, digits and
// hyphens.
type page struct {
	b strings.Builder
	// omitted are the ids of elements that the page leaves out.
	omitted map[string]bool
}

// markup is a piece of HTML.
type markup string

// raw writes markup.
func (p *page) raw(m markup) { p.b.WriteString(string(m)) }

// number writes a number.
func (p *page) number(n int) { p.b.WriteString(strconv.Itoa(n)) }

// text writes a text, escaped.
func (p *page) text(s string) { escape(&p.b, s) }

// attr writes an attribute whose name is markup.
func (p *page) attr(name markup, value string) {
	p.raw(" ")
	p.raw(name)
	p.raw(`="`)
	escape(&p.b, value)
	p.raw(`"`)
}

// element writes an element with a text.
func (p *page) element(open markup, text string, end markup) {
	p.raw(open)
	p.text(text)
	p.raw(end)
}

// href writes a link to the element with an id in the page, unless that is left out.
func (p *page) href(id string) {
	if !p.omitted[id] {
		p.attr("href", "#"+id)
	}
}

// time writes a time in a layout of package time.
func (p *page) time(t time.Time, form string) {
	p.raw("<time")
	p.attr("datetime", t.UTC().Format(time.RFC3339))
	p.raw(">")
	p.text(t.Format(form))
	p.raw("</time>")
}

// escape writes a text escaped for an element or a quoted attribute, with hidden characters as in
// [plain.Visible].
func escape(b *strings.Builder, s string) {
	start := 0
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		with := ""
		switch {
		case r == '&':
			with = "&amp;"
		case r == '<':
			with = "&lt;"
		case r == '>':
			with = "&gt;"
		case r == '"':
			with = "&#34;"
		case r == '\'':
			with = "&#39;"
		case r == utf8.RuneError && n == 1:
			with = "\uFFFD"
		case plain.IsHidden(r):
			with = plain.Escape(r)
		}
		if with != "" {
			b.WriteString(s[start:i])
			b.WriteString(with)
			start = i + n
		}
		i += n
	}
	b.WriteString(s[start:])
}

// cut returns the complete lines in the first limit bytes of a text, or the complete
// characters if the first line is longer, and the number of omitted bytes.
func cut(s string, limit int) (string, int) {
	if len(s) <= limit {
		return s, 0
	}
	head := plain.Head(s, max(limit, 0))
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	return head, len(s) - len(head)
}

// count formats a number with its digits in groups.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// short formats a number of tokens in few characters.
func short(n int64) string {
	const thousand, million = 1000, 1000000
	switch {
	case n < thousand:
		return strconv.FormatInt(n, 10)
	case n < 10*thousand:
		return strconv.FormatFloat(float64(n)/thousand, 'f', 1, 64) + "k"
	case n < million:
		return strconv.FormatInt(n/thousand, 10) + "k"
	}
	return strconv.FormatFloat(float64(n)/million, 'f', 1, 64) + "M"
}

// plural formats a number with a noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(int64(n)) + " " + noun + "s"
}

// percent formats part as a percentage of whole, "" if either is 0.
func percent(part, whole int) string {
	if whole == 0 || part == 0 {
		return ""
	}
	const hundred = 100
	switch p := float64(part) * hundred / float64(whole); {
	case p < 1:
		return "<1 %"
	case part < whole && p > hundred-1:
		return ">99 %"
	default:
		return strconv.Itoa(int(p+0.5)) + " %" //nolint:mnd // rounded
	}
}
