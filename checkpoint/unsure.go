package checkpoint

import (
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
)

// UnsureKey is the key of lines in the note beside a commit without a checkpoint.
const UnsureKey = "Entire-Unsure"

// UnsureLines are lines of a file, some of which a session wrote, although the file is not part of
// its share (docs/formats/authorship.md).
type UnsureLines struct {
	Path string
	// Blob is the file to which the line numbers refer.
	Blob  git.OID
	Lines LineRanges
}

// String returns the lines as a line of the note.
func (u UnsureLines) String() string {
	return UnsureKey + ": " + string(u.Blob) + " " + u.Lines.String() + " " + plain.GitPath(u.Path)
}

// UnsureOf returns the unsure lines in a note. It skips malformed lines.
func UnsureOf(note string) []UnsureLines {
	var found []UnsureLines
	for line := range strings.Lines(note) {
		value, isUnsure := strings.CutPrefix(strings.TrimRight(line, "\r\n"), UnsureKey+": ")
		parts := strings.SplitN(value, " ", 3) //nolint:mnd // blob, ranges, path
		if !isUnsure || len(parts) < 3 || parts[0] == "" || parts[2] == "" {
			continue
		}
		u := UnsureLines{Path: parts[2], Blob: git.OID(parts[0]), Lines: ParseRanges(parts[1])}
		if strings.HasPrefix(u.Path, `"`) {
			path, err := strconv.Unquote(u.Path)
			if err != nil {
				continue
			}
			u.Path = path
		}
		if len(u.Lines) > 0 {
			found = append(found, u)
		}
	}
	return found
}
