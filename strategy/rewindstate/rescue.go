package rewindstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// SessionsBefore is what the sessions of a worktree were before a rewind, kept beside
// the rescue snapshot of its tree: a rewind to that snapshot restores them too.
type SessionsBefore struct {
	Sessions []Session `json:"sessions"`
	// Transcripts are those that were replaced after the rescue.
	Transcripts []ReplacedTranscript `json:"transcripts,omitempty"`
	// Completed reports whether the rewind has restored the sessions after the files.
	Completed bool `json:"followed,omitempty"`
}

// ReplacedTranscript is a transcript that a rewind replaced, in the file
// sessions.json of its rescue, by which --undo puts it back.
type ReplacedTranscript struct {
	Session string `json:"session_id"`
	Path    string `json:"path"`
	// Copy is where the former one is kept.
	Copy string `json:"copy"`
	// Size and Hash, a SHA-256, are of what took its place.
	Size int64  `json:"size"`
	Hash string `json:"sha256"`
}

func sessionsBeforePath(store *bands.Store, v bands.Version) string {
	return filepath.Join(store.SnapshotDir(v), "sessions.json")
}

// ReadSessionsBefore returns what was kept beside a rescue snapshot, and the zero
// value for any other snapshot.
func ReadSessionsBefore(store *bands.Store, v bands.Version) (p SessionsBefore, err error) {
	data, err := disk.ReadFile(sessionsBeforePath(store, v))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, fmt.Errorf("%s: %w", sessionsBeforePath(store, v), err)
	}
	return p, nil
}

// WriteSessionsBefore keeps what the sessions are beside a rescue snapshot.
func WriteSessionsBefore(store *bands.Store, v bands.Version, p SessionsBefore) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return disk.WriteDurable(sessionsBeforePath(store, v), append(data, '\n'), 0o600)
}

// HasSessionsBefore reports whether the sessions were kept beside a rescue snapshot. They
// are, before the rewind changes any.
func HasSessionsBefore(store *bands.Store, v bands.Version) bool {
	_, err := os.Lstat(sessionsBeforePath(store, v))
	return err == nil
}

// HeldRefs is the prefix of the refs that hold shadow commits which rewinds left.
const HeldRefs = "refs/entire/rewind/"

// HeldRef is the ref that holds the shadow commits which a rewind left, so that git's
// gc keeps them.
func HeldRef(lineage string, rescue bands.Version) string {
	return HeldRefs + lineage + "-" + rescue.String()
}
