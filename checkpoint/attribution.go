package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Attribution records who wrote the lines of a commit. It is stored in a session's metadata under
// initial_attribution. docs/formats/attribution.md defines the figures.
type Attribution struct {
	CalculatedAt time.Time `json:"calculated_at"`
	// AgentLines is the number of added lines of all agents, not only of the session. Lines whose
	// author isn't known are neither in it nor in HumanAdded and HumanModified, but in UnknownLines.
	AgentLines      int     `json:"agent_lines"`
	HumanAdded      int     `json:"human_added"`
	HumanModified   int     `json:"human_modified"`
	HumanRemoved    int     `json:"human_removed"`
	TotalCommitted  int     `json:"total_committed"`
	AgentPercentage float64 `json:"agent_percentage"`

	// SessionLines is the number of AgentLines written by the slot's own session.
	SessionLines int `json:"session_lines"`
	UnknownLines int `json:"unknown_lines,omitempty"`
	AgentRemoved int `json:"agent_removed"`
	// AgentReplaced and HumanReplaced count removed lines that were replaced by other lines.
	AgentReplaced int `json:"agent_replaced"`
	HumanReplaced int `json:"human_replaced"`
	// AgentFiles and HumanFiles count binary files.
	AgentFiles int `json:"agent_files,omitempty"`
	HumanFiles int `json:"human_files,omitempty"`
	// Estimated reports whether some files were too large or too many to follow their lines. All of
	// such a file counts for its last author.
	Estimated bool `json:"estimated,omitempty"`
	// Turns and Writers are referred to in Files; docs/formats/authorship.md defines them.
	Turns   []Turn   `json:"turns,omitempty"`
	Writers []Writer `json:"writers,omitempty"`
	// Files holds the session's lines. It is left out if there are too many.
	Files []FileAttribution `json:"files,omitempty"`
}

// FileAttribution lists a session's changes to a file of the commit as ranges of lines, from 1,
// such as "1-4,9".
type FileAttribution struct {
	Path session.Path `json:"path"`
	// AgentRanges are lines of the commit's file that the session wrote.
	AgentRanges string `json:"agent_ranges,omitempty"`
	// ModifiedRanges are lines that a person wrote in place of other lines.
	ModifiedRanges string `json:"modified_ranges,omitempty"`
	// RemovedRanges are lines of the parent's file that the session removed.
	RemovedRanges string `json:"removed_ranges,omitempty"`

	// Blob is the commit's file. AddedRanges are all lines that the commit adds to it, empty if
	// they equal AgentRanges, and Patch is the PatchID of these lines.
	Blob        git.OID `json:"blob,omitempty"`
	AddedRanges string  `json:"added_ranges,omitempty"`
	Patch       string  `json:"patch,omitempty"`
	// Prints are the fingerprints of these lines, see FormatPrints. They identify the lines in a clone
	// that lacks the blob.
	Prints string `json:"prints,omitempty"`
	// Written holds the lines of AgentRanges by writer, see FormatWritten.
	Written string `json:"written,omitempty"`
	// Unsure are added lines whose author is unknown.
	Unsure string `json:"unsure,omitempty"`
	// Estimated reports that the lines were not followed: all belong to the last author.
	Estimated bool `json:"estimated,omitempty"`
}

// ParseAttribution parses SessionMeta.Attribution of any version, false if there is none or it
// can't be parsed.
func ParseAttribution(raw json.RawMessage) (Attribution, bool) {
	var a Attribution
	if len(raw) == 0 || json.Unmarshal(raw, &a) != nil || a.CalculatedAt.IsZero() {
		return Attribution{}, false
	}
	return a, true
}

// CountsSessions reports whether an attribution has SessionLines, which other versions don't write.
func CountsSessions(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(`"session_lines"`)) }

// mostRanges is the maximum length of an attribution with ranges of lines.
const mostRanges = 256 << 10

// Bounded is Raw with at most 256 KiB: it leaves out what is too much, the fingerprints of lines first, then
// the calls, then the files.
func (a Attribution) Bounded() (json.RawMessage, error) {
	raw, err := a.Raw()
	if err != nil || len(raw) <= mostRanges {
		return raw, err
	}
	a.Files = slices.Clone(a.Files)
	for i := range a.Files {
		a.Files[i].Prints = ""
	}
	if raw, err = a.Raw(); err != nil || len(raw) <= mostRanges {
		return raw, err
	}
	dropCalls(&a)
	if raw, err = a.Raw(); err != nil || len(raw) <= mostRanges {
		return raw, err
	}
	a.Files, a.Turns, a.Writers = nil, nil, nil
	return a.Raw()
}

// dropCalls removes the calls of an attribution that would be too long with them.
func dropCalls(out *Attribution) {
	plain := make([]Writer, 0, len(out.Writers))
	place := make([]int, len(out.Writers))
	for i, w := range out.Writers {
		w.Call = ""
		at := slices.Index(plain, w)
		if at < 0 {
			at = len(plain)
			plain = append(plain, w)
		}
		place[i] = at
	}
	out.Writers = plain
	for i, f := range out.Files {
		lines := map[int][]int{}
		for writer, ranges := range ParseWritten(f.Written) {
			for _, r := range ranges {
				for line := r.First; line <= r.Last; line++ {
					lines[place[writer]] = append(lines[place[writer]], line)
				}
			}
		}
		written := map[int]LineRanges{}
		for writer, list := range lines {
			slices.Sort(list)
			for _, line := range list {
				written[writer] = written[writer].With(line)
			}
		}
		out.Files[i].Written = FormatWritten(written)
	}
}

// Raw returns the attribution as stored in SessionMeta.Attribution.
func (a Attribution) Raw() (json.RawMessage, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode attribution: %w", err)
	}
	return data, nil
}
