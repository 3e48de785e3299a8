package checkpoint

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Attribution is who wrote the lines of a commit, as it is in a session's
// metadata under initial_attribution. docs/formats/attribution.md defines the
// figures.
type Attribution struct {
	CalculatedAt time.Time `json:"calculated_at"`
	// AgentLines are the added lines of all agents, not only of the session.
	AgentLines      int     `json:"agent_lines"`
	HumanAdded      int     `json:"human_added"`
	HumanModified   int     `json:"human_modified"`
	HumanRemoved    int     `json:"human_removed"`
	TotalCommitted  int     `json:"total_committed"`
	AgentPercentage float64 `json:"agent_percentage"`

	// SessionLines are those of AgentLines that the slot's own session wrote.
	SessionLines int `json:"session_lines"`
	AgentRemoved int `json:"agent_removed"`
	// AgentReplaced and HumanReplaced are removed lines in whose place another
	// line is.
	AgentReplaced int `json:"agent_replaced"`
	HumanReplaced int `json:"human_replaced"`
	// AgentFiles and HumanFiles count binary files.
	AgentFiles int `json:"agent_files,omitempty"`
	HumanFiles int `json:"human_files,omitempty"`
	// Estimated reports whether some files were too large or too many to follow their
	// lines: all of such a file counts for the one who changed it last.
	Estimated bool `json:"estimated,omitempty"`
	// Turns and Writers are what Files refers to: docs/formats/authorship.md defines them.
	Turns   []Turn   `json:"turns,omitempty"`
	Writers []Writer `json:"writers,omitempty"`
	// Files are the session's lines, left out where they are too many.
	Files []FileAttribution `json:"files,omitempty"`
}

// FileAttribution lists by ranges of lines, from 1, like "1-4,9", what a session
// did to a file of the commit.
type FileAttribution struct {
	Path session.Path `json:"path"`
	// AgentRanges are lines of the commit's file that the session wrote.
	AgentRanges string `json:"agent_ranges,omitempty"`
	// ModifiedRanges are lines that a person wrote in the place of others.
	ModifiedRanges string `json:"modified_ranges,omitempty"`
	// RemovedRanges are lines of the parent's file that the session removed.
	RemovedRanges string `json:"removed_ranges,omitempty"`

	// Blob is the commit's file, AddedRanges all lines that the commit adds to it, empty if
	// they are AgentRanges, and Patch what PatchID returns for them.
	Blob        git.OID `json:"blob,omitempty"`
	AddedRanges string  `json:"added_ranges,omitempty"`
	Patch       string  `json:"patch,omitempty"`
	// Written are the lines of AgentRanges by writer, see FormatWritten.
	Written string `json:"written,omitempty"`
	// Unsure are added lines of which it isn't known who wrote them.
	Unsure string `json:"unsure,omitempty"`
	// Estimated reports that the lines were not followed: all are whose the last state is.
	Estimated bool `json:"estimated,omitempty"`
}

// ParseAttribution reads SessionMeta.Attribution of any version; false if there
// is none that can be read.
func ParseAttribution(raw json.RawMessage) (Attribution, bool) {
	var a Attribution
	if len(raw) == 0 || json.Unmarshal(raw, &a) != nil || a.CalculatedAt.IsZero() {
		return Attribution{}, false
	}
	return a, true
}

// Raw is the attribution as SessionMeta.Attribution holds it.
func (a Attribution) Raw() (json.RawMessage, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode attribution: %w", err)
	}
	return data, nil
}
