package ownrules

import (
	"bytes"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// maxPair is how far before a value its name may begin.
const maxPair = 160

// namedValue finds the value in {"name": "NAME", "value": "..."} and in the same as
// YAML, where both are part of a text. [at, end) is the word value and what ends it.
func namedValue(text []byte, at, end int) Span {
	if at == 0 || isNameByte(text[at-1]) {
		return Span{}
	}
	begin := end
	if text[end-1] == '"' {
		if begin = skip(text, end, " \t"); begin >= len(text) || text[begin] != ':' {
			return Span{}
		}
		begin++
	}
	begin = skip(text, begin, " \t")
	k := Classify(pairName(text[max(0, at-maxPair):at]))
	if begin >= len(text) || k == KindNone || k == KindHeader || k == KindCookie {
		return Span{}
	}
	return valueAt(text, begin, k, StyleBare)
}

// pairName returns the value of the last member that is called name or key, if the
// object that text ends in has one.
func pairName(text []byte) []byte {
	at := -1
	for _, member := range []string{"name:", "key:", `name"`, `key"`, "Name:", "Key:", `Name"`, `Key"`} {
		if i := bytes.LastIndex(text, []byte(member)); i >= 0 && (i == 0 || !isNameByte(text[i-1])) {
			at = max(at, i+len(member))
		}
	}
	if at < 0 {
		return nil
	}
	begin := skip(text, at, "\"': \t")
	end := chars.RunEnd(text, begin, MaxName+1, isNameByte)
	if begin == at || bytes.ContainsAny(text[end:], "{}") || bytes.Contains(text[end:], []byte("- ")) {
		return nil
	}
	return text[begin:end]
}
