package testkit

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// State has the members of a session's state file that tests use.
type State struct {
	SessionID     string   `json:"session_id"`
	Phase         string   `json:"phase"`
	BaseCommit    string   `json:"base_commit"`
	WorktreePath  string   `json:"worktree_path"`
	WorktreeID    string   `json:"worktree_id"`
	FilesTouched  []string `json:"files_touched"`
	TurnIDs       []string `json:"turn_checkpoint_ids"`
	FirstPrompt   string   `json:"first_prompt"`
	LastID        string   `json:"last_checkpoint_id"`
	Count         int      `json:"checkpoint_count"`
	Start         int      `json:"checkpoint_transcript_start"`
	Untracked     []string `json:"untracked_files_at_start"`
	Raw           []byte   `json:"-"`
	EndedAt       string   `json:"ended_at"`
	AgentType     string   `json:"agent_type"`
	TranscriptPth string   `json:"transcript_path"`
}

// StatePath returns the path of a session's state file.
func (r *Repo) StatePath(session string) string {
	r.TB.Helper()
	return filepath.Join(r.CommonDir(), "entire-sessions", session+".json")
}

// State reads a session's state.
func (r *Repo) State(session string) State {
	r.TB.Helper()
	data, err := os.ReadFile(r.StatePath(session))
	if err != nil {
		r.TB.Fatalf("read session state: %v", err)
	}
	state := State{Raw: data}
	if err := json.Unmarshal(data, &state); err != nil {
		r.TB.Fatalf("read session state: %v\n%s", err, data)
	}
	return state
}

// HasState reports whether the session has a state.
func (r *Repo) HasState(session string) bool {
	r.TB.Helper()
	_, err := os.Stat(r.StatePath(session))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.TB.Fatalf("look for session state: %v", err)
	}
	return err == nil
}

// Shadows returns the names of the shadow branches.
func (r *Repo) Shadows() []string {
	r.TB.Helper()
	var names []string
	pattern := regexp.MustCompile(`^refs/heads/entire/[0-9a-f]{7,}(-[0-9a-f]{6})?$`)
	for name := range strings.FieldsSeq(r.Git("for-each-ref", "--format=%(refname)", "refs/heads/entire/")) {
		if pattern.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

// Log returns the logs of this worktree, in it and in the git directory, "" if there is none.
func (r *Repo) Log() string {
	r.TB.Helper()
	id := "" // of the main worktree
	if dir := r.GitDir(); dir != r.CommonDir() {
		id = filepath.Base(dir)
	}
	const digits = 6
	private := filepath.Join(r.CommonDir(), "entire", "worktree", fmt.Sprintf("%x", sha256.Sum256([]byte(id)))[:digits])
	var text strings.Builder
	for _, dir := range []string{filepath.Join(private, "logs"), filepath.Join(r.Root(), ".entire", "logs")} {
		data, err := os.ReadFile(filepath.Join(dir, "entire.log"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EISDIR) { // a test's damage
			r.TB.Fatalf("read log: %v", err)
		}
		text.Write(data)
	}
	return text.String()
}

// Pass waits until the clock of dir's file system has advanced by d. It is for rules about
// timestamps, which can't be set.
func Pass(tb TB, dir string, d time.Duration) {
	tb.Helper()
	first := probe(tb, dir)
	for probe(tb, dir).Sub(first) < d {
		time.Sleep(d / 8)
	}
}

// probe returns the time of the file system's clock: that of a new file.
func probe(tb TB, dir string) time.Time {
	tb.Helper()
	path := filepath.Join(dir, "probe")
	writeFile(tb, path, "")
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatalf("probe the clock: %v", err)
	}
	if err := os.Remove(path); err != nil {
		tb.Fatalf("probe the clock: %v", err)
	}
	return info.ModTime()
}
