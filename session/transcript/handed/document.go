package handed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// DocumentPath is where the document of a transcript is while the agent hasn't read it.
func DocumentPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".import.json"
}

// conversation is the document that OpenCode exports and imports.
type conversation struct {
	Info     sessionInfo       `json:"info"`
	Messages []json.RawMessage `json:"messages"`
}

type sessionInfo struct {
	ID      string `json:"id"`
	Slug    string `json:"slug"`
	Project string `json:"projectID"` // OpenCode replaces it by that of the folder
	Dir     string `json:"directory"`
	Title   string `json:"title"`
	Version string `json:"version"`
	Time    struct {
		Created int64 `json:"created"` // in milliseconds of Unix time
		Updated int64 `json:"updated"`
	} `json:"time"`
}

// WriteDocument writes the document from which `opencode import` makes the session of the
// transcript path in the worktree dir.
func WriteDocument(path, dir string) error {
	data, err := disk.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	c := conversation{Info: sessionInfo{Slug: "entire", Project: "entire", Dir: dir, Version: "1"}}
	for text := range bytes.Lines(data) {
		var l line
		var h head
		if json.Unmarshal(text, &l) != nil || json.Unmarshal(l.Message, &h) != nil {
			continue
		}
		if len(c.Messages) == 0 {
			c.Info.ID, c.Info.Time.Created = l.Session, h.Info.Time.Created
			c.Info.Title = "Session of " + time.UnixMilli(h.Info.Time.Created).UTC().Format(time.DateTime)
		}
		c.Info.Time.Updated = max(h.Info.Time.Created, h.Info.Time.Completed)
		c.Messages = append(c.Messages, l.Message)
	}
	if len(c.Messages) == 0 {
		return errors.New("the transcript has no messages")
	}
	if data, err = json.Marshal(c); err != nil {
		return fmt.Errorf("encode the conversation: %w", err)
	}
	return disk.WriteDurable(DocumentPath(path), data, 0o600)
}
