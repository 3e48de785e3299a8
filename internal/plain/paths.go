package plain

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// GitPaths are file names as git has them, which may be any bytes. JSON holds only Unicode, so a name
// that is not UTF-8 or that begins with a quote is quoted as git quotes it: "\303\251.txt",
// including the quotes.
type GitPaths []string

// MarshalJSON encodes the names.
func (p GitPaths) MarshalJSON() ([]byte, error) {
	list := make([]string, len(p))
	for i, name := range p {
		list[i] = gitQuoted(name)
	}
	data, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("encode paths: %w", err)
	}
	return data, nil
}

// UnmarshalJSON decodes the names; null is the empty list.
func (p *GitPaths) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("decode paths: %w", err)
	}
	*p = nil
	for _, name := range list {
		*p = append(*p, gitUnquoted(name))
	}
	return nil
}

// GitName is a single file name, encoded as those in GitPaths.
type GitName string

// MarshalText encodes the name.
func (p GitName) MarshalText() ([]byte, error) { return []byte(gitQuoted(string(p))), nil }

// UnmarshalText decodes the name.
func (p *GitName) UnmarshalText(text []byte) error {
	*p = GitName(gitUnquoted(string(text)))
	return nil
}

func gitQuoted(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, `"`) {
		return name
	}
	return GitQuote(name)
}

// gitUnquoted is the inverse of gitQuoted. It returns malformed names unchanged.
func gitUnquoted(name string) string {
	if !strings.HasPrefix(name, `"`) {
		return name
	}
	// Git's escapes are a subset of Go's.
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}

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
