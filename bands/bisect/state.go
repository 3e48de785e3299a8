// Package bisect finds the snapshot from which on a command fails, by running it in a scratch
// tree (package scratch) that gets the files of one snapshot after another. Its state is recorded
// after every run, so that an interrupted search can be continued.
//
// docs/formats/bisect.md describes the state.
package bisect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/scratch"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// schema is the version of the state's format.
const schema = 1

// State is the recorded state of a search.
type State struct {
	Schema int `json:"schema"`
	// Command is the command to run, with its arguments.
	Command []string `json:"command"`
	// Paths limit the search to snapshots in which they changed.
	Paths []string `json:"paths,omitempty"`
	// Keep is that of [scratch.Tree]; Repeat reports whether both snapshots of the result are
	// tried twice.
	Keep   bool `json:"keep"`
	Repeat bool `json:"repeat"`
	// Versions are the snapshots to search, the oldest first: two at least.
	Versions []bands.Version `json:"versions"`
	Runs     []Run           `json:"runs"`
	// Base is the folder of the scratch tree, empty if there is none, and Tree its state, the
	// zero State while it is being written. The tree isn't synced: both are valid until the next
	// boot, Boot being the id of this one.
	Base string        `json:"base,omitempty"`
	Tree scratch.State `json:"tree"`
	Boot string        `json:"boot,omitempty"`
	// Began and Ended are the times of the beginning and the end of the search.
	Began time.Time  `json:"began"`
	Ended *time.Time `json:"ended,omitempty"`
}

// Run is one run of the command.
type Run struct {
	Version bands.Version `json:"version"`
	Result  Result        `json:"result"`
	// Exit is the command's exit status, -1 if it wasn't run; then Note is the reason.
	Exit int    `json:"exit"`
	Note string `json:"note,omitempty"`
	// Millis is the duration of the command, Setup that of preparing the tree, in ms.
	Millis int64     `json:"ms"`
	Setup  int64     `json:"setup_ms"`
	At     time.Time `json:"at"`
}

// ErrNone means that there is no search.
var ErrNone = errors.New("no bisect has begun")

// ErrInUse means that another process is running the search.
var ErrInUse = errors.New("another bisect of this tree is running")

// lockWait is the maximum time to wait for a process that is ending.
const lockWait = 2 * time.Second

// Record is the recorded search of a lineage, at most one. It is locked until it is closed.
type Record struct {
	path string
	lock *filelock.Lock
}

// Open locks the search of a lineage. The error is [ErrInUse] if another process keeps the
// lock for more than two seconds.
func Open(ctx context.Context, store *bands.Store, lineage string) (*Record, error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	path := store.Path("bisect-" + lineage)
	lock, err := filelock.Acquire(ctx, path)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, err
	}
	return &Record{path: path + ".json", lock: lock}, nil
}

// Close releases the lock.
func (r *Record) Close() error { return r.lock.Unlock() }

// Read returns the search: [ErrNone] if there is none.
func (r *Record) Read() (*State, error) {
	data, err := disk.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	var s State
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err == nil && (s.Schema != schema || len(s.Versions) < 2 || len(s.Command) == 0) {
		err = errors.New("not a state that this version can read")
	}
	if err != nil {
		return nil, fmt.Errorf("bisect %s: %w", r.path, err)
	}
	return &s, nil
}

// Write replaces the search.
func (r *Record) Write(s *State) error {
	s.Schema = schema
	return disk.WriteJSON(r.path, s)
}

// Remove removes the search, even if it can't be read, and its scratch tree.
func (r *Record) Remove() error {
	s, err := r.Read()
	if err == nil {
		err = s.removeBase()
	}
	if err != nil && s != nil {
		return err
	}
	return disk.Remove(r.path)
}

// basePrefix begins the names of the folders of scratch trees.
const basePrefix = "entire-bisect-"

// makeBase creates a folder for the scratch tree in the folder dir.
func (s *State) makeBase(dir string) error {
	if err := disk.Step("mkdir", dir); err != nil {
		return err
	}
	base, err := os.MkdirTemp(dir, basePrefix)
	if err != nil {
		return fmt.Errorf("folder of the scratch tree: %w", err)
	}
	s.Base, s.Tree, s.Boot = disk.Physical(base), scratch.State{}, proc.Boot()
	return nil
}

// removeBase removes the scratch tree.
func (s *State) removeBase() error {
	if !strings.HasPrefix(filepath.Base(s.Base), basePrefix) { // there is none
		return nil
	}
	if err := disk.Step("remove-tree", s.Base); err != nil {
		return err
	}
	err := volume.RemoveScratch((&scratch.Tree{Base: s.Base}).Dir())
	if err == nil {
		err = disk.RemoveTree(s.Base, nil)
	}
	if err == nil {
		s.Base, s.Tree = "", scratch.State{}
	}
	return err
}
