package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

const (
	// maxDecode is the maximum depth of nested encodings, as in gitleaks' program.
	maxDecode = 5
	minBase64 = 16
	minHex    = 32
	// decodeContext is the number of bytes on each side of an encoded part that are
	// searched with it.
	decodeContext = 256
	// nearDecoded is the maximum distance between a secret and a decoded part that counts
	// for it.
	nearDecoded = 64
)

// encodedPart is an encoded part of a text and its decoded content.
type encodedPart struct {
	span
	plain []byte
}

// findDecoded lists the secrets in text that are found only after its base64, hex and
// percent-encoded parts are decoded, and those found by our rules that are tried at runs of
// such digits. An encoded part with a secret is a finding as a whole.
func (r *finder) findDecoded(text []byte, depth int) []Finding {
	if len(text) < minBase64 || depth == 0 || r.isStopped() {
		return nil
	}
	parts, own := encodedParts(text)
	if len(parts) == 0 || r.isStopped() {
		return own
	}
	d := decode(text, parts)
	found := r.find(d.text, nil)
	twice := len(found) // findings from here on are of repeatedly decoded text
	found = append(found, r.findDecoded(d.text, depth-1)...)
	kept := own
	for i, f := range found {
		s, inside := d.source(f.Start, f.End)
		if inside || i >= twice || d.decodedNear(f.Start, f.End) {
			f.Start, f.End, f.Secret = s.begin, s.end, string(text[s.begin:s.end])
			kept = append(kept, f)
		}
	}
	return kept
}

// decodedParts returns the decoded parts of text with their surroundings.
func decodedParts(text []byte) decodedText {
	if parts, _ := encodedParts(text); len(parts) > 0 {
		return decode(text, parts)
	}
	return decodedText{}
}

// encodedParts lists the encoded parts of text, ordered, and the findings of the rules that are tried
// on the way.
func encodedParts(text []byte) ([]encodedPart, []Finding) {
	parts, own := baseParts(text)
	listed, keys := listParts(text)
	parts, own = append(parts, listed...), append(own, keys...)
	single, foreign := charParts(text)
	own = append(own, foreign...)
	if len(single) > 0 {
		parts = append(apart(parts, single), single...)
	}
	slices.SortFunc(parts, func(x, y encodedPart) int {
		return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(len(y.plain), len(x.plain)))
	})
	return parts, own
}

// apart returns the parts that are not close to one of single, encoded characters. The others are decoded in
// the next pass: a token that is base64 by chance may be a secret in its undecoded form
// once its surroundings are decoded.
func apart(parts, single []encodedPart) []encodedPart {
	kept := parts[:0]
	for _, p := range parts {
		i, _ := slices.BinarySearchFunc(single, p.begin, func(q encodedPart, at int) int { return cmp.Compare(q.begin, at) })
		before := i > 0 && p.end <= single[i-1].end+decodeContext
		behind := i < len(single) && p.begin >= single[i].begin-decodeContext
		if !before && !behind {
			kept = append(kept, p)
		}
	}
	return kept
}

// decodedText is the text around encoded parts, with these parts decoded.
type decodedText struct {
	text   []byte
	pieces []piece
}

// piece is a range of a decoded text and its source.
type piece struct {
	at      int // in the decoded text
	from    span
	decoded bool
}

// decode returns the decoded parts of text with their surroundings.
func decode(text []byte, parts []encodedPart) decodedText {
	var d decodedText
	done := 0
	plain := func(begin, end int) {
		if begin < end {
			d.pieces = append(d.pieces, piece{len(d.text), span{begin, end}, false})
			d.text = append(d.text, text[begin:end]...)
		}
	}
	for i, p := range parts {
		if p.begin < done {
			continue // within another part
		}
		if i == 0 || p.begin-decodeContext > done {
			from := max(done, p.begin-decodeContext)
			if i > 0 {
				plain(done, wholeRuns(text, done, min(done+decodeContext, from)))
				d.pieces = append(d.pieces, piece{len(d.text), span{from, from}, false})
				d.text = append(d.text, '\n')
			}
			for done = from; done < p.begin && from > 0 && chars.IsBase64(text[done-1]); {
				done++ // the rest of a run
			}
		}
		plain(done, p.begin)
		d.pieces = append(d.pieces, piece{len(d.text), p.span, true})
		d.text = append(d.text, p.plain...)
		done = p.end
	}
	plain(done, wholeRuns(text, done, min(done+decodeContext, len(text))))
	return d
}

// wholeRuns returns the end of text[begin:end] without the beginning of a run of base64 digits that
// continues after it.
func wholeRuns(text []byte, begin, end int) int {
	if end == len(text) || !chars.IsBase64(text[end]) {
		return end
	}
	for end > begin && chars.IsBase64(text[end-1]) {
		end--
	}
	return end
}

// source returns the span of the original text for [begin, end), and whether it includes a
// decoded part. Encoded parts are included as a whole.
func (d *decodedText) source(begin, end int) (s span, decoded bool) {
	i, exact := slices.BinarySearchFunc(d.pieces, begin, func(p piece, at int) int { return cmp.Compare(p.at, at) })
	if !exact {
		i--
	}
	for i+1 < len(d.pieces) && d.pieces[i+1].at <= begin {
		i++ // the piece before is empty
	}
	first := true
	for ; i < len(d.pieces) && d.pieces[i].at < end; i++ {
		p := d.pieces[i]
		from := p.from
		if !p.decoded {
			from.begin = min(p.from.end, p.from.begin+max(0, begin-p.at))
			from.end = min(p.from.end, p.from.begin+end-p.at)
		}
		if first {
			s, first = from, false
		}
		s.end = max(s.end, from.end)
		decoded = decoded || p.decoded
	}
	return s, decoded
}

// decodedNear reports whether a part close to [begin, end) was decoded: the end of a token
// or the sign between a name and its value may be encoded even if the secret is not.
func (d *decodedText) decodedNear(begin, end int) bool {
	i, _ := slices.BinarySearchFunc(d.pieces, begin-nearDecoded, func(p piece, at int) int { return cmp.Compare(p.at, at) })
	for i = max(0, i-1); i < len(d.pieces) && d.pieces[i].at <= end+nearDecoded; i++ {
		next := len(d.text)
		if i+1 < len(d.pieces) {
			next = d.pieces[i+1].at
		}
		if d.pieces[i].decoded && next >= begin-nearDecoded {
			return true
		}
	}
	return false
}

// baseParts lists the parts of text that are base64 or hex of printable text, and the
// findings of our own rules at runs of their digits. It skips runs shorter than minBase64
// without reading them in full.
func baseParts(text []byte) (parts []encodedPart, found []Finding) {
	joined := 0 // the end of the last lines that were joined
	for i := 0; i+minBase64 <= len(text); {
		last := i + minBase64 - 1
		for last >= i && base64Digits[text[last]] != notDigit {
			last--
		}
		if last >= i {
			i = last + 1
			continue
		}
		end := i + minBase64
		for end < len(text) && base64Digits[text[end]] != notDigit {
			end++
		}
		if i >= joined {
			var digits []byte
			if digits, joined = wrappedRun(text, i, end); digits != nil {
				if plain := decodeRun(digits); plain != nil {
					parts = append(parts, encodedPart{span{i, joined}, plain})
					i = joined
					continue
				}
			}
		}
		// A line of encoded binary data may be readable by chance.
		if plain := decodeRun(text[i:end]); plain != nil && (!hasControls(plain) || !ownrules.IsInBlock(text, i, end)) {
			stop := end
			for stop < len(text) && stop < end+2 && text[stop] == '=' {
				stop++
			}
			parts = append(parts, encodedPart{span{i, stop}, plain})
		} else if end-i <= maxOwnRun {
			if s := spanOf(ownrules.RandomToken(text, i, end)); s.end > 0 {
				found = append(found, ownFinding(ownrules.RuleRandom, text, s))
			}
		}
		if end-i <= maxOwnRun {
			found = ownAtRun(text, i, end, found)
		}
		i = end + 1
	}
	return parts, found
}

// hasControls reports whether s has control characters that aren't white space.
func hasControls(s []byte) bool {
	return bytes.ContainsFunc(s, func(c rune) bool { return c < ' ' && !chars.IsSpace(byte(c)) })
}

// maxOwnRun is the maximum length of a run at which our own rules are tried.
const maxOwnRun = 200

// ownAtRun appends the findings of our own rules at a run of base64 digits.
func ownAtRun(text []byte, begin, end int, found []Finding) []Finding {
	if begin >= 4 {
		sign := begin - 1
		for sign > begin-3 && (chars.IsQuote(text[sign]) || text[sign] == '\\') {
			sign--
		}
		if text[sign] == '=' {
			if s := spanOf(ownrules.RandomVariable(text, sign, sign+1)); s.end > 0 {
				found = append(found, ownFinding(ownrules.RuleRandomEnv, text, s))
			}
		}
	}
	if s := spanOf(ownrules.PartedToken(text, begin, end)); s.end > 0 {
		found = append(found, ownFinding(ownrules.RuleParted, text, s))
	}
	if end < len(text) && text[end] == '.' {
		if s := spanOf(ownrules.DiscordToken(text, end, end+1)); s.end > 0 {
			found = append(found, ownFinding(ownrules.RuleDiscord, text, s))
		}
	}
	return found
}

// decodeRun decodes a run of hex, base64 or base32 digits. It returns nil unless the result is
// readable text.
func decodeRun(run []byte) []byte {
	if len(run) >= minHex && len(run)%2 == 0 && chars.IsHex(run[0]) && chars.IsHex(run[1]) && chars.IsHex(run[2]) {
		if plain := decodeHex(run); plain != nil {
			return plain
		}
	}
	if plain := decodeBase32(run); plain != nil {
		return plain
	}
	// Check the first bytes before allocating.
	var head [minBase64 / 4 * 3]byte
	for k, at := 0, 0; k < minBase64; k, at = k+4, at+3 {
		a, b, c, d := base64Digits[run[k]], base64Digits[run[k+1]], base64Digits[run[k+2]], base64Digits[run[k+3]]
		head[at], head[at+1], head[at+2] = a<<2|b>>4, b<<4|c>>2, c<<6|d
	}
	if !mayBeReadable(head[:]) {
		return nil
	}
	digits := bytes.Clone(run)
	for i, c := range digits {
		switch c {
		case '-':
			digits[i] = '+'
		case '_':
			digits[i] = '/'
		}
	}
	plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(digits)))
	if _, err := base64.RawStdEncoding.Decode(plain, digits); err != nil {
		return nil
	}
	return readable(plain)
}

// notDigit is the value of a byte that is not a base64 digit.
const notDigit = 0xff

// base64Digits maps bytes to their values as base64 digits, in both alphabets.
const base64Digits = "" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x3e\xff\x3e\xff\x3f\x34\x35\x36\x37\x38\x39\x3a\x3b\x3c\x3d\xff\xff\xff\xff\xff\xff" +
	"\xff\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\xff\xff\xff\xff\x3f" +
	"\xff\x1a\x1b\x1c\x1d\x1e\x1f\x20\x21\x22\x23\x24\x25\x26\x27\x28\x29\x2a\x2b\x2c\x2d\x2e\x2f\x30\x31\x32\x33\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
