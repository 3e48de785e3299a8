package redact

import (
	"bytes"
	"slices"
	"strings"
)

// minValue is the length of the shortest value that is replaced.
const minValue = 4

// isSecretValue reports whether the value of a name of that kind is a secret.
func isSecretValue(value []byte, k kind, st style) bool {
	if len(value) < minValue || isPlaceholder(value) {
		return false
	}
	switch k {
	case kindPassword:
		return isPasswordValue(value, st)
	case kindSecret:
		switch st {
		case styleSure:
			return len(value) >= 6 && !looksLikeCode(value)
		case styleQuoted:
			return len(value) >= 8 && hasMixture(value) && !hasSpace(value) && !isWordy(value)
		default:
			return isRandom(value, 12)
		}
	case kindKey:
		if st == styleSure {
			return len(value) >= 8 && hasMixture(value) && !isWordy(value)
		}
		return isRandom(value, 14)
	case kindPin:
		return st != styleBare && len(value) <= 12 && !bytes.ContainsFunc(value, func(c rune) bool { return c < '0' || c > '9' })
	case kindHeader:
		return len(value) >= 8 && hasMixture(value)
	case kindCookie:
		name, _, ok := bytes.Cut(value, []byte("="))
		return ok && len(name) > 0 && !hasSpace(name)
	default:
		return false
	}
}

func isPasswordValue(value []byte, st style) bool {
	if isPath(value) {
		return false
	}
	switch st {
	case styleSure:
		return !looksLikeCall(value)
	case styleQuoted:
		if hasSpace(value) {
			return !isProse(value)
		}
		return len(value) >= 6 || hasMixture(value)
	default:
		return len(value) >= 6 && hasMixture(value) || len(value) >= 12 && isRandomCase(value)
	}
}

func hasSpace(v []byte) bool { return bytes.IndexByte(v, ' ') >= 0 }

// isProse reports whether v is words, with a mark at the end perhaps.
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

// hasMixture reports whether v has a letter and something that is no letter and
// not the usual separator of words.
func hasMixture(v []byte) bool {
	letter, other := false, false
	for _, b := range v {
		switch {
		case isAlpha(b):
			letter = true
		case isDigit(b) || strings.IndexByte("!#%^+~$&*?=/@", b) >= 0 || b >= 0x80:
			other = true
		}
	}
	return letter && other || !letter && other && len(v) >= 8
}

// isWordy reports whether v is words and short numbers joined by separators:
// each a number of at most four digits, or letters in a case that words and
// names have, with at most three digits behind.
func isWordy(v []byte) bool {
	words := 0
	for i := 0; i < len(v); i++ {
		if !isAlnum(v[i]) {
			continue
		}
		end := tokenEnd(v, i, len(v), isAlnum)
		if !isWordOrNumber(v[i:end]) {
			return false
		}
		words++
		i = end
	}
	return words > 0
}

func isWordOrNumber(run []byte) bool {
	letters := bytes.TrimRight(run, "0123456789")
	if digits := len(run) - len(letters); digits > 4 || digits == 4 && len(letters) > 0 && len(letters) < 3 {
		return false
	}
	humps := 1
	for i, b := range letters {
		if isDigit(b) {
			return false
		}
		if i > 0 && isUpper(b) && isLower(letters[i-1]) {
			humps++
		}
		if i > 1 && isLower(b) && isUpper(letters[i-1]) && isUpper(letters[i-2]) {
			humps++
		}
	}
	return humps == 1 || len(letters) >= 4*humps
}

// isRandom reports whether v, of at least n bytes, looks as if made at random.
func isRandom(v []byte, n int) bool {
	if len(v) < n || hasSpace(v) || !hasMixture(v) || isWordy(v) || isPath(v) {
		return false
	}
	digits := 0
	for _, b := range v {
		if isDigit(b) {
			digits++
		}
	}
	if digits == 0 {
		return false
	}
	if len(v) >= 32 && !bytes.ContainsFunc(v, func(c rune) bool { return c >= 128 || !isHex(byte(c)) }) {
		return entropy(v) >= 1.5
	}
	return entropy(v) >= 3
}

// isPath reports whether v is a path of a file.
func isPath(v []byte) bool {
	for _, p := range []string{"/", "./", "../", "~/"} {
		if rest, ok := bytes.CutPrefix(v, []byte(p)); ok {
			return p != "/" || isWordy(rest) || len(rest) < 30 && !hasMixture(bytes.ReplaceAll(rest, []byte("/"), nil))
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
	// a.b: members of something, where each begins with a letter.
	dots := bytes.Split(v, []byte("."))
	if len(dots) < 2 {
		return false
	}
	for _, d := range dots {
		if len(d) == 0 || !isAlpha(d[0]) && d[0] != '_' || len(d) > 24 || bytes.ContainsFunc(d, func(c rune) bool { return c >= 128 || !isWord(byte(c)) }) {
			return false
		}
	}
	return true
}

// isRandomTail reports whether v is a value in spite of its first byte.
func isRandomTail(v []byte) bool {
	digit, other := false, false
	for _, b := range v[1:] {
		digit = digit || isDigit(b)
		other = other || isAlpha(b)
		if strings.IndexByte("(){}[]", b) >= 0 {
			return false
		}
	}
	return digit && other && (v[0] == '!' || v[0] == '@' || v[0] == '%' || v[0] == '*')
}

// looksLikeCall reports whether v has the brackets of a call or an index.
func looksLikeCall(v []byte) bool {
	i := bytes.IndexAny(v, "([{")
	if i <= 0 || !isWord(v[i-1]) {
		return false
	}
	name := bytes.TrimRightFunc(v[:i], func(c rune) bool { return c < 128 && (isWord(byte(c)) || c == '.') })
	return len(name) == 0 && (isAlpha(v[0]) || v[0] == '_') && (v[i] != '{' || v[len(v)-1] == '}' || i == len(v)-1)
}

// isPlaceholder reports whether v is there in place of a secret.
func isPlaceholder(v []byte) bool {
	v = bytes.Trim(v, " \t\"'`")
	if len(v) == 0 || isTrivial(string(v)) || isOneByte(v) {
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
	if slices.ContainsFunc(placeholderParts, func(p string) bool { return strings.Contains(low, p) }) {
		return true
	}
	return namesSecret(v, low)
}

// namesSecret reports whether v is the name of a secret, like DB_PASSWORD.
func namesSecret(v []byte, low string) bool {
	if bytes.ContainsFunc(v, func(c rune) bool { return c >= 128 || !isAlpha(byte(c)) && !strings.ContainsRune("_-. :/", c) }) {
		return false
	}
	return slices.ContainsFunc([]string{"pass", "pwd", "secret", "token", "key", "cred"}, func(p string) bool {
		return strings.Contains(low, p)
	})
}

func isOneByte(v []byte) bool {
	return len(bytes.Trim(v, string(v[:1]))) == 0
}

// isReference reports whether v is a variable: $NAME, ${...}, $(...), $1.
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
		if !isWord(b) {
			return b == '/' || b == ':' || b == '.'
		}
		upper = upper && !isLower(b)
	}
	return upper || !bytes.ContainsFunc(name, func(c rune) bool { return isDigit(byte(c)) })
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
		"changeme", "change_me", "change-me", "change_it", "changeit", "example", "placeholder", "redacted", "xxxx", "****", "....", "…",
		"your-", "your_", "yourpass", "yoursecret", "yourtoken", "<your", "insert", "replace", "process.env", "os.environ", "getenv", "secrets.", "${",
		"{{", "env.", "env[", "vault:", "op://", "arn:aws", "_here", "-here", "not_set", "not-set",
	}
)
