package ownrules

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// MinValue is the minimum length of a replaced value.
const MinValue = 4

// IsSecretValue reports whether the value of a name of kind k is a secret.
func IsSecretValue(value []byte, k Kind, st Style) bool {
	if len(value) < MinValue || IsPlaceholder(value) {
		return false
	}
	switch k {
	case KindPassword:
		if IsPath(value) {
			return false
		}
		switch st {
		case StyleSure:
			return !looksLikeCall(value)
		case StyleQuoted:
			if HasSpace(value) {
				return !isProse(value)
			}
			return len(value) >= 6 || HasMixture(value)
		default:
			return len(value) >= 6 && HasMixture(value) || len(value) >= 12 && isRandomCase(value)
		}
	case KindSecret:
		switch st {
		case StyleSure:
			return len(value) >= 6 && !looksLikeCode(value)
		case StyleQuoted:
			return len(value) >= 8 && HasMixture(value) && !HasSpace(value) && !IsWordy(value) || isPassword(value, true)
		default:
			return IsRandom(value, 12)
		}
	case KindKey:
		if st == StyleSure {
			return len(value) >= 8 && HasMixture(value) && !IsWordy(value)
		}
		if bytes.Contains(value, []byte("://")) || IsName(value, st == StyleQuoted) {
			return false
		}
		return IsRandom(value, 14) || st == StyleQuoted && isPassword(value, true)
	case KindPin:
		return st != StyleBare && len(value) <= 12 && !bytes.ContainsFunc(value, func(c rune) bool { return c < '0' || c > '9' })
	case KindHeader:
		return len(value) >= 8 && HasMixture(value)
	case KindCookie:
		name, _, ok := bytes.Cut(value, []byte("="))
		return ok && len(name) > 0 && !HasSpace(name)
	default:
		return false
	}
}

// HasSpace reports whether a value has a space.
func HasSpace(v []byte) bool { return bytes.IndexByte(v, ' ') >= 0 }

// isProse reports whether v has at least two words, and two thirds of them consist of
// letters, not counting punctuation.
func isProse(v []byte) bool {
	words := bytes.Fields(v)
	if len(words) < 2 {
		return false
	}
	plain := 0
	for _, w := range words {
		w = bytes.Trim(w, ".,:;!?'\"()`")
		if !bytes.ContainsFunc(w, func(c rune) bool { return c < 'A' || 'Z' < c && c < 'a' || c > 'z' && c < 128 }) {
			plain++
		}
	}
	return plain*3 >= len(words)*2
}

// HasMixture reports whether v has a letter and a digit or sign that does not usually
// separate words. At least 8 bytes without letters qualify, too.
func HasMixture(v []byte) bool {
	letter, other := false, false
	for _, b := range v {
		switch {
		case chars.IsAlpha(b):
			letter = true
		case chars.IsDigit(b) || strings.IndexByte("!#%^+~$&*?=/@", b) >= 0 || b >= 0x80:
			other = true
		}
	}
	return letter && other || !letter && other && len(v) >= 8
}

// IsWordy reports whether v consists of words and short numbers joined by separators:
// numbers of at most four digits, and letters in a case usual for words and names, followed
// by at most a few digits.
func IsWordy(v []byte) bool {
	words := 0
	for i := 0; i < len(v); i++ {
		if !chars.IsAlnum(v[i]) {
			continue
		}
		end := chars.RunEnd(v, i, len(v), chars.IsAlnum)
		if !IsWordOrNumber(v[i:end]) {
			return false
		}
		words++
		i = end
	}
	return words > 0
}

// IsWordOrNumber reports whether a run of letters and digits is a short number or a word,
// in mixed case with few parts, optionally with a short number after it.
func IsWordOrNumber(run []byte) bool {
	letters := bytes.TrimRight(run, "0123456789")
	if digits := len(run) - len(letters); digits > 4 || digits == 4 && len(letters) > 0 && len(letters) < 3 {
		return false
	}
	humps := 1
	for i, b := range letters {
		if chars.IsDigit(b) {
			return false
		}
		if i > 0 && chars.IsUpper(b) && chars.IsLower(letters[i-1]) {
			humps++
		}
		if i > 1 && chars.IsLower(b) && chars.IsUpper(letters[i-1]) && chars.IsUpper(letters[i-2]) {
			humps++
		}
	}
	return humps == 1 || len(letters) >= 4*humps
}

// IsRandom reports whether v has at least n bytes and looks randomly generated.
func IsRandom(v []byte, n int) bool {
	if len(v) < n || HasSpace(v) || !HasMixture(v) || IsWordy(v) || IsPath(v) {
		return false
	}
	digits := 0
	for _, b := range v {
		if chars.IsDigit(b) {
			digits++
		}
	}
	if digits == 0 {
		return false
	}
	if len(v) >= 32 && !bytes.ContainsFunc(v, func(c rune) bool { return c >= 128 || !chars.IsHex(byte(c)) }) {
		return chars.Entropy(v) >= 1.5
	}
	return chars.Entropy(v) >= 3
}

// IsPath reports whether v is a file path.
func IsPath(v []byte) bool {
	for _, p := range []string{"/", "./", "../", "~/"} {
		if rest, ok := bytes.CutPrefix(v, []byte(p)); ok {
			return p != "/" || IsWordy(rest) || len(rest) < 30 && !HasMixture(bytes.ReplaceAll(rest, []byte("/"), nil))
		}
	}
	return len(v) > 2 && v[1] == ':' && v[2] == '\\'
}

// looksLikeCode reports whether v is an expression rather than a value.
func looksLikeCode(v []byte) bool {
	if len(v) == 0 || looksLikeCall(v) || bytes.Contains(v, []byte("::")) || bytes.Contains(v, []byte("->")) {
		return true
	}
	if strings.IndexByte("$&*@[{(|!%", v[0]) >= 0 && !isRandomTail(v) {
		return true
	}
	if bytes.Contains(v, []byte("&&")) || bytes.Contains(v, []byte("){")) || bytes.IndexByte(v, '}') >= 0 && bytes.IndexByte(v, '}') < bytes.IndexByte(v, '{') {
		return true
	}
	// a.b: members, each beginning with a letter.
	dots := bytes.Split(v, []byte("."))
	if len(dots) < 2 {
		return false
	}
	for _, d := range dots {
		if len(d) == 0 || !chars.IsAlpha(d[0]) && d[0] != '_' || len(d) > 24 || bytes.ContainsFunc(d, func(c rune) bool { return c >= 128 || !chars.IsWord(byte(c)) }) {
			return false
		}
	}
	return true
}

// isRandomTail reports whether v is a value despite its first byte.
func isRandomTail(v []byte) bool {
	digit, other := false, false
	for _, b := range v[1:] {
		digit = digit || chars.IsDigit(b)
		other = other || chars.IsAlpha(b)
		if strings.IndexByte("(){}[]", b) >= 0 {
			return false
		}
	}
	return digit && other && (v[0] == '!' || v[0] == '@' || v[0] == '%' || v[0] == '*')
}

// looksLikeCall reports whether v has the brackets of a call or an index.
func looksLikeCall(v []byte) bool {
	i := bytes.IndexAny(v, "([{")
	if i <= 0 || !chars.IsWord(v[i-1]) {
		return false
	}
	name := bytes.TrimRightFunc(v[:i], func(c rune) bool { return c < 128 && (chars.IsWord(byte(c)) || c == '.') })
	return len(name) == 0 && (chars.IsAlpha(v[0]) || v[0] == '_') && (v[i] != '{' || v[len(v)-1] == '}' || i == len(v)-1)
}

// IsPlaceholder reports whether v is a placeholder for a secret.
func IsPlaceholder(v []byte) bool {
	v = bytes.Trim(v, " \t\"'`")
	if len(v) == 0 || IsTrivial(string(v)) || len(bytes.Trim(v, string(v[:1]))) == 0 || isVersion(v) {
		return true
	}
	switch v[0] {
	case '<', '{':
		if end := v[len(v)-1]; end == '>' || end == '}' {
			return true
		}
	case '[':
		if v[len(v)-1] == ']' {
			return true
		}
	case '$':
		if isReference(v) {
			return true
		}
	case '%':
		if v[len(v)-1] == '%' || len(v) <= 3 {
			return true
		}
	}
	if bytes.Contains(v, []byte("$(")) && v[len(v)-1] == ')' {
		return true
	}
	low := string(bytes.ToLower(v))
	if slices.Contains(placeholders, low) || slices.Contains(placeholders, strings.TrimRight(low, "0123456789!.")) {
		return true
	}
	if bytes.Contains(v, []byte("xxxx")) || bytes.Contains(v, []byte("XXXX")) || slices.ContainsFunc(placeholderParts, func(p string) bool { return strings.Contains(low, p) }) {
		return true
	}
	// The name of a secret, like DB_PASSWORD.
	if bytes.ContainsFunc(v, func(c rune) bool { return c >= 128 || !chars.IsAlpha(byte(c)) && !strings.ContainsRune("_-. :/", c) }) {
		return false
	}
	return slices.ContainsFunc([]string{"pass", "pwd", "secret", "token", "key", "cred"}, func(p string) bool {
		return strings.Contains(low, p)
	})
}

// isVersion reports whether v is a version or a range of versions.
func isVersion(v []byte) bool {
	return bytes.IndexByte(v, '.') > 0 && len(v) < 24 && len(bytes.Trim(v, "0123456789.^~<>=v *")) == 0
}

// isReference reports whether v is a reference to a variable: $NAME, ${...}, $(...), $1.
func isReference(v []byte) bool {
	if len(v) < 2 {
		return true
	}
	if v[1] == '{' || v[1] == '(' || len(v) == 2 {
		return true
	}
	name := v[1:]
	upper := true
	for _, b := range name {
		if !chars.IsWord(b) {
			return b == '/' || b == ':' || b == '.'
		}
		upper = upper && !chars.IsLower(b)
	}
	return upper || !bytes.ContainsFunc(name, func(c rune) bool { return chars.IsDigit(byte(c)) })
}

//nolint:gochecknoglobals // read-only tables
var (
	placeholders = []string{
		"password", "passwd", "pass", "pwd", "passphrase", "secret", "token", "string", "str", "none", "nil", "null",
		"undefined", "true", "false", "yes", "no", "required", "optional", "text", "value", "test", "testing", "sample",
		"default", "dummy", "fake", "empty", "hidden", "masked", "unset", "todo", "tbd", "bytes", "byte", "number", "object",
		"any", "bool", "boolean", "varchar", "char", "enabled", "disabled", "prompt", "ask", "mypassword", "mysecret",
		"mytoken", "apikey", "api_key", "api-key", "unknown", "invalid", "missing", "auto", "basic", "bearer", "oauth",
		"oauth2", "option", "field", "input", "label", "hash", "plain", "some", "http", "https", "inherit", "skip", "skipped",
		"failed", "passed", "mandatory", "deprecated", "readonly", "internal", "public", "private", "self", "this",
	}
	placeholderParts = []string{
		"changeme", "change_me", "change-me", "change_it", "changeit", "example", "placeholder", "redacted", "****", "....", "…",
		"your-", "your_", "yourpass", "yoursecret", "yourtoken", "<your", "insert", "replace", "process.env", "os.environ", "getenv", "secrets.", "${",
		"{{", "env.", "env[", "vault:", "op://", "arn:aws", "_here", "-here", "not_set", "not-set",
	}
)
