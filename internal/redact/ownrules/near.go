package ownrules

import (
	"bytes"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// People write a password after a word that says so, with little in between: an operator, tags,
// quotes, a line break, flags, a user's name, a few words of a sentence. nearPassword covers all
// of these places with one rule: of the next tokens after such a word, the first that has the form
// of a password is one.

// Limits of the search for a password after a word.
const (
	nearBytes  = 240
	nearTokens = 12
	nearLines  = 5
)

// nearPassword finds a password among the tokens after a word, see above. [at, end) is the word or
// part of it.
func nearPassword(text []byte, at, end int) Span {
	short := end-at < 5
	if at > 0 && chars.IsAlnum(text[at-1]) && (short || chars.IsLower(text[at]) || chars.IsUpper(text[at-1])) ||
		short && end < len(text) && chars.IsAlnum(text[end]) && chars.IsAlnum(text[end-1]) {
		return Span{} // part of another word
	}
	s := passwordAfter(text, end, nearTokens)
	if s.End > 0 && isInData(text, at) {
		return Span{}
	}
	return s
}

// isInData reports whether text[i] is within a run of base64 digits that is too long for a name.
func isInData(text []byte, i int) bool {
	begin := i
	for begin > 0 && i-begin < 40 && chars.IsBase64(text[begin-1]) && text[begin-1] != '-' && text[begin-1] != '_' {
		begin--
	}
	return i-begin == 40
}

// passwordAfter finds the first token with the form of a password among the next tokens from i on.
func passwordAfter(text []byte, i, most int) Span {
	stop := min(len(text), i+nearBytes)
	if !hasDigit(text[i:stop]) {
		return Span{}
	}
	lines, direct := 0, true
	for n := 0; n < most && i < stop; {
		for i < stop && isTokenEnd(text[i]) {
			switch {
			case text[i] == '\n':
				if lines++; lines == nearLines || lines > 1 && bytes.HasPrefix(bytes.TrimLeft(text[i+1:stop], " "), []byte("- ")) {
					return Span{}
				}
			case text[i] == '}' && i+1 < stop && text[i+1] == ',':
				return Span{} // another object follows
			}
			i++
		}
		end, word := i, false
		for end < len(text) && end-i <= maxPassword && !isTokenEnd(text[end]) {
			word = word || chars.IsAlnum(text[end])
			end++
		}
		if word {
			n++
			likely := direct || bytes.Count(text[i:end], []byte(".")) == 1 && end-i < 24 && !isMember(text[i:end]) || i > 0 && chars.IsQuote(text[i-1])
			if s := passwordIn(text, i, end, likely); s.End > 0 {
				return s
			}
			direct = text[i] == '-' || direct && isCopula(text[i:end])
		}
		i = end
	}
	return Span{}
}

// isMember reports whether v is the member of a value: both names are words.
func isMember(v []byte) bool {
	value, member, ok := bytes.Cut(v, []byte("."))
	return ok && len(value) > 0 && len(member) > 1 && chars.IsAlpha(member[0])
}

// isCopula reports whether v is a word between a name and its value in a sentence.
func isCopula(v []byte) bool {
	switch string(bytes.ToLower(v)) {
	case "is", "to", "now", "was", "ist", "lautet", "est", "es", "as", "set", "0", "7", "value", "string", "plaintext":
		return true
	}
	return false
}

// isTokenEnd reports whether b separates the tokens among which a password is searched: it is no
// printable ASCII character, or a space, a quote, a bracket or one of ,;|\.
func isTokenEnd(b byte) bool { return tokenEnds[b] != 0 }

// tokenEnds has a 1 for each byte that separates tokens.
const tokenEnds = "" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x00\x01\x00\x00\x00\x00\x01\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\x00\x01\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\x01\x00\x00" +
	"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\x01\x00\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"

// maxPassword is the maximum length of a token that may be a password.
const maxPassword = 128

// passwordIn returns the span of the password in the token [i, end): all of it, or the part after a
// user's name or the name of a parameter and before a host. likely says that a name with a number
// counts as well.
func passwordIn(text []byte, i, end int, likely bool) Span {
	for end > i && strings.IndexByte(".:?&", text[end-1]) >= 0 {
		end--
	}
	for i < end && strings.IndexByte("-+*&", text[i]) >= 0 {
		i++
	}
	token := text[i:end]
	if len(token) < minPassword || !hasDigit(token) || bytes.Contains(token, []byte("://")) || bytes.Contains(token, []byte("::")) ||
		bytes.Contains(token, []byte("&#")) || bytes.Contains(token, []byte(Mark)) {
		return Span{}
	}
	s := passwordOf(text, i, end, likely)
	if s.End > 0 && isHarmless(text, i, end) {
		return Span{}
	}
	return s
}

// passwordOf is passwordIn without the tests for what a token is not.
func passwordOf(text []byte, i, end int, likely bool) Span {
	token := text[i:end]
	if host := bytes.LastIndexByte(token, '@'); host > 0 {
		if k := bytes.LastIndexAny(token[:host], ":/%"); k >= 0 && isPassword(token[k+1:host], likely) {
			return Span{i + k + 1, i + host}
		}
	}
	for stop := end; stop-i > minPassword; {
		k := bytes.LastIndexAny(text[i:stop], ":=%")
		if k < 0 {
			break
		}
		if isPassword(text[i+k+1:stop], likely) && !isHarmless(text, i+k+1, stop) {
			return Span{i + k + 1, stop}
		}
		stop = i + k
	}
	if bytes.ContainsAny(token, ":=/") {
		if k := bytes.IndexAny(token, ":=/"); isPassword(token[:k], likely) {
			return Span{i, i + k}
		}
		return Span{}
	}
	if i > 0 && (text[i-1] == '$' || text[i-1] == '@') || end < len(text) && text[end] == '(' {
		return Span{}
	}
	if isPassword(token, likely) {
		return Span{i, end}
	}
	// -pPASSWORD
	if i > 0 && text[i-1] == '-' && strings.IndexByte("pPbauN", text[i]) >= 0 && isPassword(token[1:], true) {
		return Span{i + 1, end}
	}
	return Span{}
}

// minPassword is the minimum length of a password that is recognized by its form.
const minPassword = 8

// isPassword reports whether v has the form of a password, so that a word near it suffices: it is
// random, or it mixes letters, digits and signs as no name or number does. likely says that a name
// with a number of four digits counts as well.
func isPassword(v []byte, likely bool) bool {
	if len(v) < minPassword || len(v) > maxPassword || IsPlaceholder(v) || isSequence(v) || isFileName(v) || isRelease(v) ||
		bytes.Contains(v, []byte("&&")) || bytes.Contains(v, []byte("$jscomp$")) {
		return false
	}
	c := countOf(v)
	if c.digits == 0 || c.upper+c.lower == 0 || v[0] == '$' || v[0] == '@' {
		return false
	}
	mixed := min(c.upper, c.lower) > 0
	if len(v) < 14 {
		mixed = min(c.upper, c.lower, c.digits) > 1
	}
	if len(v) >= 10 && c.signs*4 < len(v) && mixed && bigramSum(v) < 1-len(v) &&
		(!looksLikeCode(v) || len(v) >= 24) {
		return true
	}
	if len(v) >= 14 && c.signs == 0 && min(c.upper, c.lower) > 1 && !IsWordy(v) && bigramSum(v) < 2*(len(v)-1) {
		return true
	}
	if likely && len(v) >= 10 && c.signs == 0 && min(c.upper, c.lower) > 1 && !IsWordy(v) && bigramSum(v) < 4*(len(v)-1) {
		return true
	}
	strong := bytes.ContainsAny(v, "!#$^?") || c.upper > 0 && bytes.ContainsAny(v, "~&%+")
	switch {
	case c.signs*3 > len(v) || bytes.ContainsAny(v, "()"):
		return false
	case strong:
		return (c.digits >= 2 || likely && min(c.upper, c.lower) > 0) && c.upper+c.lower >= 3 && !isKnownNumber(v)
	case c.upper > 0 && c.lower > 2 && c.digits >= 3:
		// A word, digits and maybe a sign and more: Summer2024-x, but not SHA256-RSA or 1.2.3-Beta.
		signs := bytes.ContainsAny(v, "-.") || bytes.IndexByte(v, '_') > 0 && !chars.IsDigit(v[len(v)-1])
		return (signs && !looksLikeCode(v) || likely) && bytes.Count(v, []byte(".")) < 2 && !chars.IsDigit(v[0]) && longestRun(v, chars.IsDigit) >= 4 && !isKnownNumber(v)
	}
	return false
}

// isKnownNumber reports whether v is a name with a number that is usual in names: a standard, a
// size, a port.
func isKnownNumber(v []byte) bool {
	low := bytes.ToLower(v)
	for _, size := range []string{"1024", "2048", "4096", "8192"} {
		// Before a size there is no word, but an abbreviation like RSA or x.
		if i := bytes.Index(low, []byte(size)); i >= 0 && (i < 4 || i+len(size) == len(v) || longestRun(v[:i], chars.IsLower) < 4) {
			return true
		}
	}
	for _, name := range []string{
		"rfc", "iso8859", "iso-", "iso_", "cve", "pkcs", "25519", "utf8", "utf-", "utf1", "sha1", "sha2", "sha3", "sha5", "sha-", "issue", "windows",
		"cp12", "poly1305", "chacha", "base64", "base32",
	} {
		if bytes.Contains(low, []byte(name)) {
			return true
		}
	}
	return false
}

// isRelease reports whether v is a name and a version, like BlueOak-1.0.0.
func isRelease(v []byte) bool {
	i := bytes.LastIndexByte(v, '-')
	return i > 0 && isVersion(v[i+1:])
}

// isFileName reports whether v ends like the name of a file or host.
func isFileName(v []byte) bool {
	dot := bytes.LastIndexByte(v, '.')
	if dot < 0 || len(v)-dot > 6 || len(v)-dot < 3 {
		return false
	}
	return !bytes.ContainsFunc(v[dot+1:], func(c rune) bool { return c >= 128 || !chars.IsLower(byte(c)) && !chars.IsDigit(byte(c)) })
}

// nearFlag finds a password after a short flag that many programs have for it, like -p.
func nearFlag(text []byte, _, end int) Span {
	return passwordAfter(text, end, 1)
}

// pipedPassword finds the password that echo or printf writes to a program: [at, end) is the command.
// What follows the bar must say that a secret is read.
func pipedPassword(text []byte, at, end int) Span {
	if at > 0 && isNameByte(text[at-1]) {
		return Span{}
	}
	line := text[end:min(len(text), end+maxCommand)]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	bar := bytes.LastIndexByte(line, '|')
	if bar < 0 {
		return Span{}
	}
	reader := string(bytes.ToLower(line[bar:]))
	for _, word := range []string{
		"pass", "secret", "login", "sudo", "kinit", "luks", "load-key", "keyring", "--batch", "env add", "variable", "credential", "-stdin", "su ",
	} {
		if strings.Contains(reader, word) {
			return passwordAfter(text[:end+bar], end, 4)
		}
	}
	return Span{}
}

// pinAfter finds a number of four to eight digits after a word for it, and at most a few words.
func pinAfter(text []byte, at, end int) Span {
	if at > 0 && chars.IsAlpha(text[at-1]) || chars.HasFold(text[at:], "code is") && !isEntryCode(text[max(0, at-16):at]) {
		return Span{}
	}
	stop := min(len(text), end+24)
	i := end
	for i < stop && !chars.IsDigit(text[i]) {
		if text[i] == '\n' || strings.IndexByte("()[]{}.,;/+*&|<>", text[i]) >= 0 {
			return Span{}
		}
		i++
	}
	last := chars.RunEnd(text, i, 9, chars.IsDigit)
	if last-i < 4 || last-i > 8 || chars.IsWord(text[i-1]) || last < len(text) && (isNameByte(text[last]) && text[last] != '.' || text[last] == ':') {
		return Span{}
	}
	return Span{i, last}
}

// isEntryCode reports whether the words before the word code say that it opens something.
func isEntryCode(before []byte) bool {
	low := bytes.ToLower(bytes.TrimSpace(before))
	for _, w := range []string{"door", "access", "pin", "verification", "security", "confirmation", "gate", "alarm", "entry", "one-time", "login", "2fa", "safe", "unlock"} {
		if bytes.HasSuffix(low, []byte(w)) {
			return true
		}
	}
	return false
}
