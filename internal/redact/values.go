package redact

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"iter"
	"net/url"
	"slices"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

// Limits of knownValues.
const (
	maxKnown       = 256 // values
	maxKnownLen    = 512 // bytes of a value; longer ones are cut
	maxSamePrefix  = 8   // forms with the same prefix
	minKnown       = prefixLen
	worktreeValues = "worktree-value" // the rule's id
)

// knownValues finds values that are secrets wherever they occur, in the forms in which they occur in
// texts.
type knownValues struct {
	seed     maphash.Seed
	salt     [16]byte
	shift    [1 << 16]uint8 // distance that a window ending with a pair of bytes may move
	byPrefix map[uint64][]knownForm
	values   []string
}

// knownForm is a value in one of its forms.
type knownForm struct {
	length int
	quick  uint64
	sum    [sha256.Size]byte
	run    bool // the inside of a run of base64
}

// all yields the values.
func (k *knownValues) all() iter.Seq[string] {
	if k == nil {
		return func(func(string) bool) {}
	}
	return slices.Values(k.values)
}

func newKnownValues() *knownValues {
	k := &knownValues{seed: maphash.MakeSeed(), byPrefix: make(map[uint64][]knownForm)}
	_, _ = rand.Read(k.salt[:]) // never fails
	for i := range k.shift {
		k.shift[i] = prefixLen - 1
	}
	return k
}

// add adds a value in all its forms.
func (k *knownValues) add(value string) {
	if len(value) < minKnown || len(k.values) >= maxKnown {
		return
	}
	value = value[:min(len(value), maxKnownLen)]
	k.values = append(k.values, value)
	inJSON := forgotten.EscapeHTML(value)
	for _, f := range []string{
		value, url.QueryEscape(value), url.PathEscape(value), hex.EncodeToString([]byte(value)), inJSON, forgotten.EscapeHTML(inJSON),
	} {
		k.addForm(f, false)
	}
	for before := range 3 {
		core := forgotten.Base64Core(value, before)
		k.addForm(core, true)
		k.addForm(forgotten.URLBase64(core), true)
	}
}

func (k *knownValues) addForm(form string, run bool) {
	if len(form) < minKnown {
		return
	}
	prefix := maphash.String(k.seed, form[:prefixLen])
	f := knownForm{len(form), maphash.String(k.seed, form), k.sum([]byte(form)), run}
	same := k.byPrefix[prefix]
	for _, o := range same {
		if o.length == f.length && o.quick == f.quick {
			return
		}
	}
	if len(same) == maxSamePrefix {
		return
	}
	k.byPrefix[prefix] = append(same, f)
	for i := range prefixLen - 1 {
		pair := int(form[i])<<8 | int(form[i+1])
		k.shift[pair] = min(k.shift[pair], uint8(prefixLen-2-i))
	}
}

func (k *knownValues) sum(form []byte) [sha256.Size]byte {
	return sha256.Sum256(append(k.salt[:], form...))
}

// find lists the values in text.
func (k *knownValues) find(text []byte) []Finding {
	var found []Finding
	for i := prefixLen - 1; i < len(text); {
		if n := k.shift[int(text[i-1])<<8|int(text[i])]; n > 0 {
			i += int(n)
			continue
		}
		begin := i - prefixLen + 1
		if s := k.at(text, begin); s.end > 0 {
			found = append(found, Finding{Rule: worktreeValues, Secret: string(text[s.begin:s.end]), Start: s.begin, End: s.end})
			i = s.end + prefixLen - 1
			continue
		}
		i++
	}
	return found
}

// at returns the span of the longest value at begin.
func (k *knownValues) at(text []byte, begin int) span {
	var best span
	for _, f := range k.byPrefix[maphash.Bytes(k.seed, text[begin:begin+prefixLen])] {
		if f.length > len(text)-begin || f.length <= best.end-best.begin {
			continue
		}
		form := text[begin : begin+f.length]
		if maphash.Bytes(k.seed, form) != f.quick || k.sum(form) != f.sum {
			continue
		}
		best = span{begin, begin + f.length}
		if f.run {
			// Include the adjacent base64 digits, which encode bits of it.
			for n := 0; n < 3 && best.begin > 0 && chars.IsBase64(text[best.begin-1]); n++ {
				best.begin--
			}
			for n := 0; n < 4 && best.end < len(text) && (chars.IsBase64(text[best.end]) || text[best.end] == '='); n++ {
				best.end++
			}
		}
	}
	return best
}

// addFile adds the secrets in a file with that name.
func (k *knownValues) addFile(name string, data []byte) {
	switch secretFile(name) {
	case fileKey:
		k.addKey(data)
	case fileNetrc:
		fields := bytes.Fields(data)
		for i := 1; i < len(fields); i++ {
			if string(fields[i-1]) == "password" {
				k.addNamed([]byte("password"), fields[i])
			}
		}
	case filePgpass:
		for line := range bytes.Lines(data) {
			fields := bytes.SplitN(bytes.TrimSpace(line), []byte(":"), 5)
			if len(fields) == 5 && line[0] != '#' {
				k.addNamed([]byte("password"), fields[4])
			}
		}
	case fileEnv:
		for line := range bytes.Lines(data) {
			name, value, ok := bytes.Cut(bytes.TrimSpace(line), []byte("="))
			if ok && len(name) > 0 && name[0] != '#' && name[0] != ';' {
				k.addNamed(bytes.TrimSpace(bytes.TrimPrefix(name, []byte("export "))), envValue(value))
			}
		}
	case fileOther: // has no known secrets
	}
}

// envValue returns the value of an assignment without quotes and comment.
func envValue(v []byte) []byte {
	v = bytes.TrimSpace(v)
	if len(v) > 1 && chars.IsQuote(v[0]) {
		if end := bytes.IndexByte(v[1:], v[0]); end >= 0 {
			return v[1 : 1+end]
		}
	}
	if i := bytes.Index(v, []byte(" #")); i >= 0 {
		v = bytes.TrimSpace(v[:i])
	}
	return v
}

// addNamed adds a value unless it is a word, a path, a URL without a password, or
// a placeholder.
func (k *knownValues) addNamed(name, value []byte) {
	if bytes.Contains(value, []byte("://")) {
		at := bytes.Index(value, []byte("://"))
		if s := spanOf(ownrules.URLPassword(value, at, at+3)); s.end-s.begin >= minKnown && !isOneWord(value[s.begin:s.end]) {
			k.add(string(value[s.begin:s.end]))
		}
		return
	}
	if len(value) < minKnown || ownrules.IsPlaceholder(value) || ownrules.IsPath(value) || isOneWord(value) {
		return
	}
	if ownrules.Classify(name) == ownrules.KindNone && (ownrules.IsWordy(value) || !ownrules.HasMixture(value) ||
		ownrules.HasSpace(value) || len(bytes.Trim(value, "0123456789.,:-")) == 0) {
		return
	}
	k.add(string(value))
}

// isOneWord reports whether v consists of letters in a case usual for words, and is too
// short for more than one or two words.
func isOneWord(v []byte) bool {
	return len(v) < 16 && !bytes.ContainsFunc(v, func(c rune) bool { return c >= 128 || !chars.IsAlpha(byte(c)) }) && ownrules.IsWordOrNumber(v)
}

// addKey adds the lines of a private key.
func (k *knownValues) addKey(data []byte) {
	if !bytes.Contains(data, []byte("PRIVATE KEY")) && !bytes.HasPrefix(data, []byte("PuTTY-User-Key-File")) {
		if one := bytes.TrimSpace(data); bytes.IndexByte(one, '\n') < 0 && ownrules.IsRandom(one, 16) {
			k.add(string(one))
		}
		return
	}
	public := false
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("-----BEGIN ")):
			public = !bytes.Contains(line, []byte("PRIVATE KEY"))
		case bytes.HasPrefix(line, []byte("Public-Lines:")):
			public = true
		case bytes.HasPrefix(line, []byte("Private-Lines:")):
			public = false
		case !public && len(line) >= minKeyLine && chars.RunEnd(line, 0, len(line), func(b byte) bool { return chars.IsBase64(b) || b == '=' }) == len(line):
			k.add(string(line))
		}
	}
}
