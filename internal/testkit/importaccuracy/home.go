package importaccuracy

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// saved is a session file in the home of an agent.
type saved struct {
	session string
	// folder is the working folder of the first line that has one.
	folder string
	// began and ended are the times of its first and last line.
	began, ended time.Time
	lines        []string
}

// save writes the session's file to the place where its agent does, with the time of its last line.
func save(tb testkit.TB, home, session string, lines []string) saved {
	s := saved{session: session, lines: lines}
	for _, text := range lines {
		var event struct {
			Cwd       string    `json:"cwd"`
			Timestamp time.Time `json:"timestamp"`
		}
		if json.Unmarshal([]byte(text), &event) != nil {
			continue
		}
		if s.folder == "" {
			s.folder = event.Cwd
		}
		if event.Timestamp.IsZero() {
			continue
		}
		if s.began.IsZero() || event.Timestamp.Before(s.began) {
			s.began = event.Timestamp
		}
		if event.Timestamp.After(s.ended) {
			s.ended = event.Timestamp
		}
	}
	path := filepath.Join(home, ".claude", "projects", testkit.Slug(s.folder), session+".jsonl")
	var document struct {
		ProjectHash string    `json:"projectHash"`
		LastUpdated time.Time `json:"lastUpdated"`
	}
	whole := strings.Join(lines, "\n") + "\n"
	if json.Unmarshal([]byte(whole), &document) == nil && document.ProjectHash != "" { // of Gemini CLI
		path = filepath.Join(home, ".gemini", "tmp", document.ProjectHash, "chats", "session-"+session+".json")
		s.ended = document.LastUpdated
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatalf("save a session: %v", err)
	}
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		tb.Fatalf("save a session: %v", err)
	}
	if !s.ended.IsZero() {
		if err := os.Chtimes(path, s.ended, s.ended); err != nil {
			tb.Fatalf("save a session: %v", err)
		}
	}
	return s
}

// roots returns the former places of the repository: the folders of sessions, except folders that
// the history has below another one.
func roots(repo *testkit.Repo, sessions map[string]saved) []string {
	folders := map[string]bool{}
	for _, s := range sessions {
		if s.folder != "" {
			folders[s.folder] = true
		}
	}
	isWithin := func(folder string) bool {
		for other := range folders {
			if rest, ok := strings.CutPrefix(folder, other+"/"); ok && repo.TryGit("cat-file", "-e", "HEAD:"+rest).Code == 0 {
				return true
			}
		}
		return false
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(folders)), isWithin)
}
