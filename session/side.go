package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Side is a file beside a state that only grows. The state has its valid
// length; what a crash left beyond that is written over.
//
// Bytes that a saved state counts as valid are never written over: what begins
// anew goes into a second file, and the state records which of the two holds
// (Names). So each state, the old as well as the new, has the side files that
// belong to it.
type Side struct{ path string }

// sideDir is the folder of the side files, so that the states, which are looked
// through, are by themselves.
const sideDir = "side"

// Side names the side file of the session id for one kind of record.
func (s *Store) Side(id, kind string) Side {
	return Side{path: filepath.Join(s.SideDir(), id+"."+kind)}
}

// The kinds of side files that belong to a state and count only with it.
const (
	PromptsKind   = "prompts"
	UsageKind     = "usage"
	SegmentsKind  = "segments"
	StepsKind     = "steps"
	UntrackedKind = "untracked"
)

// secondName is what the kind of the second of two files ends in.
const secondName = "2"

// SideKinds are the kinds of side files that a session may have.
func SideKinds() []string {
	kinds := []string{PromptsKind, UsageKind, SegmentsKind, StepsKind, UntrackedKind}
	for _, kind := range slices.Clone(kinds) {
		kinds = append(kinds, kind+secondName)
	}
	return append(kinds, RecallKind, ContextKind, OpeningKind, PromptBriefKind)
}

// Names records for each side file whether the state counts the second of its two
// names.
type Names struct {
	Prompts   bool `json:"prompts,omitempty"`
	Usage     bool `json:"usage,omitempty"`
	Steps     bool `json:"steps,omitempty"`
	Untracked bool `json:"untracked,omitempty"`
}

func (n *Names) second(kind string) *bool {
	switch kind {
	case PromptsKind:
		return &n.Prompts
	case UsageKind:
		return &n.Usage
	case StepsKind:
		return &n.Steps
	case UntrackedKind:
		return &n.Untracked
	default:
		return new(bool)
	}
}

// SideOf names the side file of one kind that the state counts.
func (s *Store) SideOf(state *State, kind string) Side {
	second := *state.Recorder.Second.second(kind)
	if kind == SegmentsKind {
		second = state.Recorder.Stored.Second
	}
	return s.Side(state.ID, nameOf(kind, second))
}

// SegmentsOf names the file of closed segments that goes with stored.
func (s *Store) SegmentsOf(id string, stored Segments) Side {
	return s.Side(id, nameOf(SegmentsKind, stored.Second))
}

// nameOf returns the kind in the name of the first or second file of a kind.
func nameOf(kind string, second bool) string {
	if second {
		return kind + secondName
	}
	return kind
}

// Renew lets the side file of one kind begin anew, under the name that the
// state on disk doesn't count.
func (s *State) Renew(kind string) {
	*s.Recorder.Second.second(kind) = !*s.saved.second(kind)
}

// The kinds that saved contexts need. They are replaced as a whole, and can
// all be lost.
const (
	// RecallKind is what is known of the session's context.
	RecallKind = "recall"
	// ContextKind is how full the context is, as the agent's status line was given it.
	ContextKind = "context"
	// OpeningKind is what the session was given when it started.
	OpeningKind = "opening"
	// PromptBriefKind is the saved context whose brief is due with the session's first
	// prompt; the file exists until then.
	PromptBriefKind = "prompt-brief"
)

// Read returns the first valid bytes; an error if the file is shorter.
func (f Side) Read(valid int64) ([]byte, error) {
	if valid == 0 {
		return nil, nil
	}
	data, err := disk.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("read side file: %w", err)
	}
	if int64(len(data)) < valid {
		return nil, fmt.Errorf("%s has %d bytes of %d: %w", f.path, len(data), valid, ErrCorrupt)
	}
	return data[:valid], nil
}

// Scan hands the first valid bytes to yield, which must not keep them, in pieces
// of whole records of the size given; an error if the file is shorter.
func (f Side) Scan(valid int64, size int, yield func(records []byte)) error {
	const piece = 64 << 10
	if valid == 0 {
		return nil
	}
	file, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe by now
	if err != nil {
		return fmt.Errorf("read side file: %w", err)
	}
	buf := make([]byte, max(piece/size, 1)*size)
	for rest := valid; rest > 0 && err == nil; rest -= int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), rest)]
		if _, err = io.ReadFull(file, buf); err == nil {
			yield(buf)
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%s has less than %d bytes: %w", f.path, valid, ErrCorrupt)
	}
	return errors.Join(err, file.Close())
}

// Check reports whether the file has its first valid bytes: ErrCorrupt if not.
func (f Side) Check(valid int64) error {
	if valid == 0 {
		return nil
	}
	info, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Size() < valid:
		return fmt.Errorf("%s lost some of its %d bytes: %w", f.path, valid, ErrCorrupt)
	case err != nil:
		return fmt.Errorf("check side file: %w", err)
	default:
		return nil
	}
}

// Paths returns what is synced before a state counts on the file: it and its directory.
func (f Side) Paths() []string { return []string{f.path, filepath.Dir(f.path)} }

// Append writes data after the first valid bytes and returns the new valid
// length, which counts only once the state is saved with it. A file that is
// shorter is ErrCorrupt.
func (f Side) Append(valid int64, data []byte) (int64, error) {
	if len(data) == 0 {
		return valid, nil
	}
	if err := disk.Step("append", f.path); err != nil {
		return valid, err
	}
	if err := disk.MkdirAll(filepath.Dir(f.path), 0o750); err != nil {
		return valid, err
	}
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return valid, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() < valid { // a write would put a hole in the place of lost bytes
		err = fmt.Errorf("%d bytes of %d: %w", info.Size(), valid, ErrCorrupt)
	}
	if err == nil {
		_, err = file.WriteAt(data, valid)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return valid, fmt.Errorf("append to %s: %w", f.path, err)
	}
	return valid + int64(len(data)), nil
}

// Replace writes the whole file anew.
func (f Side) Replace(data []byte) error {
	if err := disk.MkdirAll(filepath.Dir(f.path), 0o750); err != nil {
		return err
	}
	return disk.WriteCache(f.path, data, 0o600)
}

// Sync makes what was appended durable.
func (f Side) Sync() error {
	return disk.SyncFiles([]string{f.path}, []string{filepath.Dir(f.path)})
}

// Exists reports whether there is a file.
func (f Side) Exists() bool {
	_, err := os.Lstat(f.path)
	return err == nil
}

// Remove removes the file, if there is one.
func (f Side) Remove() error {
	if err := disk.Step("remove", f.path); err != nil {
		return err
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadAll returns the whole file, nil if there is none.
func (f Side) ReadAll() ([]byte, error) {
	data, err := disk.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
