package report

import (
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// Texts of others in Markdown: when it is rendered, a reader sees and copies exactly the text, as one
// line. No markup, link, mention or reference comes of it, and nothing is inserted that can't be
// seen. Words that hosts turn into links or mentions are code, in which they don't do that; a
// backslash is before what is markup elsewhere.

// inline returns a text for a line or a list.
func inline(s string, limit int) string { return escaped(oneLine(s, limit), span) }

// cell returns a text for a cell of a table.
func cell(s string, limit int) string { return escaped(oneLine(s, limit), cellSpan) }

// cellCode returns a text as code for a cell of a table.
func cellCode(s string, limit int) string { return cellSpan(oneLine(s, limit)) }

// oneLine returns the first limit bytes of a text as one line, with its hidden characters as in
// [plain.Visible].
func oneLine(s string, limit int) string {
	head, rest := cut(strings.Join(strings.Fields(s), " "), limit)
	if rest > 0 {
		head += "\u2026"
	}
	return plain.Visible(head)
}

// escaped escapes a line, except for words that have to be code.
func escaped(line string, code func(string) string) string {
	words := strings.Split(line, " ")
	for i, word := range words {
		if isReference(word) {
			words[i] = code(word)
			continue
		}
		var b strings.Builder
		digits := i == 0 // of a number of a list
		for at, r := range word {
			isFirst := i == 0 && (at == 0 && strings.ContainsRune("#+-=", r) || digits && at > 0 && strings.ContainsRune(".)", r))
			if isFirst || strings.ContainsRune("\\`*_[]<>|~$&", r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			digits = digits && '0' <= r && r <= '9'
		}
		words[i] = b.String()
	}
	return strings.Join(words, " ")
}

// isReference reports whether a host may turn a word into a link, a mention or a picture: addresses,
// @names, #1 and its like, GH-1, ids of commits, :emoji:.
func isReference(word string) bool {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	if lower := strings.ToLower(word); strings.ContainsRune(word, '@') || strings.Contains(lower, "www.") || strings.Contains(lower, "gh-") || strings.Contains(word, "://") {
		return true
	}
	letters := []rune(word)
	for i, r := range letters[:max(len(letters)-1, 0)] {
		isNext := isWord(letters[i+1])
		if isNext && (r == '#' || r == ':') || isNext && strings.ContainsRune("!$%&~^*", r) && (i == 0 || !isWord(letters[i-1])) {
			return true
		}
	}
	const shortest = 7 // of an id of a commit
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return !isWord(r) }) {
		if len(part) >= shortest && strings.ContainsAny(part, "0123456789") && strings.Trim(part, "0123456789abcdefABCDEF") == "" {
			return true
		}
	}
	return false
}

// span returns a line as code.
func span(line string) string {
	if line == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(line, fence) {
		fence += "`"
	}
	if strings.HasPrefix(line, "`") || strings.HasSuffix(line, "`") {
		line = " " + line + " "
	}
	return fence + line + fence
}

// cellSpan returns a line as code for a cell of a table, in which a bar has a backslash. A backslash
// right before a bar can't be written so: the code ends between the two, and goes on behind a
// comment.
func cellSpan(line string) string {
	parts := strings.Split(strings.ReplaceAll(line, `\|`, "\\\n|"), "\n")
	for i := range parts {
		parts[i] = strings.ReplaceAll(span(parts[i]), "|", `\|`)
	}
	return strings.Join(parts, "<!-- -->")
}
