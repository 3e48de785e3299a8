package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// bisectSchema is the version of the state's format.
const bisectSchema = 1

// BisectState is the recorded state of a search.
type BisectState struct {
	Schema int `json:"schema"`
	// Command is the command to run, with its arguments.
	Command []string `json:"command"`
	// Paths limit the search to snapshots in which they changed.
	Paths []string `json:"paths,omitempty"`
	// Keep is that of [restore.ScratchTree]; Repeat reports whether both snapshots of the result
	// are tried twice.
	Keep   bool `json:"keep"`
	Repeat bool `json:"repeat"`
	// Versions are the snapshots to search, the oldest first: two at least.
	Versions []bands.Version `json:"versions"`
	Runs     []BisectRun     `json:"runs"`
	// Base is the folder of the scratch tree, empty if there is none, and Tree its state, the zero
	// ScratchState while it is being written. The tree isn't synced: both are valid until the next
	// boot, Boot being the id of this one.
	Base string               `json:"base,omitempty"`
	Tree restore.ScratchState `json:"tree"`
	Boot string               `json:"boot,omitempty"`
	// Began and Ended are the times of the beginning and the end of the search.
	Began time.Time  `json:"began"`
	Ended *time.Time `json:"ended,omitempty"`
}

// BisectRun is one run of the command.
type BisectRun struct {
	Version bands.Version `json:"version"`
	Result  BisectResult  `json:"result"`
	// Exit is the command's exit status, -1 if it wasn't run; then Note is the reason.
	Exit int    `json:"exit"`
	Note string `json:"note,omitempty"`
	// Millis is the duration of the command, Setup that of preparing the tree, in ms.
	Millis int64     `json:"ms"`
	Setup  int64     `json:"setup_ms"`
	At     time.Time `json:"at"`
}

// ErrNoBisect means that there is no search.
var ErrNoBisect = errors.New("no bisect in progress")

// ErrBisectInUse means that another process is running the search.
var ErrBisectInUse = errors.New("another bisect is running in this tree")

// bisectLockWait is the maximum time to wait for a process that is ending.
const bisectLockWait = 2 * time.Second

// BisectRecord is the recorded search of a lineage, at most one. It is locked until it is closed.
type BisectRecord struct {
	path string
	lock *disk.Lock
}

// OpenBisect locks the search of a lineage. The error is [ErrBisectInUse] if another process keeps
// the lock for more than two seconds.
func OpenBisect(ctx context.Context, store *bands.Store, lineage string) (*BisectRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, bisectLockWait)
	defer cancel()
	path := store.Path("bisect-" + lineage)
	lock, err := disk.AcquireLock(ctx, path)
	if errors.Is(err, disk.ErrLocked) {
		return nil, ErrBisectInUse
	}
	if err != nil {
		return nil, err
	}
	return &BisectRecord{path: path + ".json", lock: lock}, nil
}

// Close releases the lock.
func (r *BisectRecord) Close() error { return r.lock.Unlock() }

// Read returns the search: [ErrNoBisect] if there is none.
func (r *BisectRecord) Read() (*BisectState, error) {
	var s BisectState
	found, err := disk.ReadJSON(r.path, &s)
	if err == nil && !found {
		return nil, ErrNoBisect
	}
	if err == nil && (s.Schema != bisectSchema || len(s.Versions) < 2 || len(s.Command) == 0) {
		err = errors.New("unknown format")
	}
	if err != nil {
		return nil, fmt.Errorf("bisect %s: %w", r.path, err)
	}
	return &s, nil
}

// Write replaces the search.
func (r *BisectRecord) Write(s *BisectState) error {
	s.Schema = bisectSchema
	return disk.WriteJSON(r.path, s)
}

// Remove removes the search, even if it can't be read, and its scratch tree.
func (r *BisectRecord) Remove() error {
	s, err := r.Read()
	if err == nil {
		err = s.removeBase()
	}
	if err != nil && s != nil {
		return err
	}
	return disk.Remove(r.path)
}

// bisectBasePrefix begins the names of the folders of scratch trees.
const bisectBasePrefix = "entire-bisect-"

// makeBase creates a folder for the scratch tree in the folder dir.
func (s *BisectState) makeBase(dir string) error {
	if err := disk.Step("mkdir", dir); err != nil {
		return err
	}
	base, err := os.MkdirTemp(dir, bisectBasePrefix)
	if err != nil {
		return fmt.Errorf("find a folder for the scratch tree: %w", err)
	}
	s.Base, s.Tree, s.Boot = disk.Physical(base), restore.ScratchState{}, proc.Boot()
	return nil
}

// removeBase removes the scratch tree.
func (s *BisectState) removeBase() error {
	if !strings.HasPrefix(filepath.Base(s.Base), bisectBasePrefix) { // there is none
		return nil
	}
	if err := disk.Step("remove-tree", s.Base); err != nil {
		return err
	}
	err := volume.RemoveScratch((&restore.ScratchTree{Base: s.Base}).Dir())
	if err == nil {
		err = disk.RemoveTree(s.Base, nil)
	}
	if err == nil {
		s.Base, s.Tree = "", restore.ScratchState{}
	}
	return err
}
