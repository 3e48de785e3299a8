package report

import (
	"strconv"
	"strings"
)

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
