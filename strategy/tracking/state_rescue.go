package tracking

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// SessionsBefore holds the states of a worktree's sessions before a rewind. It is stored
// beside the rescue snapshot of the tree: a rewind to that snapshot restores them, too.
type SessionsBefore struct {
	Sessions []SnapshotSession `json:"sessions"`
	// Transcripts are the transcripts that were replaced after the rescue.
	Transcripts []ReplacedTranscript `json:"transcripts,omitempty"`
	// Completed reports whether the rewind has restored the sessions after the files.
	Completed bool `json:"followed,omitempty"`
}

// ReplacedTranscript is a transcript that a rewind replaced, as recorded in the file
// sessions.json of its rescue, so that --undo can restore it.
type ReplacedTranscript struct {
	Session string `json:"session_id"`
	Path    string `json:"path"`
	// Copy is the path of the kept former transcript.
	Copy string `json:"copy"`
	// Size and Hash, a SHA-256, describe the replacement.
	Size int64  `json:"size"`
	Hash string `json:"sha256"`
}

func sessionsBeforePath(store *bands.Store, v bands.Version) string {
	return filepath.Join(store.SnapshotDir(v), "sessions.json")
}

// ReadSessionsBefore returns the record beside a rescue snapshot, and the zero value for any
// other snapshot.
func ReadSessionsBefore(store *bands.Store, v bands.Version) (p SessionsBefore, err error) {
	if _, err := disk.ReadJSON(sessionsBeforePath(store, v), &p); err != nil {
		return p, fmt.Errorf("%s: %w", sessionsBeforePath(store, v), err)
	}
	return p, nil
}

// WriteSessionsBefore writes the record beside a rescue snapshot.
func WriteSessionsBefore(store *bands.Store, v bands.Version, p SessionsBefore) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return disk.WriteDurable(sessionsBeforePath(store, v), append(data, '\n'), 0o600)
}

// HasSessionsBefore reports whether a rescue snapshot has that record, which is written before
// the rewind changes any session.
func HasSessionsBefore(store *bands.Store, v bands.Version) bool {
	_, err := os.Lstat(sessionsBeforePath(store, v))
	return err == nil
}

// HeldRefs is the prefix of the refs that keep the commits left by rewinds and resets.
const HeldRefs = "refs/entire/rewind/"

// HeldRef returns the ref that keeps the shadow commits left by a rewind, so that git's gc
// doesn't remove them.
func HeldRef(lineage string, rescue bands.Version) string {
	return HeldRefs + lineage + "-" + rescue.String()
}
