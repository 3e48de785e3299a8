package digest

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// Summary describes the work in one line of about 80 characters, followed by the counts of
// files and lines: the subject of the last commit, else the plan, the last prompt or the
// task.
func (d *Digest) Summary(src Sources) string {
	const longest, room = 80, 60
	var text string
	switch n := len(src.Subjects); {
	case n > 1:
		more := fmt.Sprintf(" and %d more commits", n-1)
		if n == 2 { //nolint:mnd // two
			more = " and another commit"
		}
		text = cutWords(src.Subjects[0], room) + more
	case n == 1:
		text = cutWords(src.Subjects[0], longest)
	case d.Plan.Title != "" && (d.Plan.Accepted || d.PlanOffered):
		text = cutWords(d.Plan.Title, longest)
	case len(d.Asked) > 0:
		text = cutWords(d.Asked[len(d.Asked)-1].Text, longest)
	default:
		text = cmp.Or(cutWords(report{d, src}.task(), longest), "a session in which nothing was asked")
	}
	if n := len(src.Files); n > 0 {
		files := "files"
		if n == 1 {
			files = "file"
		}
		lines := ""
		if src.Added+src.Removed > 0 { // else the files were not compared
			lines = fmt.Sprintf(", +%d -%d", src.Added, src.Removed)
		}
		text += fmt.Sprintf(" (%d %s%s)", n, files, lines)
	}
	return text
}

// cutWords returns a text as one line of at most limit characters, cut at a word.
func cutWords(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	letters := []rune(text)
	if len(letters) <= limit {
		return text
	}
	cut := string(letters[:limit-len(plain.Ellipsis)])
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 { //nolint:mnd // a cut at a word costs no more than half
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:-") + plain.Ellipsis
}

// Description returns the last requests and the agent's last text, a line each.
func (d *Digest) Description(src Sources) string {
	const longest = 600
	var parts []string
	if n := len(d.Asked); n > 0 {
		parts = append(parts, "Asked: "+oneLine(d.Asked[n-1].Text, longest))
	}
	if d.Short != "" {
		word := "Then: "
		if len(parts) == 0 {
			word = "Asked: "
		}
		parts = append(parts, word+oneLine(d.Short, longest))
	}
	said := d.Said
	if src.Said != "" {
		said = plain.Head(src.Said, maxSaid)
	}
	if said != "" {
		parts = append(parts, "The agent said last: "+oneLine(said, longest))
	}
	return strings.Join(parts, "\n")
}
