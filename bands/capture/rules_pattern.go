package capture

import (
	"path"
	"slices"
	"strings"
)

// pattern is a compiled pattern of Options.Exclude.
type pattern struct {
	segments []patternSegment
	dirs     bool // matches directories only
}

// patternSegment is a part of a pattern between slashes.
type patternSegment struct {
	text string
	any  bool // "**": any number of directories, including none
	// least is the length of the shortest name that the segment can match. Shorter names aren't
	// compared, so that the time for a path is bounded by its own length, whatever the length of
	// the pattern.
	least int
}

// literalPath returns the path if the pattern matches a single one, else false.
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

// newPattern parses a pattern; it returns false if the pattern can't match.
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
	// A "**" at the end matches everything in a directory, but not a file in its place. The
	// directory is left out as a whole.
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

func newSegment(text string) (patternSegment, bool) {
	if _, err := path.Match(text, ""); err != nil {
		return patternSegment{}, false
	}
	s := patternSegment{text: text, any: text == "**"}
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

func (s *patternSegment) matches(name string) bool {
	if len(name) < s.least {
		return false
	}
	ok, err := path.Match(s.text, name)
	return ok && err == nil
}

// matches reports whether the pattern matches the path. Only the last "**" is extended to more
// directories: the segments before it could not match any earlier. So the time is at most the
// product of the two lengths.
func (p *pattern) matches(path []string) bool {
	at, next := 0, 0       // in p.segments, in path
	stars, resume := -1, 0 // after the last "**", and where its match ends
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
