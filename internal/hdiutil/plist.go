package hdiutil

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var errPlist = errors.New("not a property list")

// maxDepth is the maximum nesting of a property list.
const maxDepth = 32

// parsePlist parses a property list in its XML form (Apple's PropertyList-1.0.dtd): dictionaries
// become map[string]any, arrays []any, integers int64, true and false bool, and all others strings.
func parsePlist(r io.Reader) (any, error) {
	p := plistParser{xml.NewDecoder(r)}
	start, err := p.next()
	if err != nil {
		return nil, err
	}
	if start == nil || start.Name.Local != "plist" {
		return nil, errPlist
	}
	if start, err = p.next(); err != nil {
		return nil, err
	}
	if start == nil {
		return nil, errPlist
	}
	return p.value(start, 0)
}

type plistParser struct{ *xml.Decoder }

// next returns the next start element, or nil at the end of the enclosing one.
func (p plistParser) next() (*xml.StartElement, error) {
	for {
		token, err := p.Token()
		if errors.Is(err, io.EOF) {
			return nil, errPlist
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errPlist, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			return &t, nil
		case xml.EndElement:
			return nil, nil //nolint:nilnil // the end
		}
	}
}

func (p plistParser) value(start *xml.StartElement, depth int) (any, error) {
	if depth == maxDepth {
		return nil, fmt.Errorf("%w: nested too deep", errPlist)
	}
	switch start.Name.Local {
	case "dict":
		return p.dict(depth)
	case "array":
		var list []any
		for {
			inner, err := p.next()
			if err != nil || inner == nil {
				return list, err
			}
			value, err := p.value(inner, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
	}
	var text string
	if err := p.DecodeElement(&text, start); err != nil {
		return nil, fmt.Errorf("%w: %w", errPlist, err)
	}
	switch start.Name.Local {
	case "integer":
		n, err := strconv.ParseInt(strings.TrimSpace(text), 0, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errPlist, err)
		}
		return n, nil
	case "true", "false":
		return start.Name.Local == "true", nil
	}
	return text, nil
}

func (p plistParser) dict(depth int) (map[string]any, error) {
	dict := map[string]any{}
	for {
		start, err := p.next()
		if err != nil || start == nil {
			return dict, err
		}
		var key string
		if start.Name.Local != "key" {
			return nil, fmt.Errorf("%w: a dictionary has %s in the place of a key", errPlist, start.Name.Local)
		}
		if err := p.DecodeElement(&key, start); err != nil {
			return nil, fmt.Errorf("%w: %w", errPlist, err)
		}
		if start, err = p.next(); err != nil {
			return nil, err
		}
		if start == nil {
			return nil, fmt.Errorf("%w: key %q has no value", errPlist, key)
		}
		if dict[key], err = p.value(start, depth+1); err != nil {
			return nil, err
		}
	}
}

func dictOf(value any) map[string]any { dict, _ := value.(map[string]any); return dict }
func listOf(value any) []any          { list, _ := value.([]any); return list }
func stringOf(value any) string       { text, _ := value.(string); return text }
