package ownrules

import (
	"bytes"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// keyAfterHead finds the lines of a private key after its first line, with or without its
// last line.
func keyAfterHead(text []byte, at, end int) Span {
	begin := max(0, at-64)
	head := bytes.LastIndex(text[begin:at], []byte("-----"))
	if head < 0 || !bytes.HasPrefix(text[begin+head:], []byte("-----BEGIN ")) {
		return Span{}
	}
	stop := keyLines(text, end)
	if stop-end < 32 {
		return Span{}
	}
	return Span{begin + head, stop}
}

// keyLines returns the end of the base64 lines from i on. They may be numbered or quoted,
// and their line breaks may be escaped.
func keyLines(text []byte, i int) int {
	end := i
	for i < len(text) {
		line := skip(text, i, " \t\r\n\"'+>|")
		line = skip(text, line, "0123456789") // a line number
		switch {
		case bytes.HasPrefix(text[line:], []byte("→")):
			line += len("→")
		case line < len(text) && (text[line] == '\t' || text[line] == ':'):
			line++
		default:
			line = skip(text, i, " \t\r\n\"'>|")
		}
		if bytes.HasPrefix(text[line:], []byte(`\n`)) || bytes.HasPrefix(text[line:], []byte(`\r`)) {
			i = line + 2
			continue
		}
		stop := chars.RunEnd(text, line, 1<<16, func(b byte) bool { return chars.IsAlnum(b) || b == '+' || b == '/' || b == '=' })
		if stop-line < 16 && (stop == line || end == 0 || text[stop-1] != '=') {
			if header := keyHeader(text, line); header > line {
				i = header
				continue
			}
			return end
		}
		end, i = stop, stop
	}
	return end
}

// keyHeader returns the end of a header line of a key, or line.
func keyHeader(text []byte, line int) int {
	for _, h := range []string{"Proc-Type:", "DEK-Info:", "Version:", "Comment:"} {
		if bytes.HasPrefix(text[line:], []byte(h)) {
			return chars.RunEnd(text, line, 200, func(b byte) bool { return b != '\n' && b != '\\' })
		}
	}
	return line
}

// keyBeforeTail finds the lines of a private key before its last line.
func keyBeforeTail(text []byte, at, end int) Span {
	header, _, closed := bytes.Cut(text[end:min(len(text), end+64)], []byte("-----"))
	if !closed || !bytes.Contains(header, []byte("PRIVATE KEY")) {
		return Span{}
	}
	begin, i := at, at
	if i > 1 && text[i-1] == '+' && text[i-2] == '\n' {
		i-- // an added line of a diff
	}
	for n := 0; i > 0; n++ {
		for i > 0 && (chars.IsSpace(text[i-1]) || chars.IsQuote(text[i-1])) {
			i--
		}
		if i > 1 && text[i-1] == 'n' && text[i-2] == '\\' {
			i -= 2
			continue
		}
		line := i
		for line > 0 && (chars.IsAlnum(text[line-1]) || text[line-1] == '+' || text[line-1] == '/' || text[line-1] == '=') {
			line--
		}
		if line > 0 && text[line-1] == '\\' && i-line > 1 && text[line] == 'n' {
			line++ // the n of an escaped line break
		}
		if i-line < 16 && (n > 0 || i-line < 2) {
			break
		}
		begin, i = line, beforeLineNumber(text, line)
	}
	if at-begin < 32 {
		return Span{}
	}
	return Span{begin, at}
}

// beforeLineNumber returns the start of the line number before i, or i if there is none.
func beforeLineNumber(text []byte, i int) int {
	for _, mark := range []string{"→", "\t", ":"} {
		if bytes.HasSuffix(text[:i], []byte(mark)) {
			k := i - len(mark)
			for k > 0 && chars.IsDigit(text[k-1]) {
				k--
			}
			return k
		}
	}
	return i
}

// puttyKey finds the private lines of a PuTTY key.
func puttyKey(text []byte, _, end int) Span {
	i := skip(text, end, " ")
	i = skip(text, i, "0123456789")
	stop := keyLines(text, i)
	if stop-i < 16 {
		return Span{}
	}
	return Span{i, stop}
}
