package ownrules

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// Kind classifies a name by the value that belongs to it.
type Kind uint8

// The kinds.
const (
	KindNone     Kind = iota
	KindPassword      // any value is a secret
	KindSecret        // a secret or token
	KindKey           // a key; many keys are not secrets
	KindPin           // a number
	KindHeader        // an Authorization header
	KindCookie        // a Cookie or Set-Cookie header
)

// The maximum lengths of a name and of a value.
const (
	MaxName  = 64
	maxValue = 1024
)

// nameWords splits a name into lower-case words: at characters other than letters and
// digits, and before an upper-case letter that follows a lower-case one or a digit.
func nameWords(name []byte) [][]byte {
	var words [][]byte
	begin := 0
	add := func(end int) {
		if begin < end {
			words = append(words, bytes.ToLower(name[begin:end]))
		}
		begin = end
	}
	for i, b := range name {
		switch {
		case !chars.IsAlnum(b):
			add(i)
			begin = i + 1
		case i > 0 && chars.IsUpper(b) && (chars.IsLower(name[i-1]) || chars.IsDigit(name[i-1])):
			add(i)
		}
	}
	add(len(name))
	return words
}

// Classify returns the kind of a name.
func Classify(name []byte) Kind {
	if len(name) > MaxName {
		return KindNone
	}
	words := nameWords(name)
	for len(words) > 1 && (chars.IsDigit(words[len(words)-1][0]) || slices.Contains(nameTails, string(words[len(words)-1]))) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return KindNone
	}
	last, before := string(words[len(words)-1]), ""
	if len(words) > 1 {
		before = string(words[len(words)-2])
	}
	switch {
	case last == "authorization":
		return KindHeader
	case last == "cookie" && (before == "" || before == "set"):
		return KindCookie
	case last == "pin":
		return KindPin
	case slices.Contains(passwordWords, last), hasAnySuffix(last, passwordEnds), strings.HasSuffix(last, "pass") && !slices.Contains(otherPasses, last):
		return KindPassword
	case slices.Contains(secretWords, last), hasAnySuffix(last, secretEnds):
		return KindSecret
	case last == "key" && slices.Contains(keyWords, before), hasAnySuffix(last, keyEnds), slices.Contains(keyNames, last):
		return KindKey
	}
	return KindNone
}

var (
	// nameTails are words that may follow the decisive word.
	nameTails = []string{"value", "val", "str", "string", "text", "plain", "plaintext", "raw", "base", "base64", "b64", "stdin"} //nolint:gochecknoglobals // read-only

	passwordWords = []string{"password", "passwords", "passwd", "passwort", "pass", "pwd", "passphrase", "passcode", "pword", "psk", "pw"} //nolint:gochecknoglobals // read-only
	passwordEnds  = []string{"password", "passwd", "passphrase", "dbpass", "dbpwd", "userpass", "rootpass", "adminpass", "mysqlpass",      //nolint:gochecknoglobals // read-only
		"sqlpass", "ftppass", "smtppass", "keypass", "storepass", "userpwd", "mypass", "requirepass", "masterauth", "ansiblepass"}
	otherPasses = []string{ //nolint:gochecknoglobals // read-only
		"bypass", "compass", "encompass", "surpass", "trespass", "overpass", "underpass", "subpass", "onepass", "twopass", "multipass",
		"renderpass", "minipass", "computepass", "prepass", "firstpass", "lastpass", "testpass", "shouldpass", "mustpass",
	}
	secretWords = []string{"secret", "secrets", "token", "dsn"} //nolint:gochecknoglobals // read-only
	secretEnds  = []string{"secret", "token"}                   //nolint:gochecknoglobals // read-only
	keyWords    = []string{                                     //nolint:gochecknoglobals // read-only
		"api", "secret", "private", "access", "encryption", "signing", "master", "auth", "account", "shared",
		"storage", "app", "application", "client", "license", "licence", "deploy", "webhook", "jwt", "aes", "hmac", "rest",
		"admin", "server", "fcm", "service", "integration", "ingestion", "management", "live", "crypt", "encrypt", "subscription", "write",
	}
	keyEnds  = []string{"apikey", "secretkey", "accesskey", "privatekey", "authkey", "licensekey", "masterkey", "signingkey"} //nolint:gochecknoglobals // read-only
	keyNames = []string{"salt", "license", "licence", "credential", "credentials", "creds", "auth"}                           //nolint:gochecknoglobals // read-only
)

func hasAnySuffix(s string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return chars.HasFoldSuffix([]byte(s), end) })
}

func isNameByte(b byte) bool { return chars.IsAlnum(b) || b == '_' || b == '-' || b == '.' }

// Style is the way a name and its value are joined.
type Style uint8

// The styles.
const (
	StyleBare   Style = iota // name: value, name = value
	StyleQuoted              // name = "value", {"name": "value"}
	StyleSure                // NAME=value, --name value, name=value; in a connection string
)

// namedSecret finds the value of a name that contains the literal: assigned to it, or near it.
func namedSecret(text []byte, at, end int) Span {
	if s := assignedSecret(text, at, end); s.End > s.Begin {
		return s
	}
	stop := end
	for stop < len(text) && stop-end < MaxName && isNameByte(text[stop]) {
		stop++
	}
	// Values of other names are found by their form alone.
	switch chars.Lower(text[at]) {
	case 'p':
		if stop-at == len("pin") && chars.HasFold(text[at:], "pin") {
			return pinAfter(text, at, stop)
		}
	case 's':
		if !chars.HasFold(text[at:], "secret") {
			return Span{}
		}
	default:
		return Span{}
	}
	begin := nameBegin(text, at)
	if stop < len(text) && text[stop] == ':' && stop-begin == len("PASS") && chars.IsUpper(text[begin]) {
		return Span{} // the result of a test
	}
	near := passwordAfter(text, stop, nearTokens)
	if near.End == 0 && begin > 1 && chars.IsQuote(text[begin-1]) && text[begin-2] == '=' {
		near = valueBefore(text, begin)
	}
	if near.End == 0 || isInData(text, at) {
		return Span{}
	}
	switch Classify(bytes.Trim(text[begin:stop], "-.")) {
	case KindPassword:
		return near
	case KindSecret:
		return passwordAfter(text, stop, nearTokens-4)
	case KindNone, KindKey, KindPin, KindHeader, KindCookie:
	}
	return Span{}
}

// valueBefore finds a password in the attribute value of the tag in which text[i] is.
func valueBefore(text []byte, i int) Span {
	from := max(0, i-nearBytes)
	tag := bytes.LastIndexByte(text[from:i], '<')
	if tag < 0 {
		return Span{}
	}
	value := bytes.Index(text[from+tag:i], []byte(" value="))
	if value < 0 {
		return Span{}
	}
	return passwordAfter(text[:i], from+tag+value+len(" value="), 1)
}

// assignedSecret finds the value assigned to a name that contains the literal.
func assignedSecret(text []byte, at, end int) Span {
	stop := end
	for stop < len(text) && stop-end < MaxName && isNameByte(text[stop]) {
		stop++
	}
	if !isNameByte(text[end-1]) {
		stop = end - 1 // the literal includes the byte after the name
	}
	// Cheap tests come first: most positions have no operator.
	op := afterQuote(text, stop)
	gap := skip(text, op, " \t")
	if gap < len(text) && text[gap] == ',' && op > stop {
		return listedArgument(text, nameBegin(text, at), stop, gap+1)
	}
	if gap >= len(text) || gap > op+16 || gap == op && text[gap] != '=' && text[gap] != ':' && !chars.IsSpace(text[gap]) {
		return Span{}
	}
	begin := nameBegin(text, at)
	name := text[begin:stop]
	dashes := len(name) - len(bytes.TrimLeft(name, "-"))
	switch {
	case text[gap] == '=' || text[gap] == ':' || text[gap] == '|' && gap > op:
	case dashes == 2 && gap > op:
		if k := Classify(name); k == KindPassword || k == KindSecret {
			return valueAt(text, gap, k, StyleSure)
		}
		return Span{}
	case chars.IsSpace(text[gap]) || gap > op:
		return netrcPassword(text, begin, stop)
	default:
		return Span{}
	}
	k := Classify(name)
	if k == KindNone {
		return Span{}
	}
	val, ok := afterOperator(text, gap)
	if !ok {
		return Span{}
	}
	tight := text[gap] == '=' && gap == stop && val == gap+1
	if quote := skip(text, val, `\`); tight && begin > 0 && quote < len(text) && chars.IsQuote(text[quote]) && text[begin-1] == text[quote] {
		return Span{} // "NAME=" + something
	}
	val = skip(text, val, " \t")
	st := StyleBare
	sure := tight && val == gap+1 && (!bytes.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz") || dashes == 2)
	if sure || inConnection(text, begin, val) {
		st = StyleSure
	}
	isTestResult := bytes.EqualFold(name, []byte("pass")) && text[gap] == ':' && op == stop && (chars.IsUpper(name[0]) || isQuotedCode(text[val:]))
	if isTestResult || st == StyleBare && text[gap] == '|' {
		return Span{}
	}
	return valueAt(text, val, k, st)
}

// isQuotedCode reports whether a text begins with code in backquotes, as in Markdown: a
// command with arguments, or a call.
func isQuotedCode(text []byte) bool {
	code, ok := bytes.CutPrefix(text, []byte("`"))
	if !ok {
		return false
	}
	end := bytes.IndexByte(code[:min(len(code), maxValue)], '`')
	return end > 0 && (HasSpace(code[:end]) || code[end-1] == ')')
}

// listedArgument finds the value of a flag in a list of quoted arguments: "--name",
// "value". [begin, stop) is the flag, and i follows the comma.
func listedArgument(text []byte, begin, stop, i int) Span {
	k := Classify(text[begin:stop])
	if !bytes.HasPrefix(text[begin:stop], []byte("--")) || k != KindPassword && k != KindSecret {
		return Span{}
	}
	i = skip(text, i, " \t")
	quote := skip(text, i, "\\")
	if quote >= len(text) || quote > i+1 || !chars.IsQuote(text[quote]) || quote+1 < len(text) && text[quote+1] == '-' {
		return Span{} // not a string, or another flag
	}
	return valueAt(text, i, k, StyleQuoted)
}

// nameBegin returns the start of the name that contains text[at].
func nameBegin(text []byte, at int) int {
	begin := at
	for begin > 0 && at-begin < MaxName && isNameByte(text[begin-1]) {
		begin--
	}
	return begin
}

// afterQuote returns the end of the bytes allowed between a name and its operator: a quote,
// maybe escaped, or the end of an index.
func afterQuote(text []byte, i int) int {
	if i < len(text) && text[i] == '\\' {
		i++
	}
	if i < len(text) && (chars.IsQuote(text[i]) || text[i] == ']') {
		i++
		if i < len(text) && text[i] == ']' {
			i++
		}
	}
	return i
}

// afterOperator returns the end of the operator that begins at gap, false if it is a
// comparison.
func afterOperator(text []byte, gap int) (int, bool) {
	val := gap + 1
	for val < len(text) && val < gap+3 && (text[val] == '=' || text[val] == '>' || text[val] == ':') {
		if text[val] == '=' && text[gap] == '=' {
			return 0, false
		}
		val++
	}
	return val, true
}

// inConnection reports whether an assignment is part of a connection string: another
// assignment precedes it or follows the value, as in "host=h password=p".
func inConnection(text []byte, begin, val int) bool {
	if val == 0 || text[val-1] != '=' {
		return false
	}
	isMember := bytes.IndexByte(text[begin:val], '.') > 0 // a.b=c is code
	if begin > 0 && text[begin-1] == ';' && !isMember {
		return true
	}
	end := chars.RunEnd(text, val, maxValue, isValueByte)
	if i := bytes.IndexByte(text[val:end], ';'); i >= 0 && i+1 < end-val && chars.IsAlpha(text[val+i+1]) {
		return !isMember && !bytes.ContainsAny(text[val:val+i], "(){},")
	}
	near := text[max(0, begin-80):min(len(text), end+80)]
	return bytes.Contains(near, []byte(" host=")) || bytes.Contains(near, []byte(" dbname="))
}

// valueAt returns the span of the value at i if it is a secret.
func valueAt(text []byte, i int, k Kind, st Style) Span {
	if i >= len(text) {
		return Span{}
	}
	var end int
	begin, escape := i, 0
	if text[i] == '\\' && i+1 < len(text) && chars.IsQuote(text[i+1]) {
		escape = 1
	}
	if q := i + escape; chars.IsQuote(text[q]) {
		begin = q + 1
		end = quotedEnd(text, begin, text[q], escape > 0)
		if end < 0 {
			return Span{}
		}
		if st == StyleBare {
			st = StyleQuoted
		}
	} else {
		end = bareEnd(text, i, st)
	}
	value := text[begin:end]
	if st == StyleBare && !standsAlone(text, begin, end) {
		return Span{}
	}
	if !IsSecretValue(value, k, st) {
		return Span{}
	}
	return Span{begin, end}
}

// quotedEnd returns the index of the quote that ends a value on the same line, -1 if there
// is none.
func quotedEnd(text []byte, i int, quote byte, escaped bool) int {
	end := min(len(text), i+maxValue)
	for ; i < end; i++ {
		switch c := text[i]; {
		case c == '\n':
			return -1
		case c == '\\' && escaped:
			return i
		case c == '\\':
			i++
		case c == quote:
			return i
		}
	}
	return -1
}

// bareEnd returns the end of a value without quotes.
func bareEnd(text []byte, i int, st Style) int {
	end := chars.RunEnd(text, i, maxValue, isValueByte)
	for end > i && st != StyleSure && strings.IndexByte(")]}", text[end-1]) >= 0 {
		end--
	}
	for k := i; k < end; k++ {
		switch text[k] {
		case ';', '&', ',':
			if st != StyleSure || k+1 == end || text[k] == ';' {
				return k
			}
		}
	}
	return end
}

// standsAlone reports whether only a comment, a quote or another parameter follows an
// unquoted value on its line, or the value is random, and it is not code.
func standsAlone(text []byte, begin, end int) bool {
	value := text[begin:end]
	if looksLikeCode(value) {
		return false
	}
	i := skip(text, end, " \t")
	if i >= len(text) || text[i] == '\n' || text[i] == '\r' || text[i] == '#' || text[i] == '\\' {
		return true
	}
	if text[i] == '&' || chars.IsQuote(text[i]) {
		return true
	}
	if strings.IndexByte(",;)]}", text[i]) >= 0 && isIdentifier(value) {
		return false
	}
	// Other text follows, so the value must be random.
	return IsRandom(value, 12)
}

// isIdentifier reports whether v can be the name of a variable composed of words.
func isIdentifier(v []byte) bool {
	if chars.IsDigit(v[0]) || bytes.ContainsFunc(v, func(c rune) bool { return c >= 128 || !chars.IsWord(byte(c)) }) {
		return false
	}
	digits := 0
	for _, b := range v {
		if chars.IsDigit(b) {
			digits++
		}
	}
	return len(v) < 12 || digits*4 < len(v) && len(v) < 32 && !isRandomCase(v)
}

// isRandomCase reports whether the case changes more often than in names.
func isRandomCase(v []byte) bool {
	changes := 0
	for i := 1; i < len(v); i++ {
		if chars.IsLower(v[i-1]) && chars.IsUpper(v[i]) {
			changes++
		}
	}
	return changes*4 > len(v)
}

// netrcPassword finds the value after "password " in a line of a netrc file.
func netrcPassword(text []byte, begin, stop int) Span {
	name := string(text[begin:stop])
	if name != "password" && name != "passwd" {
		return Span{}
	}
	near := text[max(0, begin-160):begin]
	login := bytes.Index(near, []byte("login "))
	if login < 0 || !bytes.Contains(near, []byte("machine ")) && !bytes.Contains(near, []byte("default")) {
		return Span{}
	}
	if len(bytes.Fields(near[login:])) > 2 {
		return Span{}
	}
	i := skip(text, stop, " \t\r\n")
	end := chars.RunEnd(text, i, maxValue, func(b byte) bool { return b > ' ' })
	if end-i < 4 || IsPlaceholder(text[i:end]) {
		return Span{}
	}
	return Span{i, end}
}
