package format

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// CheckpointJSON is the JSON of a snapshot. The first three keys are the ones that scripts for
// other tools of this kind read.
type CheckpointJSON struct {
	Version   string    `json:"version"`
	Message   string    `json:"message"`
	CreatedAt time.Time `json:"created_at"`

	Cause  string `json:"cause"`
	Parent string `json:"parent,omitempty"`
	Root   string `json:"root"`
	Late   bool   `json:"late,omitempty"`
	*countsJSON
	Agent    string            `json:"agent,omitempty"`
	Session  string            `json:"session_id,omitempty"`
	Action   string            `json:"action,omitempty"`
	Prompt   string            `json:"prompt,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Commit   string            `json:"commit,omitempty"`
	Branch   string            `json:"branch,omitempty"`
	Pairs    []pairJSON        `json:"pairs"`
	// TakenBack reports that a restore took it back; only lists have it.
	TakenBack bool `json:"taken_back,omitempty"`
}

// TakenBack marks a turn or a snapshot that a rewind took back.
const TakenBack = "taken back"

// countsJSON are the counts of a snapshot, which a volume's doesn't have.
type countsJSON struct {
	Files   int64 `json:"files"`
	Dirs    int64 `json:"dirs"`
	Unknown int64 `json:"unknown"`
	Bytes   int64 `json:"bytes"`
	Added   int64 `json:"added_bytes"`
}

type pairJSON struct {
	Checkpoint string `json:"checkpoint_id"`
	Commit     string `json:"commit"`
	Late       bool   `json:"late,omitempty"`
}

// NewCheckpointJSON returns the JSON of a snapshot.
func NewCheckpointJSON(s bands.Snapshot) CheckpointJSON {
	pairs := make([]pairJSON, 0, len(s.Pairs))
	for _, p := range s.Pairs {
		pairs = append(pairs, pairJSON{Checkpoint: p.Checkpoint, Commit: p.Commit, Late: p.Late})
	}
	c := CheckpointJSON{
		Version: s.Version.String(), Message: s.Message, CreatedAt: UTC(s.Created),
		Cause: string(s.Cause), Root: s.Root, Late: s.Late,
		Agent: s.Causality.Agent, Session: s.Causality.Session, Action: s.Causality.Action, Prompt: s.Causality.Prompt,
		Metadata: s.Causality.Metadata, Commit: s.Causality.Commit, Branch: s.Causality.Branch, Pairs: pairs,
	}
	if s.Volume == "" {
		c.countsJSON = &countsJSON{Files: s.Totals.Files, Dirs: s.Totals.Dirs, Unknown: s.Totals.Unknown, Bytes: s.Totals.Bytes, Added: s.Added}
	}
	if s.Parent != 0 {
		c.Parent = s.Parent.String()
	}
	return c
}

// TurnText describes the turn before or after which a snapshot was taken, by its prompt; "" if it
// was taken for another reason or the prompt is unknown.
func TurnText(s bands.Snapshot) string {
	if s.Causality.Prompt == "" || s.Message != string(s.Cause) {
		return ""
	}
	switch s.Cause {
	case bands.Prompt:
		return "before" + Quoted(s.Causality.Prompt)
	case bands.Auto:
		return "after" + Quoted(s.Causality.Prompt)
	case bands.Named, bands.Commit, bands.Rescue:
	}
	return ""
}

// PairText lists the commits that a snapshot is paired with, and their checkpoints.
func PairText(s bands.Snapshot) string {
	texts := make([]string, 0, len(s.Pairs))
	for _, p := range s.Pairs {
		text := fmt.Sprintf("%.7s (%s)", p.Commit, p.Checkpoint)
		if p.Late {
			text += " late"
		}
		texts = append(texts, text)
	}
	return ui.Line(strings.Join(texts, ", "), MessageWidth)
}

// DamageText describes n damaged records in the output of status.
func DamageText(n int) string {
	return ui.Plural(n, "record") + " of the store can't be read; `verify` lists the affected files."
}

// LinkingText describes how snapshots share content.
func LinkingText(how string) string {
	switch disk.Linking(how) {
	case disk.Reflink:
		return "reflinks"
	case disk.Hardlink:
		return "hard links"
	default:
		return "copies (the file system has neither reflinks nor hard links)"
	}
}
