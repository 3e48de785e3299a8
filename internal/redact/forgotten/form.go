// Package forgotten finds and masks texts, and lines of files, that a user wants removed.
// It stores them as salted hashes, so that the list of texts to mask doesn't contain them.
package forgotten

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text identifies one written form of a text that a user wants removed. It does not contain
// the text, only its length and salted hashes.
type Text struct {
	Length int `json:"length"`
	// Rolling finds candidates, Hash decides.
	Rolling uint32 `json:"rolling"`
	Hash    []byte `json:"hash"`
	// Base64 is set if the form is part of a base64 text: its mask has the same length, and
	// the adjacent characters may encode some of its bits.
	Base64 bool `json:"base64,omitempty"`
}

// Marks are texts whose hashes have the same salt.
type Marks struct {
	Salt  string `json:"salt"`
	Forms []Text `json:"forms"`
}

// Union returns the marks of both lists, one element for each salt, sorted.
func Union(a, b []Marks) []Marks {
	var all []Marks
	for _, m := range slices.Concat(a, b) {
		at := slices.IndexFunc(all, func(has Marks) bool { return has.Salt == m.Salt })
		if at < 0 {
			at = len(all)
			all = append(all, Marks{Salt: m.Salt})
		}
		all[at].Forms = slices.Concat(all[at].Forms, m.Forms)
	}
	for i := range all {
		forms := all[i].Forms
		slices.SortFunc(forms, compareForms)
		all[i].Forms = slices.CompactFunc(forms, func(a, b Text) bool { return compareForms(a, b) == 0 })
	}
	slices.SortFunc(all, func(a, b Marks) int { return strings.Compare(a.Salt, b.Salt) })
	return all
}

// Contains reports whether a has all marks of b.
func Contains(a, b []Marks) bool {
	count := func(list []Marks) (n int) {
		for _, m := range list {
			n += len(m.Forms)
		}
		return n
	}
	return count(Union(a, b)) == count(Union(a, nil))
}

func compareForms(a, b Text) int {
	return cmp.Or(cmp.Compare(a.Length, b.Length), cmp.Compare(a.Rolling, b.Rolling), bytes.Compare(a.Hash, b.Hash))
}

// MarkText returns the forms in which a text may be written: unchanged, with a capital first letter as in
// the subject of a turn's commit, escaped for JSON once and twice, percent-encoded, and in base64 at each
// position.
func MarkText(salt []byte, text string) []Text {
	marks, _ := markForms(salt, text)
	return marks
}

func markForms(salt []byte, text string) (marks []Text, forms [][]byte) {
	seen, h := map[string]bool{}, newHasher(salt)
	add := func(form string, isBase64 bool) {
		if form == "" || seen[form] {
			return
		}
		seen[form] = true
		forms = append(forms, []byte(form))
		marks = append(marks, Text{
			Length: len(form), Rolling: h.fold(h.roll([]byte(form))), Hash: h.sum([]byte(form)), Base64: isBase64,
		})
	}
	add(text, false)
	add(capitalized(text), false)
	for _, escape := range []func(string) string{EscapeJSON, EscapeHTML, EscapeASCII} {
		add(escape(text), false)
		add(EscapeJSON(escape(text)), false)
	}
	for _, escape := range []func(string) string{url.QueryEscape, url.PathEscape, percent} {
		add(escape(text), false)
		add(lowerHex(escape(text)), false)
	}
	for before := range 3 {
		core := Base64Core(text, before)
		add(core, true)
		add(URLBase64(core), true)
	}
	return marks, forms
}

// capitalized returns s with a capital first letter.
func capitalized(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// EscapeJSON returns s escaped for a JSON string.
func EscapeJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can be encoded
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// EscapeHTML returns s escaped for a JSON string, with <, > and & escaped, too.
func EscapeHTML(s string) string {
	data, _ := json.Marshal(s) // a string can be encoded
	return string(data[1 : len(data)-1])
}

// EscapeASCII escapes a string for JSON with non-ASCII characters as \uXXXX.
func EscapeASCII(s string) string {
	var b strings.Builder
	for _, r := range EscapeJSON(s) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			b.WriteString(`\u` + strconv.FormatInt(int64(0xd800+r>>10), 16) + `\u` + strconv.FormatInt(int64(0xdc00+r&0x3ff), 16))
		default:
			b.WriteString(`\u` + strconv.FormatInt(int64(0x10000+r), 16)[1:])
		}
	}
	return b.String()
}

// percent percent-encodes every byte except letters and digits.
func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + strings.ToUpper(strconv.FormatInt(0x100+int64(c), 16)[1:]))
	}
	return b.String()
}

// lowerHex converts the digits of percent-encoding to lower case.
func lowerHex(s string) string {
	out := []byte(s)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:], bytes.ToLower(out[i+1:i+3]))
		}
	}
	return string(out)
}

// Base64Core returns the part of the base64 of a content that depends only on text, where
// before is the number of bytes before text modulo 3.
func Base64Core(text string, before int) string {
	encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
	from := (before*8 + 5) / 6
	to := (before + len(text)) * 8 / 6
	if from >= to {
		return ""
	}
	return encoded[from:to]
}

// URLBase64 converts base64 to the URL alphabet.
func URLBase64(s string) string { return strings.NewReplacer("+", "-", "/", "_").Replace(s) }
