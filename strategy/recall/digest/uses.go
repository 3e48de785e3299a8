package digest

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// Use counts the session's edits and reads of a file.
type Use struct {
	Path  string `json:"path"`
	Edits int    `json:"edits,omitempty"`
	Reads int    `json:"reads,omitempty"`
	// Subagents is the number of those by subagents.
	Subagents int `json:"subagents,omitempty"`
	// Request is the number of requests at the last use. Line is the number of lines of the
	// conversation at the last use or the last mention of the file's name.
	Request int `json:"request,omitempty"`
	Line    int `json:"line,omitempty"`
}

// useFile records that the session edited or read a file.
func (d *Digest) useFile(path string, edits, reads int) {
	if n := len(d.Requests); n > 0 {
		d.Requests[n-1].Edits += edits
	}
	d.use(Use{Path: path, Edits: edits, Reads: reads})
}

// use adds the counts of a use to those of its file.
func (d *Digest) use(u Use) {
	if i := slices.IndexFunc(d.Uses, func(old Use) bool { return old.Path == u.Path }); i >= 0 {
		old := d.Uses[i]
		u.Edits, u.Reads, u.Subagents = u.Edits+old.Edits, u.Reads+old.Reads, u.Subagents+old.Subagents
		d.Uses = slices.Delete(d.Uses, i, i+1)
	}
	u.Request, u.Line = d.Asks, d.Lines
	const fields = 100 // their names, and the numbers
	d.Uses = plain.Last(append(d.Uses, u), plain.Bound{Items: 80, Bytes: 8 << 10}, func(u Use) int { return plain.JSONSize(u.Path) + fields })
}

// readFile records that the session read a file.
func (d *Digest) readFile(path string) {
	if path != "" && !ownFile(path) {
		d.Read = plain.Append(d.Read, path, plain.Bound{Items: 120, Bytes: 12 << 10})
		d.useFile(path, 0, 1)
	}
}

// named records the files whose names occur in the first 6 KiB of a line of the
// conversation. It does not find names without a dot.
func (d *Digest) named(line []byte) {
	const longest = 6 << 10
	if len(d.Uses) == 0 {
		return
	}
	line = line[:min(len(line), longest)]
	for at := 0; ; {
		dot := bytes.IndexByte(line[at:], '.')
		if dot < 0 {
			return
		}
		begin, end := at+dot, at+dot+1
		for begin > at && isNameByte(line[begin-1]) {
			begin--
		}
		if begin > at && begin > 0 && line[begin-1] == '\\' {
			begin++ // the letter of an escape
		}
		for end < len(line) && (isNameByte(line[end]) || line[end] == '.') {
			end++
		}
		at = end
		name := string(bytes.TrimRight(line[begin:end], "."))
		for i := range d.Uses {
			path := d.Uses[i].Path
			if dir := len(path) - len(name); dir > 0 && path[dir-1] == filepath.Separator && path[dir:] == name {
				d.Uses[i].Line = d.Lines
			}
		}
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// isTest reports whether a file is a test, by the conventions of its language.
func isTest(path string) bool {
	base := filepath.Base(path)
	name, _, _ := strings.Cut(base, ".")
	return strings.HasSuffix(name, "_test") || strings.HasSuffix(name, "_spec") || strings.HasPrefix(name, "test_") || containsAny(base, ".test.", ".spec.") ||
		strings.HasSuffix(name, "Test") || strings.HasSuffix(name, "Tests") || containsAny("/"+filepath.ToSlash(path), "/test/", "/tests/", "/__tests__/", "/testdata/", "/spec/", "/e2e/")
}
