// Package cquote writes paths as git does in its output and reads them in its input:
// as they are, or in the quotes of C.
package cquote

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Path returns the path, in quotes if it has control bytes, quotes or backslashes, or isn't
// UTF-8. Within quotes all but printable ASCII is in octal.
func Path(path string) string {
	plain := utf8.ValidString(path)
	for i := 0; plain && i < len(path); i++ {
		plain = path[i] >= ' ' && path[i] != '"' && path[i] != '\\' && path[i] != 0x7f
	}
	if plain {
		return path
	}
	return Quote(path)
}

// Quote returns the path in quotes, whatever it holds.
func Quote(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
