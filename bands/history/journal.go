package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// Operation is what a journal is about.
type Operation string

// The operations.
const (
	OpRestore Operation = "restore"
	OpUndo    Operation = "undo"
	OpRedo    Operation = "redo"
)

// journalFormat is the format of journals and histories.
const journalFormat = 1

// Journal describes a restore that has begun. It is there until the restore has
// ended, so one whose process is gone means that the tree may be half restored.
type Journal struct {
	Format  int       `json:"format"`
	Op      Operation `json:"op"`
	Lineage string    `json:"lineage"`
	Root    string    `json:"root"`
	// Target is what the tree was to become, Rescue what it was before anything
	// was interrupted.
	Target bands.Version `json:"target"`
	Rescue bands.Version `json:"rescue"`
	// Parts are the versions that the tree may hold parts of.
	Parts   []bands.Version `json:"parts"`
	Started time.Time       `json:"started_at"`
	PID     int             `json:"pid"`
	Start   uint64          `json:"process_start,omitempty"`
	// Paths and Nested are the scope, Kept what it left as it was.
	Paths  []string `json:"paths,omitempty"`
	Nested bool     `json:"nested,omitempty"`
	Kept   []string `json:"kept,omitempty"`
	// Changed is the snapshot whose folder lists what this restore changes, and
	// what those changed that it completes or takes back; 0 in older journals.
	Changed bands.Version `json:"changed,omitempty"`
	// Next is the history once the restore has ended.
	Next History `json:"next"`
}

// Interrupted returns the journal of a restore of the lineage that did not end:
// Finish completes it, Undo takes it back, whatever it was. It reports false
// while its process is at work. Of a journal that another version wrote only
// what could be read is there; Restore, Undo and Redo are ErrOtherJournal then.
func Interrupted(s *bands.Store, lineage string) (Journal, bool) {
	_, j, err := WithInterrupted(s, lineage)
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

func journalPath(s *bands.Store, lineage string) string {
	return filepath.Join(s.Dir(), journalPrefix+lineage+".json")
}

// Lineages returns the lineages whose journals are in the store.
func Lineages(s *bands.Store) []string {
	list, _ := filepath.Glob(filepath.Join(bands.EscapeGlob(s.Dir()), journalPrefix+"*.json")) // the pattern is right
	for i, path := range list {
		list[i] = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), journalPrefix), ".json")
	}
	return list
}

// ErrOtherJournal means that another version of the program wrote the journal of
// a restore that was interrupted: only that one can end it.
var ErrOtherJournal = errors.New("the journal of an interrupted restore was written by another version of this program")

// ReadJournal reads the lineage's journal; nil if there is none. One of another
// format, or that can't be decoded, has what could be read of it and another
// Format: it is written whole, so another version wrote it.
func ReadJournal(s *bands.Store, lineage string) (*Journal, error) {
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

// WriteJournal writes the journal of a restore that begins.
func WriteJournal(h *bands.Held, j Journal) error {
	j.Format = journalFormat
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return disk.WriteDurable(journalPath(h.Store, j.Lineage), data, 0o600)
}

// EndJournal brings the history up to date and removes the journal.
func EndJournal(h *bands.Held, j Journal, changed bool) error {
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
	if err := disk.Step("remove", path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end journal: %w", err)
	}
	return nil
}
