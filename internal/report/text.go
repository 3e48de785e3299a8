package report

import "strings"

// texts writes a text with a heading; nothing for an empty one.
func (p *page) texts(heading markup, text string, limit int, more string) {
	if strings.TrimSpace(text) == "" || limit == 0 {
		return
	}
	p.raw("<h5>")
	p.raw(heading)
	p.raw("</h5>\n")
	p.pre(text, limit, more)
}

func (p *page) pre(text string, limit int, more string) {
	head, rest := cut(strings.TrimSpace(text), limit)
	p.element("<pre class=\"text\">", head, "</pre>\n")
	p.cut(rest, more)
}

// cut writes that something is left out, and what shows it.
func (p *page) cut(rest int, more string) {
	if rest > 0 {
		p.element("<p class=\"cut\">", size(rest)+" more: ", "")
		p.element("<code>", more, "</code></p>\n")
	}
}

// folded is texts that is closed at first.
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
