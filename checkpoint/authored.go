package checkpoint

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Turn is a turn that wrote lines of a commit.
type Turn struct {
	ID string `json:"id,omitempty"`
	// Line is the transcript's line at which the turn begins, from 0.
	Line int `json:"line,omitempty"`
	// Title is the request of the turn, redacted and cut; empty if unknown.
	Title string `json:"title,omitempty"`
}

// NoTurn is the index of an unknown turn.
const NoTurn = -1

// Writer is an author of lines within a session.
type Writer struct {
	// Turn is an index in Attribution.Turns, or NoTurn.
	Turn int `json:"turn,omitempty"`
	// Call is the id of the tool use, empty if no edit tool wrote the line.
	Call string `json:"call,omitempty"`
	// Subagent is the id of the subagent, Type its kind; both are empty for the session's main
	// agent.
	Subagent string `json:"subagent,omitempty"`
	Type     string `json:"type,omitempty"`
}

// LineRange is a range of lines, from 1, including both ends.
type LineRange struct{ First, Last int }

// LineRanges are ranges in ascending order with gaps between them.
type LineRanges []LineRange

// maxLine is the largest line number that ParseRanges accepts.
const maxLine = 1 << 30

// ParseRanges parses ranges like "1-4,9". It skips invalid ranges and ranges out of order.
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

// With returns r with another line, which must be after the last one. It may modify r.
func (r LineRanges) With(line int) LineRanges {
	if n := len(r); n > 0 && r[n-1].Last+1 == line {
		r[n-1].Last = line
		return r
	}
	return append(r, LineRange{line, line})
}

// String returns the ranges in the form "1-4,9".
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

// Place returns the number of lines of r before a line, false if the line is not in r.
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

// At returns the line that has place lines of the ranges before it.
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

// FormatWritten formats the ranges of writers, given by their indexes in Attribution.Writers:
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

// ParseWritten parses the result of FormatWritten. It skips malformed parts.
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

// PatchID returns a digest of the lines that a commit adds to a file: 16 hex digits. Each line
// includes its newline; the last one may lack it.
func PatchID(added [][]byte) string {
	const digits = 16
	h := sha256.New()
	for _, line := range added {
		h.Write(line)
	}
	return hex.EncodeToString(h.Sum(nil))[:digits]
}

// Print returns the fingerprint of a line: the 32-bit FNV-1a hash of its bytes without the ASCII white
// space around them.
func Print(line []byte) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(bytes.Trim(line, " \t\r\n\v\f")) // never fails
	return h.Sum32()
}

// FormatPrints returns fingerprints as base64 without padding, four bytes each, the most significant
// one first.
func FormatPrints(prints []uint32) string {
	data := make([]byte, 0, 4*len(prints)) //nolint:mnd // bytes of a uint32
	for _, p := range prints {
		data = binary.BigEndian.AppendUint32(data, p)
	}
	return base64.RawStdEncoding.EncodeToString(data)
}

// ParsePrints parses the result of FormatPrints; nil if it is malformed.
func ParsePrints(s string) []uint32 {
	const size = 4
	data, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil || len(data)%size != 0 || len(data) == 0 {
		return nil
	}
	prints := make([]uint32, 0, len(data)/size)
	for ; len(data) > 0; data = data[size:] {
		prints = append(prints, binary.BigEndian.Uint32(data))
	}
	return prints
}

// HidePrints returns the metadata of a session with zeros in place of the fingerprints of lines, at the same
// length. They are as random as secrets are.
func HidePrints(metadata []byte) []byte {
	hidden := bytes.Clone(metadata)
	for _, at := range printsMember().FindAllSubmatchIndex(hidden, -1) {
		if value := hidden[at[2]:at[3]]; ParsePrints(string(value)) != nil {
			copy(value, bytes.Repeat([]byte("0"), len(value)))
		}
	}
	return hidden
}

// printsMember matches the fingerprints in the metadata of a session. They are never the first member of an
// object, and no text in JSON contains the quotes around their key.
func printsMember() *regexp.Regexp { return regexp.MustCompile(`,\s*"prints":\s*"([A-Za-z0-9+/]*)"`) }

// withoutPrints removes the fingerprints from the metadata of a session.
func withoutPrints(metadata []byte) []byte { return printsMember().ReplaceAll(metadata, nil) }

// ParseSession parses the metadata of a session, read from a Source.Slot. Its ids are well formed or
// empty.
func ParseSession(data []byte) (SessionMeta, error) {
	m, err := decodeSession(data)
	return m.checked(), err
}
