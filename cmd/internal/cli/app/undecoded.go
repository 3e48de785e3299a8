package app

import (
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
)

// Undecoded is an event of an agent that the program couldn't decode.
type Undecoded struct {
	Time  time.Time `json:"time"`
	Agent string    `json:"agent"`
	// Version is the version of the agent, empty if unknown.
	Version string `json:"version,omitempty"`
	Event   string `json:"event"`
	Error   string `json:"error"`
	// Payload is the beginning of the payload that the agent passed to the hook, redacted.
	Payload string `json:"payload"`
}

// undecodedAge is the time in which only one event of an agent and name is kept.
const undecodedAge = 24 * time.Hour

// IsNewUndecoded reports whether no event of the agent and name was kept in dir in undecodedAge.
func IsNewUndecoded(dir, agent, event string, now time.Time) bool {
	info, err := os.Lstat(undecodedPath(dir, agent, event))
	return err != nil || now.Sub(info.ModTime()) >= undecodedAge
}

// KeepUndecoded stores an event, replacing the previous one of the same agent and name.
func KeepUndecoded(dir string, u *Undecoded) error {
	data, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return disk.WriteCache(undecodedPath(dir, u.Agent, u.Event), append(data, '\n'), 0o600)
}

// KeptUndecoded returns the stored events, the newest first. It omits files that can't be read.
func KeptUndecoded(dir string) ([]Undecoded, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list events: %w", err)
	}
	var list []Undecoded
	for _, e := range entries {
		var u Undecoded
		data, err := disk.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil && json.Unmarshal(data, &u) == nil {
			list = append(list, u)
		}
	}
	slices.SortStableFunc(list, func(a, b Undecoded) int { return b.Time.Compare(a.Time) })
	return list, nil
}

func undecodedPath(dir, agent, event string) string {
	return filepath.Join(dir, agent+"-"+event+".json")
}

// EventName returns the name of an agent's event for file names and logs: "unknown" unless it
// consists of at most 32 lowercase letters and dashes.
func EventName(name string) string {
	const longest = 32
	isOdd := func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') }
	if name == "" || len(name) > longest || strings.ContainsFunc(name, isOdd) {
		return "unknown"
	}
	return name
}
