package plain

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// GitPath returns the path, quoted if it has control bytes, quotes or backslashes, or isn't UTF-8.
// Within quotes everything but printable ASCII is written in octal.
func GitPath(path string) string {
	plain := utf8.ValidString(path)
	for i := 0; plain && i < len(path); i++ {
		plain = path[i] >= ' ' && path[i] != '"' && path[i] != '\\' && path[i] != 0x7f
	}
	if plain {
		return path
	}
	return GitQuote(path)
}

// GitQuote returns the path in quotes even if it doesn't need them.
func GitQuote(path string) string {
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
