package brief

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/internal/plain"
)

// Ago returns the time from t to now in words: "just now", "45 minutes ago", "1 hour ago",
// "3 days ago".
func Ago(now, t time.Time) string {
	n, unit := plain.Elapsed(now.Sub(t))
	if n == 0 {
		return "just now"
	}
	return plain.Plural(n, unit) + " ago"
}

// shownLine returns a text as one line of at most limit bytes, without invisible
// characters.
func shownLine(text string, limit int) string {
	text = withoutTags(text)
	if len(text) <= limit && !strings.ContainsAny(text, "\n\t") && isPlain(text) && !strings.Contains(text, "  ") {
		return strings.TrimSpace(text)
	}
	var b strings.Builder
	blank := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			blank = b.Len() > 0
			continue
		case r == utf8.RuneError || !visible(r):
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
		if b.Len() > limit {
			return cutText(b.String(), limit)
		}
	}
	return b.String()
}

// shownPath returns a file's name, quoted if it has invisible characters.
func shownPath(name string) string {
	if len(name) <= pathWidth && shownLine(name, pathWidth) != name {
		name = strings.ReplaceAll(strconv.Quote(name), "\uFFFD", `\ufffd`)
	}
	return shownLine(name, pathWidth)
}

// visible reports whether a character is visible or joins other characters (ZWJ, ZWNJ). A brief leaves
// out all others instead of escaping them: escapes would look like content of the file, and spend
// the space.
func visible(r rune) bool { return unicode.IsPrint(r) || r == '\u200c' || r == '\u200d' }

// cutText shortens a line to limit bytes, before a word if possible.
func cutText(text string, limit int) string {
	const more = "…"
	if len(text) <= limit {
		return text
	}
	head := plain.Head(text, max(0, limit-len(more)))
	if space := strings.LastIndexByte(head, ' '); space > len(head)*3/4 {
		head = head[:space]
	}
	return strings.TrimRight(head, " ") + more
}

// cleaned returns the content of a file without invisible characters and the agent's own
// marks; altered reports whether it had any. It converts CRLF to LF, which does not count
// as altered.
func cleaned(content string) (text string, altered bool) {
	unix := strings.ReplaceAll(content, "\r\n", "\n")
	text = withoutTags(unix)
	altered = len(text) != len(unix)
	if isPlain(text) {
		return text, altered
	}
	if !utf8.ValidString(text) {
		text, altered = strings.ToValidUTF8(text, ""), true
	}
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || visible(r) {
			return r
		}
		altered = true
		if unicode.IsSpace(r) {
			return ' '
		}
		return -1
	}, text)
	return text, altered
}

// withoutTags removes the marks that the agent puts around injected text, so that no text
// can end the injection.
func withoutTags(text string) string {
	if !strings.Contains(text, "system-reminder") {
		return text
	}
	return strings.NewReplacer("<system-reminder>", "system-reminder", "</system-reminder>", "system-reminder").Replace(text)
}

// isPlain reports whether a text consists of visible ASCII, newlines and tabs.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// fenced returns a text as a code block, with a fence longer than any in the text.
func fenced(language, text string) string {
	longest := 2
	for rest := text; ; {
		at := strings.IndexByte(rest, '`')
		if at < 0 {
			break
		}
		n := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
		longest, rest = max(longest, n), rest[at+n:]
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + linediff.WholeLines(text) + fence + "\n"
}

// utf16Len returns the length of a text in UTF-16 code units.
func utf16Len(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// size is the size of a text: UTF-16 code units, and fractions of tokens.
type size struct{ units, cost int }

func sizeOf(text string) size {
	return size{units: utf16Len(text), cost: tokenCost(text)}
}

func (s size) minus(o size) size  { return size{s.units - o.units, s.cost - o.cost} }
func (s size) within(o size) bool { return s.units <= o.units && s.cost <= o.cost }
func tokens(n int) int            { return n * unit }
