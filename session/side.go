package session

import (
	"bytes"
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

// Side is an append-only file beside a state. The state records its valid length; bytes beyond it,
// left by a crash, are overwritten.
//
// Bytes that a saved state counts as valid are never overwritten: a new beginning goes into a
// second file, and the state records which of the two is valid (Names). So the old state and the
// new one each have the side files that belong to them.
type Side struct{ path string }

// sideDir is the folder of the side files. They are kept apart from the states because the folder
// of the states is listed often.
const sideDir = "side"

// Side returns the side file of the session id for one kind of record.
func (s *Store) Side(id, kind string) Side {
	return Side{path: filepath.Join(s.SideDir(), id+"."+kind)}
}

// The kinds of side files that are valid only together with a state.
const (
	PromptsKind   = "prompts"
	UsageKind     = "usage"
	SegmentsKind  = "segments"
	StepsKind     = "steps"
	UntrackedKind = "untracked"
)

// secondName is the suffix of the kind in the name of the second file.
const secondName = "2"

// SideKinds returns the kinds of side files that a session may have.
func SideKinds() []string {
	kinds := []string{PromptsKind, UsageKind, SegmentsKind, StepsKind, UntrackedKind}
	for _, kind := range slices.Clone(kinds) {
		kinds = append(kinds, kind+secondName)
	}
	return append(kinds, RecallKind, ContextKind, OpeningKind, PromptBriefKind, MemoryKind, AtUseKind)
}

// Names records for each side file whether the state refers to the second of its two names.
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

// SideOf returns the side file of one kind to which the state refers.
func (s *Store) SideOf(state *State, kind string) Side {
	second := *state.Recorder.Second.second(kind)
	if kind == SegmentsKind {
		second = state.Recorder.Stored.Second
	}
	return s.Side(state.ID, nameOf(kind, second))
}

// OtherSideOf returns the side file of one kind to which the state doesn't refer.
func (s *Store) OtherSideOf(state *State, kind string) Side {
	return s.Side(state.ID, nameOf(kind, !*state.Recorder.Second.second(kind)))
}

// SegmentsOf returns the file of closed segments that belongs to stored.
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

// Renew starts a new side file of one kind, under the name to which the state on disk doesn't
// refer.
func (s *State) Renew(kind string) {
	*s.Recorder.Second.second(kind) = !*s.saved.second(kind)
}

// UnsavedSegments reports which of the two side files of segments the state on disk doesn't refer to:
// whether it is the second.
func (s *State) UnsavedSegments() (second bool) { return !s.savedSegments }

// The kinds for saved contexts. The files are replaced as a whole, and losing them is no error.
const (
	// RecallKind holds the context record of the session.
	RecallKind = "recall"
	// ContextKind holds the fill of the context, as the agent passed it to its status line.
	ContextKind = "context"
	// OpeningKind holds the text that the session was given when it started.
	OpeningKind = "opening"
	// PromptBriefKind holds the saved context whose brief is due with the session's first prompt;
	// the file exists until then.
	PromptBriefKind = "prompt-brief"
	// MemoryKind holds what earlier sessions left, as of the start of the session.
	MemoryKind = "memory"
	// AtUseKind holds the keys of the facts that the session was given at tool calls: a line for
	// each key and the process that gave it, see [Side.Once].
	AtUseKind = "at-use"
)

// Read returns the first valid bytes. A shorter file is an error.
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

// Scan passes the first valid bytes to yield in pieces of whole records, each of the given size.
// yield must not keep them. A shorter file is an error.
func (f Side) Scan(valid int64, size int, yield func(records []byte)) error {
	const piece = 64 << 10
	if valid == 0 {
		return nil
	}
	file, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
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

// Check returns ErrCorrupt if the file is missing or shorter than valid bytes.
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

// Paths returns the file and its directory, to be synced before a state refers to the file.
func (f Side) Paths() []string { return []string{f.path, filepath.Dir(f.path)} }

// Append writes data after the first valid bytes and returns the new valid length, which takes
// effect when a state with it is saved. A file that is shorter than valid is ErrCorrupt.
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
	if err == nil && info.Size() < valid { // a write would leave a hole in place of the lost bytes
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

// Replace replaces the whole file.
func (f Side) Replace(data []byte) error {
	if err := disk.MkdirAll(filepath.Dir(f.path), 0o750); err != nil {
		return err
	}
	return disk.WriteCache(f.path, data, 0o600)
}

// Once records a key in the file and reports whether it is new. Of several processes that record
// the same key at once, one gets true; nonce distinguishes them. Neither has a space or a line end.
func (f Side) Once(key, nonce string) (isNew bool, err error) {
	if data, err := f.ReadAll(); err != nil || bytes.Contains(data, []byte(key+" ")) {
		return false, err
	}
	if err := disk.Step("append", f.path); err != nil {
		return false, err
	}
	if err := disk.MkdirAll(filepath.Dir(f.path), 0o750); err != nil {
		return false, err
	}
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	_, err = file.WriteString(key + " " + nonce + "\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return false, fmt.Errorf("append to %s: %w", f.path, err)
	}
	data, err := f.ReadAll()
	if err != nil {
		return false, err
	}
	_, after, _ := bytes.Cut(data, []byte(key+" "))
	first, _, _ := bytes.Cut(after, []byte{'\n'})
	return string(first) == nonce, nil
}

// Sync syncs the file and its directory.
func (f Side) Sync() error {
	return disk.SyncFiles([]string{f.path}, []string{filepath.Dir(f.path)})
}

// Exists reports whether the file exists.
func (f Side) Exists() bool {
	_, err := os.Lstat(f.path)
	return err == nil
}

// Remove removes the file; a missing file is not an error.
func (f Side) Remove() error { return disk.Remove(f.path) }

// ReadAll returns the whole file, nil if it doesn't exist.
func (f Side) ReadAll() ([]byte, error) {
	data, err := disk.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
