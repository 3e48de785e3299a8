package redact

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/hex"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

// charParts lists the parts of text that encode one character each, and those that a reader doesn't
// see or that only join strings. The latter have an empty content. It also lists the secrets after
// words with letters that aren't ASCII, and the random passwords in quotes.
func charParts(text []byte) (parts []encodedPart, found []Finding) {
	found = lonePasswords(text)
	for i := 0; i < len(text); i++ {
		for ; i+8 <= len(text); i += 8 {
			w := text[i : i+8]
			if mayEncode[w[0]]|mayEncode[w[1]]|mayEncode[w[2]]|mayEncode[w[3]]|mayEncode[w[4]]|mayEncode[w[5]]|mayEncode[w[6]]|mayEncode[w[7]] != 0 {
				break
			}
		}
		for i < len(text) && mayEncode[text[i]] == 0 {
			i++
		}
		if i == len(text) {
			break
		}
		switch text[i] {
		case '%':
			if n, ok := number(text, i+1, i+3, 16); ok {
				parts = printablePart(parts, i, i+3, n)
			}
		case '\\':
			parts = escapePart(text, i, parts)
		case '&':
			parts = entityPart(text, i, parts)
		case '=':
			parts = quotedPrintablePart(text, i, parts)
		case '"', '\'':
			parts = joinPart(text, i, parts)
			if s := spanOf(ownrules.QuotedPassword(text, i)); s.end > 0 {
				found = append(found, ownFinding(ownrules.RuleQuoted, text, s))
			}
		case 0, 0x1b:
			parts = unseenPart(text, i, parts)
		case 0xc2, 0xe2, 0xef:
			parts = widePart(text, i, parts)
		default:
			if s, rule := ownrules.ForeignWord(text, i); s.End > 0 {
				found = append(found, ownFinding(rule, text, spanOf(s)))
			}
		}
	}
	return parts, found
}

// lonePasswords lists the random passwords without quotes. They have at least 20 bytes, so a block of
// ten at a multiple of ten is within each.
func lonePasswords(text []byte) (found []Finding) {
	for i := 0; i+10 <= len(text); i += 10 {
		b := text[i : i+10]
		if endsWord[b[0]]|endsWord[b[1]]|endsWord[b[2]]|endsWord[b[3]]|endsWord[b[4]]|endsWord[b[5]]|endsWord[b[6]]|endsWord[b[7]]|endsWord[b[8]]|endsWord[b[9]] != 0 {
			continue
		}
		begin, end := i, i+10
		for begin > 0 && endsWord[text[begin-1]] == 0 {
			begin--
		}
		for end < len(text) && endsWord[text[end]] == 0 {
			end++
		}
		if begin == 0 || text[begin-1] == ' ' || text[begin-1] == '\n' {
			if s := spanOf(ownrules.LonePassword(text, begin-1)); s.end > 0 {
				found = append(found, ownFinding(ownrules.RuleQuoted, text, s))
			}
		}
		i = end - end%10
	}
	return found
}

// endsWord has the bytes around a password without quotes.
var endsWord = [256]uint8{' ': 1, '\n': 1, '\t': 1, '\r': 1, '"': 1, '\'': 1, '\\': 1} //nolint:gochecknoglobals // read-only table, laid out by the linker

// mayEncode has the bytes at which charParts looks.
var mayEncode = [256]uint8{ //nolint:gochecknoglobals // read-only table, laid out by the linker
	'%': 1, '\\': 1, '&': 1, '=': 1, '"': 1, '\'': 1, 0: 1, 0x1b: 1, 0xc2: 1, 0xe2: 1, 0xef: 1,
	0xc3: 1, 0xc5: 1, 0xd0: 1, 0xe3: 1, 0xe5: 1, 0xe6: 1, 0xeb: 1, 0xec: 1,
}

// printablePart appends the part [begin, end) for a printable ASCII character.
func printablePart(parts []encodedPart, begin, end int, c uint64) []encodedPart {
	if c < utf8.RuneSelf && chars.IsPrintableByte(byte(c)) {
		return append(parts, encodedPart{span{begin, end}, []byte{byte(c)}})
	}
	return parts
}

// number parses the digits at text[begin:end] in a base.
func number(text []byte, begin, end, base int) (uint64, bool) {
	if end > len(text) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[begin:end]), base, 32)
	return n, err == nil
}

// escapePart appends the character escaped at i as \x41, \u0041, \u{41} or \101, or an escaped line
// break.
func escapePart(text []byte, i int, parts []encodedPart) []encodedPart {
	if i+2 >= len(text) {
		return parts
	}
	switch c := text[i+1]; {
	case c == 'x':
		if n, ok := number(text, i+2, i+4, 16); ok {
			return printablePart(parts, i, i+4, n)
		}
	case c == 'u' && text[i+2] == '{':
		end := chars.RunEnd(text, i+3, 7, chars.IsHex)
		if n, ok := number(text, i+3, end, 16); ok && end < len(text) && text[end] == '}' {
			return printablePart(parts, i, end+1, n)
		}
	case c == 'u':
		if n, ok := number(text, i+2, i+6, 16); ok {
			return printablePart(parts, i, i+6, n)
		}
	case c == '0' || c == '1':
		if n, ok := number(text, i+1, i+4, 8); ok {
			return printablePart(parts, i, i+4, n)
		}
	case c == '\n' && i > 0 && isTokenChar(text[i-1]) && isTokenChar(text[i+2]):
		return append(parts, encodedPart{span: span{i, i + 2}})
	}
	return parts
}

// entities are the named character references that are decoded.
var entities = map[string]uint64{"amp": '&', "quot": '"', "apos": '\'', "lt": '<', "gt": '>'} //nolint:gochecknoglobals // read-only

// entityPart appends the character reference of HTML at i.
func entityPart(text []byte, i int, parts []encodedPart) []encodedPart {
	near := text[i+1 : min(len(text), i+10)]
	end := bytes.IndexByte(near, ';')
	if end < 2 {
		return parts
	}
	name := near[:end]
	if name[0] != '#' {
		if c, ok := entities[string(name)]; ok {
			return printablePart(parts, i, i+end+2, c)
		}
		return parts
	}
	base, digits := 10, name[1:]
	if digits[0] == 'x' || digits[0] == 'X' {
		base, digits = 16, digits[1:]
	}
	if n, ok := number(digits, 0, len(digits), base); ok {
		return printablePart(parts, i, i+end+2, n)
	}
	return parts
}

// quotedPrintablePart appends the character =41 or the soft line break of quoted-printable at i.
func quotedPrintablePart(text []byte, i int, parts []encodedPart) []encodedPart {
	if i+2 >= len(text) {
		return parts
	}
	c, d := text[i+1], text[i+2]
	switch {
	case c == '\n' || c == '\r' && d == '\n':
		next := bytes.IndexByte(text[i:], '\n') + i + 1
		if i > 0 && chars.IsBase64(text[i-1]) && next < len(text) && isTokenChar(text[next]) && !isPadding(text, i) {
			return append(parts, encodedPart{span: span{i, next}})
		}
	case c >= '2' && c <= '7' && chars.IsHex(d) && !chars.IsLower(d):
		// A value after = may begin like this, so an = must be encoded as well, or the next
		// character.
		if i+3 < len(text) && text[i+3] == '=' || c == '3' && d == 'D' || i > 2 && text[i-3] == '=' {
			if n, ok := number(text, i+1, i+3, 16); ok {
				return printablePart(parts, i, i+3, n)
			}
		}
	}
	return parts
}

// isPadding reports whether the = at i pads base64.
func isPadding(text []byte, i int) bool {
	begin := i
	for begin > 0 && (chars.IsBase64(text[begin-1]) || text[begin-1] == '=') {
		begin--
	}
	return i-begin >= minBase64-1 && (i-begin+1)%4 == 0
}

// isTokenChar reports whether b can be part of a token.
func isTokenChar(b byte) bool { return b > ' ' && b < 0x7f && !chars.IsQuote(b) && b != '\\' }

// joinPart appends the signs from the quote at i on between strings that a program joins: "abc" +
// "def", "abc" "def", and between characters: "a", "b".
func joinPart(text []byte, i int, parts []encodedPart) []encodedPart {
	if i == 0 || i+3 >= len(text) || !isTokenChar(text[i-1]) {
		return parts
	}
	next, comma, plus := i+1, false, 0
	for ; next < len(text) && next < i+40; next++ {
		switch text[next] {
		case ' ', '\t', '\n', '\r':
			continue
		case '+', '.', '&':
			plus++
			continue
		case ',':
			comma = true
			continue
		}
		break
	}
	quote := text[i]
	if next+1 >= len(text) || text[next] != quote || next == i+1 || plus > 1 || !isTokenChar(text[next+1]) {
		return parts
	}
	if comma && (plus > 0 || i < 2 || text[i-2] != quote || next+2 >= len(text) || text[next+2] != quote) {
		return parts
	}
	if !comma && !bytes.ContainsAny(text[max(0, i-nearJoin):min(len(text), next+nearJoin)], "0123456789") {
		return parts // words, which aren't worth a search
	}
	return append(parts, encodedPart{span: span{i, next + 1}})
}

// nearJoin is the distance from joined strings in which a digit is expected if they are a secret.
const nearJoin = 48

// widePart appends the fullwidth character at i, or the character without a width.
func widePart(text []byte, i int, parts []encodedPart) []encodedPart {
	c, size := utf8.DecodeRune(text[i:])
	switch {
	case '！' <= c && c <= '～':
		return printablePart(parts, i, i+size, uint64(c-'！'+'!'))
	case c == '\u00ad' || c == '\ufeff' || '\u200b' <= c && c <= '\u200f' || '\u202a' <= c && c <= '\u202e' || '\u2060' <= c && c <= '\u206f':
		return append(parts, encodedPart{span: span{i, i + size}})
	}
	return parts
}

// unseenPart appends the sequence at i that colours a terminal, or the zero between characters of
// UTF-16.
func unseenPart(text []byte, i int, parts []encodedPart) []encodedPart {
	if text[i] == 0 {
		if i+1 < len(text) && text[i+1] != 0 && (i == 0 || text[i-1] != 0) {
			return append(parts, encodedPart{span: span{i, i + 1}})
		}
		return parts
	}
	if i+2 < len(text) && text[i+1] == '[' {
		end := chars.RunEnd(text, i+2, 24, func(b byte) bool { return b >= ' ' && b < '@' })
		if end < len(text) && text[end] < 0x7f {
			return append(parts, encodedPart{span: span{i, end + 1}})
		}
	}
	return parts
}

const (
	// minBytes is the minimum number of bytes in a list or dump that is decoded.
	minBytes = 12
	// maxListed limits the length of such a list.
	maxListed = 1 << 16
)

// listParts lists the parts of text that are bytes printed as numbers: lists like 112, 97, 115,
// pairs of hex digits like 70 61 73, 70:61:73 and 0x70, 0x61, and the rows of hex dumps. It also
// lists the private keys that are such lists.
func listParts(text []byte) (parts []encodedPart, found []Finding) {
	if parts := dumpParts(text); len(parts) > 0 {
		return parts, nil
	}
	// Lists are longer than a step, so it suffices to look at a few positions.
	const step = 2 * minBytes
	for i := step / 2; i+4 < len(text); i += step {
		a, b, c, d := text[i], text[i+1], text[i+2], text[i+3]
		if !isListed[a] || !isListed[b] || !isListed[c] || !isListed[d] || a <= ' ' && b <= ' ' {
			continue
		}
		begin, end := i, i
		for begin > 0 && i-begin < maxListed && isListed[text[begin-1]] {
			begin--
		}
		for end < len(text) && end-i < maxListed && isListed[text[end]] {
			end++
		}
		i = max(i, end-step/2)
		if plain, s := listed(text, begin, end); plain != nil {
			parts = append(parts, encodedPart{s, plain})
		} else if ownrules.IsKeyBytes(text, begin, end) {
			found = append(found, ownFinding(ownrules.RuleHexKey, text, span{begin, end}))
		}
	}
	return parts, found
}

// isListed has the bytes that can be part of a list of bytes.
var isListed = [256]bool{ //nolint:gochecknoglobals // read-only table, laid out by the linker
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true,
	' ': true, ',': true, ':': true, 'x': true, '\n': true, '\t': true,
}

// listed decodes a list of bytes, of which all must be printable.
func listed(text []byte, begin, end int) ([]byte, span) {
	for begin < end && !chars.IsDigit(text[begin]) && (!chars.IsHex(text[begin]) || begin+1 < end && !chars.IsHex(text[begin+1])) {
		begin++
	}
	var plain []byte
	last := begin
	decimal := bytes.IndexByte(text[begin:end], ',') >= 0 && !bytes.Contains(text[begin:end], []byte("0x"))
	for i := begin; i < end; {
		stop := i
		for stop < end && (chars.IsHex(text[stop]) || text[stop] == 'x') {
			stop++
		}
		field, base := text[i:stop], 16
		switch {
		case stop == i:
			i++
			continue
		case bytes.HasPrefix(field, []byte("0x")):
			field = field[2:]
		case decimal:
			base = 10
		}
		n, err := strconv.ParseUint(string(field), base, 8)
		if err != nil || base == 16 && len(field) != 2 || !chars.IsPrintableByte(byte(n)) {
			if len(plain) >= minBytes {
				break
			}
			begin, plain = stop, nil
			i = stop
			continue
		}
		if plain == nil {
			begin = i
		}
		plain = append(plain, byte(n))
		i, last = stop, stop
	}
	if len(plain) < minBytes || isTable(text, end) {
		return nil, span{}
	}
	return plain, span{begin, last}
}

// isTable reports whether a list that ends at i continues after a comment: a table in a program.
func isTable(text []byte, i int) bool {
	if !bytes.HasPrefix(text[i:], []byte("//")) {
		return false
	}
	line := bytes.IndexByte(text[i:min(len(text), i+80)], '\n')
	return line > 0 && i+line+4 < len(text) && bytes.HasPrefix(bytes.TrimSpace(text[i+line:min(len(text), i+line+24)]), []byte("0x"))
}

// dumpParts lists the rows of hex dumps, as xxd, hexdump and od print them.
func dumpParts(text []byte) (parts []encodedPart) {
	if !bytes.Contains(text, []byte("00000")) {
		return nil
	}
	for i := 0; i < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
			end = i + n
		}
		begin := i
		i = end + 1
		if end-begin < 12 || end-begin > 256 {
			continue
		}
		row := bytes.Index(text[begin:end], []byte("0000"))
		if row < 0 {
			continue
		}
		begin += row
		offset := chars.RunEnd(text, begin, 9, chars.IsHex)
		if offset-begin < 6 || offset >= end || text[offset] != ':' && text[offset] != ' ' {
			continue
		}
		if plain := dumpRow(text[offset+1 : end]); plain != nil {
			parts = append(parts, encodedPart{span{begin, min(end+1, len(text))}, plain})
		}
	}
	return parts
}

// dumpRow decodes the hex digits of a row, up to two spaces that no digits follow.
func dumpRow(row []byte) []byte {
	var plain []byte
	for i := 0; i < len(row) && len(plain) < 32; {
		if row[i] == ' ' {
			if len(plain) > 0 && len(plain)%8 != 0 && i+1 < len(row) && row[i+1] == ' ' {
				break
			}
			i++
			continue
		}
		n, ok := number(row, i, i+2, 16)
		if !ok || len(plain) == 16 {
			break
		}
		plain = append(plain, byte(n))
		i += 2
	}
	for i, b := range plain {
		if !chars.IsPrintableByte(b) {
			plain[i] = ' '
		}
	}
	return plain
}

// maxExpansion limits the size of decompressed data, as a multiple of the compressed size.
const maxExpansion = 32

// readable returns decoded data as text: as it is, without the zeros of UTF-16, or decompressed. It
// returns nil if the data is no text.
func readable(data []byte) []byte {
	switch {
	case len(data) < 8:
		return nil
	case chars.IsPrintable(data):
		return data
	case data[0] == 0x1f && data[1] == 0x8b:
		if r, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			return decompressed(r, len(data))
		}
		return nil
	case data[0] == 0x78 && (data[1] == 0x9c || data[1] == 0xda || data[1] == 0x01 || data[1] == 0x5e):
		if r, err := zlib.NewReader(bytes.NewReader(data)); err == nil {
			return decompressed(r, len(data))
		}
		return nil
	case data[0] == 0 || data[1] == 0:
		plain := make([]byte, 0, len(data)/2)
		for i, b := range data {
			zero := i%2 == 0 == (data[0] == 0)
			if zero != (b == 0) {
				return nil
			}
			if !zero {
				plain = append(plain, b)
			}
		}
		if chars.IsPrintable(plain) {
			return plain
		}
		return nil
	}
	return nil
}

// decompressed reads text from r. It returns nil if there is anything else.
func decompressed(r io.Reader, size int) []byte {
	plain, _ := io.ReadAll(io.LimitReader(r, int64(maxExpansion*size+1024))) // what was read counts
	if len(plain) < minBytes || !utf8.Valid(plain) {
		return nil
	}
	return plain
}

// mayBeReadable reports whether data that begins with head may be readable.
func mayBeReadable(head []byte) bool {
	return chars.IsPrintable(head) || head[0] == 0x1f && head[1] == 0x8b || head[0] == 0x78 && head[1]&0x1d != 0 || head[0] == 0 || head[1] == 0
}

// decodeBase32 decodes a run of base32 digits. It returns nil unless the result is text.
func decodeBase32(run []byte) []byte {
	for _, b := range run[:minBase64] {
		if !chars.IsUpper(b) && (b < '2' || b > '7') {
			return nil
		}
	}
	plain := make([]byte, base32.StdEncoding.DecodedLen(len(run))+8)
	n, err := base32.StdEncoding.WithPadding(base32.NoPadding).Decode(plain, run)
	if err != nil || !chars.IsPrintable(plain[:n]) {
		return nil
	}
	return plain[:n]
}

// decodeHex decodes a run of hex digits. It returns nil unless the result is readable.
func decodeHex(run []byte) []byte {
	head := make([]byte, 2, len(run)/2)
	if _, err := hex.Decode(head, run[:4]); err != nil || !mayBeReadable(head) {
		return nil
	}
	plain := head[:len(run)/2]
	if _, err := hex.Decode(plain, run); err != nil {
		return nil
	}
	return readable(plain)
}

// wrappedRun returns the end of the lines of base64 digits that begin with the run [begin, end) at
// the end of its line, and these digits. The lines are equally long, except for the first and the
// last one. It returns 0 if there is only one line.
func wrappedRun(text []byte, begin, end int) (digits []byte, stop int) {
	length, last := 0, end
	for i := end; ; {
		line := i
		for line < len(text) && line < i+12 && (text[line] == '\r' || text[line] == '\n' || text[line] == ' ' || text[line] == '\t' || text[line] == '>' || text[line] == '#') {
			line++
		}
		if line == i || bytes.IndexByte(text[i:line], '\n') < 0 {
			break
		}
		stop := chars.RunEnd(text, line, maxListed, chars.IsBase64)
		if stop == line || length > 0 && stop-line > length || stop < len(text) && text[stop] != '\n' && text[stop] != '\r' && text[stop] != '=' && text[stop] != '"' {
			break
		}
		if digits == nil {
			digits = append(digits, text[begin:end]...)
		}
		digits = append(digits, text[line:stop]...)
		i, last = stop, stop
		if length > 0 && stop-line < length || len(digits) > maxListed {
			break
		}
		length = stop - line
	}
	if digits == nil {
		return nil, 0
	}
	return digits, last
}
