package rules

import (
	"path"
	"slices"
	"strings"
)

// pattern is one of Options.Exclude, taken apart.
type pattern struct {
	segments []segment
	dirs     bool // matches directories only
}

// segment is a part of a pattern between slashes.
type segment struct {
	text string
	any  bool // "**": any number of directories, none too
	// least is the length of the shortest name that the segment can match. A name
	// that is shorter isn't compared, so that the time for a path is bounded by its
	// own length however long the pattern is.
	least int
}

// literalPath is the one path that a pattern is about, if there is only one.
func literalPath(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "/")
	var p strings.Builder
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			if i++; i == len(rest) {
				return "", false
			}
		}
		p.WriteByte(rest[i])
	}
	return p.String(), ok && rest != "" && !strings.HasSuffix(rest, "/")
}

// newPattern parses a pattern; it reports false if nothing can match it.
func newPattern(text string) (pattern, bool) {
	p := pattern{dirs: strings.HasSuffix(text, "/")}
	text = strings.TrimSuffix(text, "/")
	rooted := strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return pattern{}, false
	}
	parts := strings.Split(text, "/")
	if !rooted {
		parts = slices.Insert(parts, 0, "**")
	}
	// A "**" at the end is about all that is in a directory, not about a file in its
	// place. The directory is left out as one.
	end := len(parts)
	for end > 0 && parts[end-1] == "**" {
		end--
	}
	switch {
	case end == len(parts):
	case end == 0 || p.dirs:
		parts = append(parts[:end], "**", "*")
	default:
		parts, p.dirs = parts[:end], true
	}
	for _, part := range parts {
		s, ok := newSegment(part)
		if !ok {
			return pattern{}, false
		}
		p.segments = append(p.segments, s)
	}
	return p, true
}

func newSegment(text string) (segment, bool) {
	if _, err := path.Match(text, ""); err != nil {
		return segment{}, false
	}
	s := segment{text: text, any: text == "**"}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*':
			continue
		case '\\':
			i++
		case '[':
			for i++; i < len(text) && text[i] != ']'; i++ { // to the end of the class
				if text[i] == '\\' {
					i++
				}
			}
		}
		s.least++
	}
	return s, true
}

func (s *segment) matches(name string) bool {
	if len(name) < s.least {
		return false
	}
	ok, err := path.Match(s.text, name)
	return ok && err == nil
}

// matches reports whether the pattern is about the path. Only the last "**" is ever
// given more directories: what matched before it would match in no better place. So
// the time is at most the product of the two lengths.
func (p *pattern) matches(path []string) bool {
	at, next := 0, 0       // in p.segments, in path
	stars, resume := -1, 0 // behind the last "**", and where it ended
	for next < len(path) {
		switch {
		case at < len(p.segments) && p.segments[at].any:
			at++
			stars, resume = at, next
		case at < len(p.segments) && p.segments[at].matches(path[next]):
			at++
			next++
		case stars < 0:
			return false
		default:
			resume++
			at, next = stars, resume
		}
	}
	for at < len(p.segments) && p.segments[at].any {
		at++
	}
	return at == len(p.segments)
}
