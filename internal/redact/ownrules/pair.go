package ownrules

import (
	"bytes"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// maxPair is the maximum distance from the start of a name to the word value.
const maxPair = 160

// namedValue finds the value in {"name": "NAME", "value": "..."} and the same in YAML, if
// they are part of a text. [at, end) is the word value and the quote or colon after it.
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
	// The value of the last member called name or key, if the object has one.
	near := text[max(0, at-maxPair):at]
	last := -1
	for _, member := range []string{"name:", "key:", `name"`, `key"`, "Name:", "Key:", `Name"`, `Key"`} {
		if i := bytes.LastIndex(near, []byte(member)); i >= 0 && (i == 0 || !isNameByte(near[i-1])) {
			last = max(last, i+len(member))
		}
	}
	if last < 0 {
		return Span{}
	}
	from := skip(near, last, "\"': \t")
	stop := chars.RunEnd(near, from, MaxName+1, isNameByte)
	if from == last || bytes.ContainsAny(near[stop:], "{}") || bytes.Contains(near[stop:], []byte("- ")) {
		return Span{}
	}
	k := Classify(near[from:stop])
	if begin >= len(text) || k == KindNone || k == KindHeader || k == KindCookie {
		return Span{}
	}
	return valueAt(text, begin, k, StyleBare)
}
