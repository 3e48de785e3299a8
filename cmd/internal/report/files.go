package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/strategy/blame"
)

// files writes files with their diffs, which are limited to limit bytes in total.
func (d *document) files(files []File, limit int, more string) {
	room := limit
	shown := files[:min(len(files), d.limits.files)]
	for i := range shown {
		f := &shown[i]
		d.raw("<details class=\"file\"><summary><code class=\"path\">")
		if f.OldPath != "" && f.OldPath != f.Path {
			d.text(f.OldPath + " \u2192 ")
		}
		d.element("", f.Path, "</code> <span class=\"meta\">")
		d.text(fmt.Sprintf("+%d \u2212%d", f.Added, f.Removed))
		if f.Note != "" {
			d.text(" \u00b7 " + f.Note)
		}
		if f.Share.Total() > 0 {
			d.text(" \u00b7 " + shareText(f.Share))
		}
		d.raw("</span></summary>")
		d.diff(f, &room, more)
		d.raw("</details>\n")
	}
	if n := len(files) - len(shown); n > 0 {
		d.element("<p class=\"cut\">", plural(n, "file")+" more: ", "")
		d.element("<code>", more, "</code></p>\n")
	}
}

// diff writes the diff of a file, and the number of omitted hunks.
func (d *document) diff(f *File, room *int, more string) {
	if f.Binary {
		d.raw("<p class=\"note\">Not a text.</p>")
		return
	}
	if len(f.Hunks) == 0 {
		d.element("<p class=\"cut\">Not shown here: <code>", more, "</code></p>")
		return
	}
	// Lines without letters and digits get no writer's name.
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	open, left := false, 0
	last, lastTurn := NoWriter, -1
	for i := range f.Hunks {
		h := &f.Hunks[i]
		length := 0
		for _, b := range h.Blocks {
			length += len(b.Text) + b.Lines
		}
		if *room -= length; *room < 0 {
			left++
			continue
		}
		if !open {
			d.raw("<pre class=\"diff\" tabindex=\"0\" aria-label=\"Differences\">")
			open = true
		}
		d.raw("<span class=\"at\">lines ")
		d.number(h.Old)
		d.raw(" \u2192 ")
		d.number(h.New)
		d.raw("</span>")
		for _, b := range h.Blocks {
			isNamed := b.Kind == Added && (b.By != last || b.Turn != lastTurn) && strings.ContainsFunc(b.Text, isWord)
			d.block(b, isNamed)
			if isNamed {
				last, lastTurn = b.By, b.Turn
			}
		}
	}
	if open {
		d.raw("</pre>")
	}
	if left > 0 {
		d.element("<p class=\"cut\">", plural(left, "place")+" more: ", "")
		d.element("<code>", more, "</code></p>")
	}
}

// block writes lines of a diff, with the name of their writer if named is set.
func (d *document) block(b Block, named bool) {
	sign, end := "  ", markup("\n")
	switch {
	case b.Kind == Removed:
		d.raw("<del>")
		sign, end = "- ", "</del>"
	case b.Kind == Added && b.By == Agent:
		d.raw("<ins class=\"agent\">")
		sign, end = "+ ", "</ins>"
	case b.Kind == Added && b.By == Person:
		d.raw("<ins class=\"person\">")
		sign, end = "+ ", "</ins>"
	case b.Kind == Added && b.By == UnknownWriter:
		d.raw("<ins class=\"unknown\">")
		sign, end = "+ ", "</ins>"
	case b.Kind == Added:
		d.raw("<ins>")
		sign, end = "+ ", "</ins>"
	}
	if named && b.By != NoWriter {
		name := [...]markup{NoWriter: "", Agent: "agent", Person: "person", UnknownWriter: "unknown"}[b.By]
		if b.Turn < 0 || b.Turn >= len(d.r.Turns) {
			d.raw("<span class=\"by ")
			d.raw(name)
			d.raw("\">")
			if b.By == UnknownWriter {
				name = blame.NotRecorded
			}
			d.raw(name)
			d.raw("</span>")
		} else {
			t := &d.r.Turns[b.Turn]
			d.raw("<a class=\"by agent\"")
			d.href(t.ID)
			d.raw(">agent, ")
			d.text(t.At.Format("15:04"))
			d.raw("</a>")
		}
	}
	first := true
	for line := range strings.SplitSeq(b.Text, "\n") {
		if !first {
			d.raw("\n")
		}
		first = false
		d.text(sign + line)
	}
	d.raw(end)
}
