package forget

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// journalVersion is the version of the journal.
const journalVersion = 1

// journal records a run in progress: <git common dir>/entire/forgetting.json. It is written before
// the first ref moves, and removed at the end. It has no text.
type journal struct {
	Version int         `json:"version"`
	Refs    []refChange `json:"refs"`
	// Moved maps the commits that were rewritten to those that replace them.
	Moved map[git.OID]git.OID `json:"moved,omitempty"`
	// Session is the session that is forgotten, if any.
	Session string `json:"session,omitempty"`
	// Prune are the objects to remove. They are recorded before the first one is removed, because
	// the others can't be found after that.
	Prune []git.OID `json:"prune,omitempty"`
}

// refChange is a change of a ref; without New it is deleted.
type refChange struct {
	Name string  `json:"name"`
	Old  git.OID `json:"old"`
	New  git.OID `json:"new,omitempty"`
}

func (t *target) journalPath() string { return JournalPath(t.w.Repo.CommonDir) }

// JournalPath returns the path of the file that exists while something is being forgotten.
func JournalPath(commonDir string) string {
	return filepath.Join(commonDir, "entire", "forgetting.json")
}

func (t *target) writeJournal(j *journal) error { return disk.WriteJSON(t.journalPath(), j) }

func (t *target) readJournal() (j journal, found bool, err error) {
	found, err = disk.ReadJSON(t.journalPath(), &j)
	if err == nil && j.Version > journalVersion {
		err = fmt.Errorf("%s was written by a newer version", t.journalPath())
	}
	return j, found && err == nil, err
}

// IsInterrupted reports whether a run in the repository was killed before its end.
func IsInterrupted(commonDir string) bool {
	_, err := os.Lstat(JournalPath(commonDir))
	return err == nil
}
