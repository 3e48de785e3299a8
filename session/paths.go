package session

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// Paths are file names as git has them, which may be any bytes. JSON holds only Unicode, so a name
// that is not UTF-8 or that begins with a quote is quoted as git quotes it: "\303\251.txt",
// including the quotes.
type Paths []string

// MarshalJSON encodes the names.
func (p Paths) MarshalJSON() ([]byte, error) {
	quoted := make([]string, len(p))
	for i, name := range p {
		quoted[i] = quotePath(name)
	}
	data, err := json.Marshal(quoted)
	if err != nil {
		return nil, fmt.Errorf("encode paths: %w", err)
	}
	return data, nil
}

// UnmarshalJSON decodes the names; null is the empty list.
func (p *Paths) UnmarshalJSON(data []byte) error {
	var quoted []string
	if err := json.Unmarshal(data, &quoted); err != nil {
		return fmt.Errorf("decode paths: %w", err)
	}
	*p = nil
	for _, name := range quoted {
		*p = append(*p, unquotePath(name))
	}
	return nil
}

// Path is a single file name, encoded as those in Paths.
type Path string

// MarshalText encodes the name.
func (p Path) MarshalText() ([]byte, error) { return []byte(quotePath(string(p))), nil }

// UnmarshalText decodes the name.
func (p *Path) UnmarshalText(text []byte) error {
	*p = Path(unquotePath(string(text)))
	return nil
}

func quotePath(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, `"`) {
		return name
	}
	return plain.GitQuote(name)
}

// unquotePath is the inverse of quotePath. It returns malformed names unchanged.
func unquotePath(name string) string {
	if !strings.HasPrefix(name, `"`) {
		return name
	}
	// Git's escapes are a subset of Go's.
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}
