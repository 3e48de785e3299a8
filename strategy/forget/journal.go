package forget

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// journalVersion is the version of the journal.
const journalVersion = 1

// journal is what is under way: <git common dir>/entire/forgetting.json. It is
// written before the first ref moves, and removed at the end. It has no text.
type journal struct {
	Version int         `json:"version"`
	Refs    []refChange `json:"refs"`
	// Moved are the commits that were rewritten, and what took their places.
	Moved map[git.OID]git.OID `json:"moved,omitempty"`
	// Session is the session that is forgotten, if one is.
	Session string `json:"session,omitempty"`
	// Prune are the objects that are removed. They are noted before the first
	// one goes, as nothing leads to the others then.
	Prune []git.OID `json:"prune,omitempty"`
}

// refChange is a ref and what becomes of it; without New it is deleted.
type refChange struct {
	Name string  `json:"name"`
	Old  git.OID `json:"old"`
	New  git.OID `json:"new,omitempty"`
}

// journalFile is where the journal is.
type journalFile struct{ *target }

func (jf *journalFile) path() string { return JournalPath(jf.rec.Repo.CommonDir) }

// JournalPath is the file that is there while something is being forgotten.
func JournalPath(commonDir string) string {
	return filepath.Join(commonDir, "entire", "forgetting.json")
}

func (jf *journalFile) write(j *journal) error {
	data, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteDurable(jf.path(), append(data, '\n'), 0o600)
}

func (jf *journalFile) read() (j journal, found bool, err error) {
	data, err := disk.ReadFile(jf.path())
	if errors.Is(err, fs.ErrNotExist) {
		return j, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &j)
	}
	if err == nil && j.Version > journalVersion {
		err = fmt.Errorf("%s was written by a newer version", jf.path())
	}
	return j, err == nil, err
}

// end removes the journal, and what killed runs left of its writing.
func (jf *journalFile) end() error {
	if err := disk.SweepTempOf(jf.path(), jf.rec.Env.Now()); err != nil {
		return err
	}
	if err := disk.Remove(jf.path()); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(jf.path()))
}

// noteReplaced adds the rewritten commits of the metadata branch to the
// tombstones, by which a remote is known that still has them.
func (f *Forgetting) noteReplaced(j *journal) error {
	at := slices.IndexFunc(j.Refs, func(r refChange) bool { return r.Name == checkpoint.MetadataBranch })
	if at < 0 {
		return nil
	}
	for old := range j.Moved {
		f.tombs.Replaced = append(f.tombs.Replaced, old)
	}
	if r := j.Refs[at]; r.Old != "" {
		f.tombs.Replaced = append(f.tombs.Replaced, r.Old)
	}
	slices.Sort(f.tombs.Replaced)
	f.tombs.Replaced = slices.Compact(f.tombs.Replaced)
	return f.tombs.Save(f.rec.Repo.CommonDir)
}

// Interrupted reports whether a run in the repository was killed before its end.
func Interrupted(commonDir string) bool {
	_, err := os.Lstat(JournalPath(commonDir))
	return err == nil
}
