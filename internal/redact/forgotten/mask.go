package forgotten

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
)

// Masker finds and masks forgotten texts by salted hashes, without knowing the texts.
type Masker struct {
	groups []group
	known  [][]byte // the forms of a known text, see Of
}

// hasher computes the hashes with one salt.
type hasher struct {
	salt []byte
	base uint64
}

func newHasher(salt []byte) hasher {
	key := sha256.Sum256(append([]byte("rolling"), salt...))
	return hasher{salt: salt, base: binary.LittleEndian.Uint64(key[:]) | 1}
}

// group holds the forms of one length with one salt.
type group struct {
	hasher

	length  int
	power   uint64 // power of the base for the byte that leaves the window
	rolling []uint32
	marks   []Text
}

// New returns a Masker for texts, nil if there are none.
func New(marks []Marks) *Masker {
	var f Masker
	for _, m := range marks {
		f.add(m)
	}
	if len(f.groups) == 0 {
		return nil
	}
	return &f
}

func (f *Masker) add(m Marks) {
	h, first := newHasher([]byte(m.Salt)), len(f.groups)
	for _, t := range m.Forms {
		if t.Length <= 0 {
			continue
		}
		at := first + slices.IndexFunc(f.groups[first:], func(g group) bool { return g.length == t.Length })
		if at < first {
			at = len(f.groups)
			power := uint64(1)
			for range t.Length - 1 {
				power *= h.base
			}
			f.groups = append(f.groups, group{hasher: h, length: t.Length, power: power})
		}
		f.groups[at].marks, f.groups[at].rolling = append(f.groups[at].marks, t), append(f.groups[at].rolling, t.Rolling)
	}
}

// Of returns a Masker for one known text. Its Has is faster.
func Of(salt []byte, text string) *Masker {
	marks, forms := markForms(salt, text)
	f := &Masker{known: forms}
	f.add(Marks{Salt: string(salt), Forms: marks})
	return f
}

// Has reports whether data contains one of the texts.
func (f *Masker) Has(data []byte) bool {
	if f.known == nil {
		return len(f.Spans(data)) > 0
	}
	return slices.ContainsFunc(f.known, func(form []byte) bool { return bytes.Contains(data, form) })
}

// Passes returns the number of times that Mask reads its data.
func (f *Masker) Passes() int { return len(f.groups) }

// Longest returns the length of the longest form of the texts, at least 1.
func (f *Masker) Longest() int {
	longest := 1
	for _, g := range f.groups {
		longest = max(longest, g.length)
	}
	return longest
}

func (h hasher) roll(window []byte) (sum uint64) {
	for _, c := range window {
		sum = sum*h.base + uint64(c) + 1
	}
	return sum
}

func (h hasher) fold(sum uint64) uint32 { return uint32(sum >> 32) }

func (h hasher) sum(text []byte) []byte {
	mac := hmac.New(sha256.New, h.salt)
	mac.Write(text)
	return mac.Sum(nil)
}

// Span is the position of a form of a text.
type Span struct {
	From, To int
	base64   bool
}

// Spans returns the positions of the texts, ordered and disjoint.
func (f *Masker) Spans(data []byte) []Span {
	var spans []Span
	for _, g := range f.groups {
		if len(data) < g.length {
			continue
		}
		base, drop, h, n := g.base, g.power*g.base, g.roll(data[:g.length]), len(data)-g.length
		for at := 0; ; at++ {
			folded := g.fold(h)
			for i, r := range g.rolling {
				if r == folded && hmac.Equal(g.marks[i].Hash, g.sum(data[at:at+g.length])) {
					spans = append(spans, Span{From: at, To: at + g.length, base64: g.marks[i].Base64})
				}
			}
			if at == n {
				break
			}
			h = h*base - (uint64(data[at])+1)*drop + uint64(data[at+g.length]) + 1
		}
	}
	for i, s := range spans {
		if s.base64 {
			spans[i] = widen(data, s)
		}
	}
	return Disjoint(spans)
}

// Disjoint sorts spans and joins overlapping ones.
func Disjoint(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.From - b.From })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.From < joined[n-1].To {
			joined[n-1].To = max(joined[n-1].To, s.To)
			joined[n-1].base64 = joined[n-1].base64 && s.base64
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// widen extends the span of a base64 part by the adjacent characters, which encode bits of
// it, too.
func widen(data []byte, s Span) Span {
	is := func(i int) bool {
		return i >= 0 && i < len(data) && (data[i] == '+' || data[i] == '/' || data[i] == '-' || data[i] == '_' ||
			data[i] >= '0' && data[i] <= '9' || data[i] >= 'A' && data[i] <= 'Z' || data[i] >= 'a' && data[i] <= 'z')
	}
	if is(s.From - 1) {
		s.From--
	}
	if is(s.To) {
		s.To++
	}
	return s
}

// mark replaces a text.
const mark = "REDACTED"

// Mask replaces the texts in data by a mask; JSON, as a whole or in lines, stays valid. If
// data has none of the texts, Mask returns data itself.
func (f *Masker) Mask(data []byte) []byte {
	return f.replace(data, func(length int, isBase64 bool) string {
		if isBase64 {
			return maskOf(length)
		}
		return mark
	})
}

// MaskInPlace is like Mask, but its result has the length of data, so that offsets into it
// stay valid.
func (f *Masker) MaskInPlace(data []byte) []byte {
	return f.replace(data, func(length int, _ bool) string { return maskOf(length) })
}

func maskOf(length int) string {
	return strings.Repeat(mark, length/len(mark)+1)[:length]
}

func (f *Masker) replace(data []byte, mask func(int, bool) string) []byte {
	spans := f.Spans(data)
	if len(spans) == 0 {
		return data
	}
	if json.Valid(data) {
		return replaceJSON(data, spans, mask)
	}
	var out bytes.Buffer
	for from := 0; from < len(data); {
		to := len(data)
		if i := bytes.IndexByte(data[from:], '\n'); i >= 0 {
			to = from + i + 1
		}
		var here []Span
		for len(spans) > 0 && spans[0].From < to {
			s := spans[0]
			if s.To > to { // the text contains a newline
				to = len(data)
				if i := bytes.IndexByte(data[s.To-1:], '\n'); i >= 0 {
					to = s.To + i
				}
			}
			here = append(here, Span{s.From - from, s.To - from, s.base64})
			spans = spans[1:]
		}
		piece := data[from:to]
		switch {
		case len(here) == 0:
			out.Write(piece)
		case json.Valid(piece):
			out.Write(replaceJSON(piece, here, mask))
		default:
			out.Write(replaceSpans(piece, here, mask))
		}
		from = to
	}
	return out.Bytes()
}

func replaceSpans(data []byte, spans []Span, mask func(int, bool) string) []byte {
	var out bytes.Buffer
	at := 0
	for _, s := range spans {
		out.Write(data[at:s.From])
		out.WriteString(mask(s.To-s.From, s.base64))
		at = s.To
	}
	out.Write(data[at:])
	return out.Bytes()
}

// maxSplice limits the bytes copied while texts in JSON are masked one by one.
const maxSplice = 256 << 20

// replaceJSON masks spans of JSON so that it stays valid: a number becomes a string. If
// that fails because a text includes punctuation of the JSON, or the spans are too many,
// the result is an empty object.
func replaceJSON(data []byte, spans []Span, mask func(int, bool) string) []byte {
	if out := replaceSpans(data, spans, mask); json.Valid(out) {
		return out
	}
	bare := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == 'E' || c == '+' || c == '-' || c == '.'
	}
	out := bytes.Clone(data)
	if len(spans) > maxSplice/len(data) {
		spans = nil
	}
	for _, s := range slices.Backward(spans) {
		from, to := s.From, s.To
		for from > 0 && bare(out[from-1]) {
			from--
		}
		for to < len(out) && bare(out[to]) {
			to++
		}
		for _, try := range [][]byte{
			splice(out, s.From, s.To, mask(s.To-s.From, s.base64)),
			splice(out, s.From-1, s.To, "_"+mask(s.To-s.From, s.base64)), // the letter of an escape
			splice(out, from, to, `"`+maskOf(max(to-from-2, 0))+`"`),
		} {
			if try != nil && json.Valid(try) {
				out = try
				break
			}
		}
	}
	if f := bytes.TrimRight(data, "\n"); !json.Valid(out) || bytes.Equal(out, data) {
		return append([]byte("{"+strings.Repeat(" ", max(len(f)-2, 0))+"}"), data[len(f):]...)
	}
	return out
}

// splice returns a copy of data with data[from:to] replaced, nil if that range is invalid.
func splice(data []byte, from, to int, by string) []byte {
	if from < 0 || to > len(data) {
		return nil
	}
	return slices.Concat(data[:from], []byte(by), data[to:])
}
