// Package session records the conversations with agents: the state machine, as a
// pure table, and the state of each session between two hooks.
//
// It writes only to <git common dir>/entire-sessions and never runs git. Callers hold the
// repository's lock while they save a state, and first check that the state on disk is still the
// one that they loaded (Stamp).
package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Errors of a Store.
var (
	ErrNotFound = errors.New("no such session")
	ErrInvalid  = errors.New("invalid session id")
	ErrCorrupt  = errors.New("damaged session state")
)

const (
	stateExt = ".json"
	// maxID bounds a session id, which becomes a file's name.
	maxID = 200
	// dormantName is the index of the sessions that commit hooks skip.
	dormantName = ".dormant"
)

// Store is the folder of the session states of a repository. It is not safe for concurrent use.
type Store struct {
	dir     string
	scanned bool
	awake   []string         // state files that may have something pending
	changed map[string]int64 // modification times of state files
}

// Open returns the store of the repository with the given common directory. It reads and creates
// nothing.
func Open(commonDir string) *Store {
	return &Store{dir: filepath.Join(commonDir, "entire-sessions")}
}

// Dir returns the folder of the states.
func (s *Store) Dir() string { return s.dir }

// SideDir returns the folder of the side files, in Dir.
func (s *Store) SideDir() string { return filepath.Join(s.dir, sideDir) }

// CheckID returns ErrInvalid unless id can name a session: it must be valid UTF-8 of 1 to 200
// bytes, without separators and control characters, and must not begin with a dot.
func CheckID(id string) error {
	bad := func(r rune) bool {
		return r == '/' || r == '\\' || unicode.IsControl(r) || r == unicode.ReplacementChar
	}
	if id == "" || len(id) > maxID || id[0] == '.' || strings.ContainsFunc(id, bad) {
		return fmt.Errorf("%w: %.40q", ErrInvalid, id)
	}
	return nil
}

// Load reads the state of the session id. Its errors wrap ErrInvalid, ErrNotFound or ErrCorrupt
// unless reading the file failed.
func (s *Store) Load(id string) (*State, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	return s.load(id + stateExt)
}

func (s *Store) load(name string) (*State, error) {
	id := strings.TrimSuffix(name, stateExt)
	data, err := disk.ReadFile(filepath.Join(s.dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	state, err := decode(data)
	if err != nil || state.ID != id {
		return nil, errors.Join(fmt.Errorf("session %s: %w", id, ErrCorrupt), err)
	}
	return state, nil
}

// Stamp returns a string that changes whenever the state of the session id is saved, "" if there is
// no state.
func (s *Store) Stamp(id string) string {
	dir, err := dirfd.OpenRoot(s.dir)
	if err != nil {
		return ""
	}
	var info dirfd.Stat
	if errors.Join(dir.Stat(id+stateExt, &info), dir.Close()) != nil {
		return ""
	}
	return string(appendStamp(nil, &info))
}

// Save writes the state durably and creates the folder if it is missing. The files and directories
// in countsOn, to which the state refers, are synced before the state is replaced.
func (s *Store) Save(state *State, countsOn ...string) error {
	if err := CheckID(state.ID); err != nil {
		return err
	}
	data, err := encode(state)
	if err != nil {
		return fmt.Errorf("session %s: %w", state.ID, err)
	}
	if err := disk.MkdirAll(s.dir, 0o750); err != nil {
		return fmt.Errorf("session %s: %w", state.ID, err)
	}
	name := state.ID + stateExt
	var batch disk.Batch
	batch.Sync(countsOn...)
	if err := batch.Write(filepath.Join(s.dir, name), data, 0o600); err != nil {
		return fmt.Errorf("session %s: %w", state.ID, err)
	}
	if err := batch.Commit(); err != nil {
		return fmt.Errorf("session %s: write state: %w", state.ID, err)
	}
	state.saved, state.savedSegments = state.Recorder.Second, state.Recorder.Stored.Second
	if s.scanned && !slices.Contains(s.awake, name) {
		s.awake = append(s.awake, name)
	}
	return nil
}

// SetAside renames a state that can't be read, so that the session can begin anew, and returns the
// new path. The caller holds the repository's lock. A readable or missing state is left alone; the
// path is empty then.
func (s *Store) SetAside(id string) (string, error) {
	if _, err := s.Load(id); err == nil || errors.Is(err, ErrNotFound) {
		return "", nil
	} else if !errors.Is(err, ErrCorrupt) {
		return "", err
	}
	from := filepath.Join(s.dir, id+stateExt)
	to := from + ".corrupt"
	return to, disk.Rename(from, to)
}

// StateError is the error of a state that can't be read.
type StateError struct {
	ID string
	error
}

// Unwrap returns the cause.
func (e *StateError) Unwrap() error { return e.error }

// All returns every readable state, sorted by id, and a *StateError for each of the others.
func (s *Store) All() (states []*State, failed []error) {
	for _, name := range s.names() {
		state, err := s.load(name)
		switch {
		case errors.Is(err, ErrNotFound): // removed meanwhile
		case err != nil:
			failed = append(failed, &StateError{strings.TrimSuffix(name, stateExt), err})
		default:
			states = append(states, state)
		}
	}
	return states, failed
}

// names returns the names of the state files, sorted.
func (s *Store) names() []string {
	dir, err := os.Open(s.dir)
	if err != nil {
		return nil
	}
	names, err := dir.Readdirnames(-1)
	if errors.Join(err, dir.Close()) != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, stateExt) || n[0] == '.' })
	slices.Sort(names)
	return names
}

// Remove deletes the session's side files and then its state, so that a removal that was
// interrupted can be repeated.
func (s *Store) Remove(id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	paths := []string{filepath.Join(s.dir, id+stateExt)}
	for _, kind := range SideKinds() {
		paths = slices.Insert(paths, 0, s.Side(id, kind).path)
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := disk.Remove(path); err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
	}
	return nil
}
