package attribution

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commentMarks begin lines of comments and of preprocessors, longer ones first.
var commentMarks = []string{"///", "//!", "//", "/**", "/*", "**", "*", "#!", "#", "--"} //nolint:gochecknoglobals // a read-only table

// tokens returns the tokens of a line that formatters keep: words, numbers and punctuation, in
// order, in one form for each of the ways to write them. White space, commas, semicolons, braces,
// parentheses around something, and a backslash at the end of the line have no token. All quotes
// have the same token, except around a name before a colon, where they have none. If isMarked, the
// first token marks a comment or a preprocessor's line.
func tokens(line string) (list []string, isMarked bool) {
	line = strings.TrimSpace(line)
	if rest, ends := strings.CutPrefix(line, "*/"); ends {
		line = rest
	} else {
		for _, mark := range commentMarks {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				list, line, isMarked = append(list, mark[:1]+"mark"), rest, true
				if strings.HasPrefix(mark, "*") { // inside a comment that begins with /*
					list[0] = "/mark"
				}
				break
			}
		}
	}
	for before := ' '; line != ""; {
		word, rest := nextToken(line, before)
		if word != "" {
			list = append(list, word)
		}
		before, _ = utf8.DecodeLastRuneInString(line[:len(line)-len(rest)])
		line = rest
	}
	return list, isMarked
}

// Form returns a line in the form that it shares with all lines of the same tokens.
func Form(line []byte) string {
	list, _ := tokens(string(line))
	return strings.Join(list, "\x00")
}

// nextToken returns the first token of a text, if its first character has one, and the text behind
// it. before is the character before the text.
func nextToken(text string, before rune) (token, rest string) {
	c, size := utf8.DecodeRuneInString(text)
	rest = text[size:]
	next := strings.TrimLeft(rest, " \t")
	switch {
	case unicode.IsSpace(c) || strings.ContainsRune(",;{})", c):
		return "", rest
	case c == '(':
		if after, isEmpty := strings.CutPrefix(next, ")"); isEmpty && !strings.HasPrefix(after, ":") {
			return "()", rest
		}
		return "", rest
	case c == '\\':
		if next == "" || strings.ContainsAny(next[:1], "'\"`") {
			return "", rest
		}
		return `\`, rest
	case strings.ContainsRune("'\"`", c):
		return quote(text)
	case unicode.IsDigit(c) || c == '.' && !isWord(before) && !strings.ContainsRune(")]", before) && next != "" && next == rest && unicode.IsDigit(rune(next[0])):
		return number(text)
	case isWord(c):
		return word(text)
	}
	const rule = 3 // a run of so many characters is a line, whatever its length
	if n := len(text) - len(strings.TrimLeft(text, string(c))); n >= rule*size {
		return strings.Repeat(string(c), rule), text[n:]
	}
	return string(c), rest
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '$' }

// cutWhile splits a text at the first character for which is returns false.
func cutWhile(text string, is func(rune) bool) (head, rest string) {
	end := strings.IndexFunc(text, func(c rune) bool { return !is(c) })
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// quote returns the token of a quote at the start of a text.
func quote(text string) (token, rest string) {
	mark := text[:1]
	name, after := cutWhile(text[1:], isWord)
	if behind, closed := strings.CutPrefix(after, mark); closed && name != "" && strings.HasPrefix(strings.TrimLeft(behind, " \t"), ":") {
		return name, behind
	}
	if behind, isDoc := strings.CutPrefix(text, strings.Repeat(mark, 3)); isDoc {
		return `"`, behind
	}
	return `"`, text[1:]
}

// word returns the word at the start of a text. The prefix of a string is in lower case, without
// the u that is the default.
func word(text string) (token, rest string) {
	token, rest = cutWhile(text, isWord)
	const longest = 2
	if len(token) <= longest && rest != "" && strings.ContainsAny(rest[:1], `'"`) && strings.Trim(token, "bBfFrRuU") == "" {
		token = strings.Trim(strings.ToLower(token), "u")
	}
	return token, rest
}

// number returns the number at the start of a text, in lower case, with a digit before its decimal
// point and without zeros at the end of its fraction.
func number(text string) (token, rest string) {
	token, rest = cutWhile(text, func(c rune) bool { return isWord(c) || c == '.' })
	token = strings.ToLower(token)
	whole, fraction, hasPoint := strings.Cut(token, ".")
	if !hasPoint || strings.Trim(fraction, "0123456789") != "" {
		return token, rest
	}
	if whole == "" {
		whole = "0"
	}
	return strings.TrimSuffix(whole+"."+strings.TrimRight(fraction, "0"), "."), rest
}

// words returns the tokens of a line, by their numbers.
func (t *texts) words(line int) []int {
	if l := &t.lines[line]; l.words == nil {
		list, isMarked := tokens(l.text)
		l.words, l.marker = make([]int, len(list)), none
		for i, word := range list {
			id, known := t.tokens[word]
			if !known {
				id = len(t.tokens)
				t.tokens[word] = id
			}
			l.words[i] = id
		}
		if isMarked {
			l.marker = l.words[0]
		}
	}
	return t.lines[line].words
}

// form returns a number for the tokens of a line. All lines with these tokens have it.
func (t *texts) form(line int) int {
	if t.lines[line].form == none {
		words := t.words(line)
		key := make([]byte, 0, 4*len(words)) //nolint:mnd // bytes of a word's number
		for _, word := range words {
			key = binary.LittleEndian.AppendUint32(key, uint32(word))
		}
		id, known := t.forms[string(key)]
		if !known {
			id = len(t.forms)
			t.forms[string(key)] = id
		}
		t.lines[line].form = id
	}
	return t.lines[line].form
}
