package redact

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// stringsOfLine splits a line of JSON into its strings. A line that is not valid JSON is
// one segment; text in quotes with escapes is another one, up to the end of the line if the
// closing quote is missing.
func stringsOfLine(line []byte, segs []segment) []segment {
	p := parser{src: line, segs: segs}
	if p.run() {
		return p.segs
	}
	segs = wholeText(line, segs[:0])
	for i := 0; i < len(line); {
		n := bytes.IndexByte(line[i:], '"')
		if n < 0 {
			break
		}
		begin := i + n + 1
		end, escaped := begin, false
		for end < len(line) && line[end] != '"' {
			if line[end] == '\\' {
				escaped = true
				end++
			}
			end++
		}
		end = min(end, len(line))
		if escaped {
			segs = append(segs, segment{span: span{begin, end}, escaped: true})
		}
		i = end + 1
	}
	return segs
}

// parser checks that src is one JSON value, and records its strings and for each the string
// that names it.
type parser struct {
	src   []byte
	at    int
	segs  []segment
	stack []frame
	want  want
}

// frame is an unfinished object or array. Segments are counted from 1.
type frame struct {
	bracket byte
	name    int32 // object: the latest name; array: its own name
	prev    int32 // array: the previous string
	label   int32 // object: the value of a member that names another
	labeled int32 // object: the value named by label
}

// want is the token expected next.
type want uint8

const (
	wantValue want = iota
	wantValueOrEnd
	wantName
	wantNameOrEnd
	wantColon
	wantCommaOrEnd
	wantNothing
)

// run reports whether src is valid JSON.
func (p *parser) run() bool {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; c {
		case ' ', '\t', '\r', '\n':
			p.at++
		case '{', '[':
			if !p.wantsValue() {
				return false
			}
			f := frame{bracket: c}
			p.want = wantValueOrEnd
			if c == '{' {
				p.want = wantNameOrEnd
			} else if top := p.top(); top != nil {
				f.name = top.name
			}
			p.stack = append(p.stack, f)
			p.at++
		case '}', ']':
			if !p.closes(c) {
				return false
			}
		case ':':
			if p.want != wantColon {
				return false
			}
			p.want = wantValue
			p.at++
		case ',':
			if p.want != wantCommaOrEnd {
				return false
			}
			p.want = wantValue
			if p.top().bracket == '{' {
				p.want = wantName
			}
			p.at++
		default:
			if !p.scalar(c) {
				return false
			}
		}
	}
	return p.want == wantNothing
}

func (p *parser) wantsValue() bool { return p.want == wantValue || p.want == wantValueOrEnd }

func (p *parser) closes(c byte) bool {
	if len(p.stack) == 0 {
		return false
	}
	empty, other := wantValueOrEnd, byte('[')
	if c == '}' {
		empty, other = wantNameOrEnd, '{'
	}
	if p.top().bracket != other || p.want != empty && p.want != wantCommaOrEnd {
		return false
	}
	p.stack = p.stack[:len(p.stack)-1]
	p.at++
	p.valueDone()
	return true
}

// top returns the innermost object or array, nil at top level.
func (p *parser) top() *frame {
	if len(p.stack) == 0 {
		return nil
	}
	return &p.stack[len(p.stack)-1]
}

func (p *parser) valueDone() {
	p.want = wantCommaOrEnd
	if len(p.stack) == 0 {
		p.want = wantNothing
	}
}

func (p *parser) scalar(c byte) bool {
	if c == '"' && (p.want == wantName || p.want == wantNameOrEnd) {
		p.want = wantColon
		if !p.text() {
			return false
		}
		p.top().name = int32(len(p.segs))
		return true
	}
	if !p.wantsValue() {
		return false
	}
	p.valueDone()
	switch c {
	case '"':
		if !p.text() {
			return false
		}
		p.link()
		return true
	case 't':
		return p.word("true")
	case 'f':
		return p.word("false")
	case 'n':
		return p.word("null")
	}
	return p.number()
}

// link records the string that names the last string.
func (p *parser) link() {
	f, last := p.top(), int32(len(p.segs))
	if f == nil {
		return
	}
	seg := &p.segs[last-1]
	seg.name = f.name
	if f.bracket == '[' {
		seg.before, f.prev = f.prev, last
		return
	}
	switch name := p.segs[f.name-1]; string(p.src[name.begin:name.end]) {
	case "name", "key", "header", "Name", "Key":
		f.label = last
	case "value", "val", "Value":
		f.labeled = last
	default:
		return
	}
	if f.label > 0 && f.labeled > 0 {
		p.segs[f.labeled-1].name = f.label
	}
}

func (p *parser) word(w string) bool {
	if !bytes.HasPrefix(p.src[p.at:], []byte(w)) {
		return false
	}
	p.at += len(w)
	return true
}

// text reads a string.
func (p *parser) text() bool {
	src, i, escaped := p.src, p.at+1, false
	begin := i
	for ; i < len(src); i++ {
		if i = plainEnd(src, i); i == len(src) {
			return false
		}
		c := src[i]
		if c == '"' {
			p.segs = append(p.segs, segment{span: span{begin, i}, escaped: escaped})
			p.at = i + 1
			return true
		}
		if c != '\\' || i+1 == len(src) {
			return false
		}
		escaped = true
		i++
		switch src[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			if _, ok := hex4(src[i+1:]); !ok {
				return false
			}
			i += 4
		default:
			return false
		}
	}
	return false
}

// plainEnd returns the index of the first quote, backslash or control character from i on.
// It tests eight bytes at a time.
func plainEnd(src []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		hit := (w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash
		if hit &= tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(src); i++ {
		if c := src[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// number reads a number.
func (p *parser) number() bool {
	p.skip('-')
	if !p.skip('0') && !p.digits() {
		return false
	}
	if p.skip('.') && !p.digits() {
		return false
	}
	if p.skip('e') || p.skip('E') {
		if !p.skip('+') {
			p.skip('-')
		}
		return p.digits()
	}
	return true
}

func (p *parser) skip(c byte) bool {
	if p.at < len(p.src) && p.src[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) digits() bool {
	begin := p.at
	for p.at < len(p.src) && '0' <= p.src[p.at] && p.src[p.at] <= '9' {
		p.at++
	}
	return p.at > begin
}
