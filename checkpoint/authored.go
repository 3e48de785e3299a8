package checkpoint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Turn is a turn that wrote lines of a commit.
type Turn struct {
	ID string `json:"id,omitempty"`
	// Line is the transcript's line at which the turn begins, from 0.
	Line int `json:"line,omitempty"`
	// Title is what was asked in the turn, redacted and cut; empty if that isn't known.
	Title string `json:"title,omitempty"`
}

// NoTurn is the place of a turn that isn't known.
const NoTurn = -1

// Writer is who wrote lines within a session.
type Writer struct {
	// Turn is a place in Attribution.Turns, or NoTurn.
	Turn int `json:"turn,omitempty"`
	// Call is the id of the tool use, empty where no edit tool wrote the line.
	Call string `json:"call,omitempty"`
	// Subagent is the id of the subagent that wrote, Type its kind; empty for the session's
	// main agent.
	Subagent string `json:"subagent,omitempty"`
	Type     string `json:"type,omitempty"`
}

// LineRange is a row of lines, from 1; both ends belong to it.
type LineRange struct{ First, Last int }

// LineRanges are ranges in ascending order, apart from each other.
type LineRanges []LineRange

// maxLine bounds the lines of a range that is read.
const maxLine = 1 << 30

// ParseRanges reads ranges like "1-4,9". What is no range, or not in order, is left out.
func ParseRanges(s string) LineRanges {
	var r LineRanges
	last := 0
	for part := range strings.SplitSeq(s, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		first, errA := strconv.Atoi(from)
		end, errB := strconv.Atoi(to)
		if errA != nil || errB != nil || first <= last || end < first || end > maxLine {
			continue
		}
		r, last = append(r, LineRange{first, end}), end
	}
	return r
}

// With returns r with another line, which is behind all that it has.
func (r LineRanges) With(line int) LineRanges {
	if n := len(r); n > 0 && r[n-1].Last+1 == line {
		r[n-1].Last = line
		return r
	}
	return append(r, LineRange{line, line})
}

// String writes the ranges: "1-4,9".
func (r LineRanges) String() string {
	parts := make([]string, len(r))
	for i, one := range r {
		parts[i] = strconv.Itoa(one.First)
		if one.Last > one.First {
			parts[i] += "-" + strconv.Itoa(one.Last)
		}
	}
	return strings.Join(parts, ",")
}

// Len returns the number of lines.
func (r LineRanges) Len() int {
	n := 0
	for _, one := range r {
		n += one.Last - one.First + 1
	}
	return n
}

// Has reports whether a line is in the ranges.
func (r LineRanges) Has(line int) bool {
	_, found := r.Place(line)
	return found
}

// Place returns how many lines of the ranges are before a line that is in them.
func (r LineRanges) Place(line int) (before int, found bool) {
	for _, one := range r {
		if line < one.First {
			return 0, false
		}
		if line <= one.Last {
			return before + line - one.First, true
		}
		before += one.Last - one.First + 1
	}
	return 0, false
}

// At returns the line that has so many lines of the ranges before it.
func (r LineRanges) At(place int) (line int, found bool) {
	for _, one := range r {
		n := one.Last - one.First + 1
		if place < n {
			return one.First + place, place >= 0
		}
		place -= n
	}
	return 0, false
}

// FormatWritten writes the ranges of writers, by their places in Attribution.Writers:
// "0=1-4,9;2=12".
func FormatWritten(by map[int]LineRanges) string {
	var parts []string
	for writer, r := range by {
		if len(r) > 0 {
			parts = append(parts, strconv.Itoa(writer)+"="+r.String())
		}
	}
	slices.SortFunc(parts, func(a, b string) int { return cmp.Compare(writerOf(a), writerOf(b)) })
	return strings.Join(parts, ";")
}

// ParseWritten reads what FormatWritten wrote. What is not of that form is left out.
func ParseWritten(s string) map[int]LineRanges {
	by := map[int]LineRanges{}
	for part := range strings.SplitSeq(s, ";") {
		_, ranges, ok := strings.Cut(part, "=")
		if writer := writerOf(part); ok && writer >= 0 && by[writer] == nil {
			if r := ParseRanges(ranges); len(r) > 0 {
				by[writer] = r
			}
		}
	}
	return by
}

// writerOf returns the number before "=", -1 if there is none.
func writerOf(part string) int {
	number, _, _ := strings.Cut(part, "=")
	n, err := strconv.Atoi(number)
	if err != nil || strconv.Itoa(n) != number {
		return -1
	}
	return n
}

// PatchID returns the digest of the lines that a commit adds to a file: 16 hex digits.
// Each of them has its newline, but for a last one without.
func PatchID(added [][]byte) string {
	const digits = 16
	h := sha256.New()
	for _, line := range added {
		h.Write(line)
	}
	return hex.EncodeToString(h.Sum(nil))[:digits]
}

// SlotName is the name, as git takes one, of the metadata of a session in a checkpoint, by
// the number of its slot. v1Tree is a tree of the metadata branch.
func SlotName(v1Tree git.OID, id ID, slot int) string {
	return string(v1Tree) + ":" + id.Dir() + "/" + strconv.Itoa(slot) + "/" + metadataFile
}

// ParseSession reads the metadata of a session that SlotName names. Its ids are well formed
// or empty.
func ParseSession(data []byte) (SessionMeta, error) {
	m, err := decodeSession(data)
	return m.checked(), err
}
