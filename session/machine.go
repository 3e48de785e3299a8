package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Machine is the folder of the records of the sessions that are at work on this machine, in the user's
// own state. A record names the repositories in which a session is recorded, and the agent's process,
// so that a hook in another repository finds them. docs/formats/session.md describes the format.
type Machine struct{ dir string }

// MachineRecord is the record of one session.
type MachineRecord struct {
	ID        string  `json:"session_id"`
	AgentType string  `json:"agent_type,omitempty"`
	Agent     Process `json:"agent,omitzero"`
	// Launched is the folder in which the session started.
	Launched       string `json:"launched"`
	TranscriptPath string `json:"transcript_path,omitempty"`
	// Repositories are those in which the session is recorded, in the order in which they were found.
	Repositories []MachineRepository `json:"repositories,omitempty"`
	// Turn is the running or last turn, if the session is in several repositories or started where
	// nothing is recorded. Cursor is how far the transcript of the latter has been searched for
	// paths of repositories.
	Turn   MachineTurn       `json:"turn,omitzero"`
	Cursor transcript.Cursor `json:"cursor,omitzero"`
}

// MachineRepository is a worktree in which a session is recorded.
type MachineRepository struct {
	Root      string `json:"root"`
	CommonDir string `json:"common_dir"`
	Worktree  string `json:"worktree_id,omitempty"`
	// Since is the id of the turn in which the session came to the repository.
	Since string `json:"since_turn,omitempty"`
}

// MachineTurn is a turn. It is Active only for a session that started where nothing is recorded.
type MachineTurn struct {
	ID     string    `json:"id,omitempty"`
	Start  time.Time `json:"start,omitzero"`
	Line   int       `json:"line,omitempty"`
	Active bool      `json:"active,omitempty"`
}

// ErrUnchanged is returned by the function of [Machine.Update] if it leaves the record as it is.
var ErrUnchanged = errors.New("record unchanged")

// machineLockTimeout limits the wait for the lock of the records, which is held for the time of one
// write.
const machineLockTimeout = 2 * time.Second

// OpenMachine returns the records in a folder, which need not exist; nil if the folder is unknown.
func OpenMachine(dir string) *Machine {
	if dir == "" {
		return nil
	}
	return &Machine{dir: dir}
}

// MachineDir returns the folder of the records, "" if there is no home directory.
func MachineDir(getenv func(string) string, home string) string {
	dir := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "entire", "sessions")
}

// Dir returns the folder.
func (m *Machine) Dir() string { return m.dir }

// RewindsDir returns the folder of the records of rewinds of several repositories, "" if m is nil.
func (m *Machine) RewindsDir() string {
	if m == nil {
		return ""
	}
	return filepath.Join(filepath.Dir(m.dir), "rewinds")
}

// Load returns the record of a session. The error wraps ErrNotFound if there is none, or m is nil.
func (m *Machine) Load(id string) (MachineRecord, error) {
	var r MachineRecord
	if m == nil {
		return r, ErrNotFound
	}
	if err := CheckID(id); err != nil {
		return r, err
	}
	found, err := disk.ReadJSON(m.path(id), &r)
	switch {
	case err != nil:
		return MachineRecord{}, fmt.Errorf("record of session %s: %w: %w", id, ErrCorrupt, err)
	case !found || r.ID != id:
		return MachineRecord{}, fmt.Errorf("record of session %s: %w", id, ErrNotFound)
	}
	return r, nil
}

// Find returns the record of a session; false if there is none that can be read.
func (m *Machine) Find(id string) (MachineRecord, bool) {
	r, err := m.Load(id)
	return r, err == nil
}

func (m *Machine) path(id string) string { return filepath.Join(m.dir, id+stateExt) }

// Update changes the record of a session under the lock of the records, and returns it. change gets
// the present record, of a new session one with only the id, and may return ErrUnchanged. A record
// that can't be read is replaced.
func (m *Machine) Update(ctx context.Context, id string, change func(*MachineRecord) error) (MachineRecord, error) {
	if m == nil {
		return MachineRecord{}, ErrNotFound
	}
	if err := CheckID(id); err != nil {
		return MachineRecord{}, err
	}
	if err := disk.MkdirAll(m.dir, 0o700); err != nil {
		return MachineRecord{}, err
	}
	wait, cancel := context.WithTimeout(ctx, machineLockTimeout)
	defer cancel()
	lock, err := disk.AcquireLock(wait, filepath.Join(m.dir, ".lock"))
	if err != nil {
		return MachineRecord{}, err
	}
	r, err := m.Load(id)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) {
		r, err = MachineRecord{ID: id}, nil
	}
	if err == nil {
		err = change(&r)
	}
	if err == nil {
		err = m.write(r)
	}
	if errors.Is(err, ErrUnchanged) {
		err = nil
	}
	return r, errors.Join(err, lock.Unlock())
}

// write replaces a record. It isn't synced: after a crash of the machine the next prompt writes it again.
func (m *Machine) write(r MachineRecord) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteCache(m.path(r.ID), append(data, '\n'), 0o600)
}

// All returns the records that can be read, sorted by id.
func (m *Machine) All() []MachineRecord {
	if m == nil {
		return nil
	}
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil
	}
	var all []MachineRecord
	for _, e := range entries {
		id, is := strings.CutSuffix(e.Name(), stateExt)
		if !is || strings.HasPrefix(id, ".") {
			continue
		}
		if r, err := m.Load(id); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// Remove deletes the record of a session, if there is one.
func (m *Machine) Remove(id string) error {
	if m == nil {
		return nil
	}
	if err := CheckID(id); err != nil {
		return err
	}
	if _, err := os.Lstat(m.path(id)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return disk.Remove(m.path(id))
}

// Bounds of the other repositories that a state keeps, and of the turns of each.
const (
	mostOthers     = 128
	mostOtherTurns = 50
)

// AddOther records that a turn changed another repository, too. It reports whether that is new.
func (r *Recorder) AddOther(repo MachineRepository, turn ChangedTurn) bool {
	i := slices.IndexFunc(r.Others, func(o Other) bool { return o.CommonDir == repo.CommonDir })
	if i < 0 {
		r.Others = append(r.Others[max(0, len(r.Others)-mostOthers+1):], Other{})
		i = len(r.Others) - 1
	}
	o := &r.Others[i]
	same := func(t ChangedTurn) bool { return t.ID == turn.ID }
	if slices.ContainsFunc(o.Turns, same) && o.Root == repo.Root {
		return false
	}
	o.Root, o.CommonDir, o.Worktree = repo.Root, repo.CommonDir, repo.Worktree
	o.Turns = append(slices.DeleteFunc(o.Turns, same), turn)
	o.Turns = o.Turns[max(0, len(o.Turns)-mostOtherTurns):]
	return true
}

// Has reports whether the record has the worktree at root.
func (r *MachineRecord) Has(root string) bool {
	return slices.ContainsFunc(r.Repositories, func(o MachineRepository) bool { return o.Root == root })
}

// Add adds a repository, or replaces the one with the same common directory and worktree, or the same
// root. It reports whether the record has changed.
func (r *MachineRecord) Add(repo MachineRepository) bool {
	i := slices.IndexFunc(r.Repositories, func(o MachineRepository) bool {
		return o.CommonDir == repo.CommonDir && o.Worktree == repo.Worktree || o.Root == repo.Root
	})
	if i < 0 {
		r.Repositories = append(r.Repositories, repo)
		return true
	}
	old := r.Repositories[i]
	if old.Root == repo.Root && old.CommonDir == repo.CommonDir && old.Worktree == repo.Worktree {
		return false
	}
	repo.Since = old.Since
	r.Repositories[i] = repo
	return true
}
