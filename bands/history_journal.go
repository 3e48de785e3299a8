package bands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// Operation is the kind of operation of a journal.
type Operation string

// The operations.
const (
	OpRestore Operation = "restore"
	OpUndo    Operation = "undo"
	OpRedo    Operation = "redo"
)

// journalFormat is the format of journals and histories.
const journalFormat = 1

// Journal describes a restore in progress. It exists until the restore has ended: if its process
// has exited, the tree may be half restored.
type Journal struct {
	Format  int       `json:"format"`
	Op      Operation `json:"op"`
	Lineage string    `json:"lineage"`
	Root    string    `json:"root"`
	// Target is the version that the tree was to become, Rescue the tree before the first
	// interrupted restore.
	Target Version `json:"target"`
	Rescue Version `json:"rescue"`
	// Parts are versions of which the tree may contain parts.
	Parts   []Version `json:"parts"`
	Started time.Time `json:"started_at"`
	PID     int       `json:"pid"`
	Start   uint64    `json:"process_start,omitempty"`
	// Paths and Nested are the scope, Kept the paths that it kept.
	Paths  []string `json:"paths,omitempty"`
	Nested bool     `json:"nested,omitempty"`
	Kept   []string `json:"kept,omitempty"`
	// Changed is the snapshot whose folder lists the paths changed by this restore, and by those
	// that it completes or undoes; 0 in older journals.
	Changed Version `json:"changed,omitempty"`
	// Next is the history after the end of the restore.
	Next History `json:"next"`
}

// InterruptedRestore returns the journal of an interrupted operation of the lineage: restore.Finish
// completes it, restore.Undo reverts it. It returns false while the process is running. If
// another version wrote the journal, only fields that could be read are set; restore.Run, Undo
// and Redo return ErrOtherJournal then.
func InterruptedRestore(s *Store, lineage string) (Journal, bool) {
	_, j, err := ReadHistoryAndJournal(s, lineage)
	if err != nil && !errors.Is(err, ErrOtherJournal) || j == nil {
		return Journal{}, false
	}
	if j.PID != os.Getpid() && proc.Alive(j.PID, j.Start) {
		return Journal{}, false
	}
	return *j, true
}

// Other reports whether another version of the program wrote the journal.
func (j *Journal) Other() bool { return j.Format != journalFormat }

const journalPrefix = "journal-"

func journalPath(s *Store, lineage string) string {
	return filepath.Join(s.Dir(), journalPrefix+lineage+".json")
}

// LineagesWithJournal returns the lineages with journals in the store.
func LineagesWithJournal(s *Store) []string {
	list := disk.Glob(s.Dir(), journalPrefix+"*.json")
	for i, path := range list {
		list[i] = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), journalPrefix), ".json")
	}
	return list
}

// ErrOtherJournal means that another version of the program wrote the journal of an interrupted
// restore: only that version can end it.
var ErrOtherJournal = errors.New("another version of this program wrote the journal of an interrupted restore")

// ReadJournal reads the lineage's journal; nil if there is none. If it has another format or
// can't be decoded, the result has the readable fields and another Format: journals are written
// atomically, so another version wrote it.
func ReadJournal(s *Store, lineage string) (*Journal, error) {
	data, err := disk.ReadFile(journalPath(s, lineage))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there may be none
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	var j Journal
	if err := json.Unmarshal(data, &j); err != nil && j.Format == journalFormat || j.Lineage != lineage {
		j.Format = 0
	}
	return &j, nil
}

// WriteJournal writes the journal of a restore that is about to start.
func WriteJournal(h *Held, j Journal) error {
	j.Format = journalFormat
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return disk.WriteDurable(journalPath(h.Store, j.Lineage), data, 0o600)
}

// EndJournal updates the history, unless a restore changed nothing, and removes the journal.
func EndJournal(h *Held, j Journal, changed bool) error {
	if changed || j.Op != OpRestore {
		next := j.Next
		next.Format = journalFormat
		next.Undo, next.Redo = newest(next.Undo), newest(next.Redo)
		data, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("write history: %w", err)
		}
		if err := disk.WriteDurable(historyPath(h.Store, j.Lineage), data, 0o600); err != nil {
			return err
		}
	}
	path := journalPath(h.Store, j.Lineage)
	if err := disk.Remove(path); err != nil {
		return fmt.Errorf("end journal: %w", err)
	}
	return nil
}
