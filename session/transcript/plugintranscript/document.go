package plugintranscript

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// DocumentPath returns the path of a transcript's document while the agent hasn't imported it.
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
	Project string `json:"projectID"` // OpenCode replaces it with the folder's id
	Dir     string `json:"directory"`
	Title   string `json:"title"`
	Version string `json:"version"`
	Time    struct {
		Created int64 `json:"created"` // in milliseconds of Unix time
		Updated int64 `json:"updated"`
	} `json:"time"`
}

// WriteDocument writes the document from which `opencode import` creates the session of the
// transcript path in the worktree dir.
func WriteDocument(path, dir string) error {
	data, err := disk.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	c, err := conversationOf(data, dir)
	if err != nil {
		return err
	}
	return c.write(DocumentPath(path))
}

// WriteFork writes a document with the first size bytes of the transcript path as a new session
// beside the agent's, and returns the new session's id and the document's path. The session, its
// messages and their parts get new ids that sort like the old ones.
func WriteFork(path string, size int64, dir string, random io.Reader) (session, document string, err error) {
	data, err := disk.ReadFile(path)
	if err != nil {
		return "", "", fmt.Errorf("read the transcript: %w", err)
	}
	c, err := conversationOf(data[:min(size, int64(len(data)))], dir)
	if err != nil {
		return "", "", err
	}
	tail := make([]byte, idTail/2) //nolint:mnd // two digits a byte
	if _, err := io.ReadFull(random, tail); err != nil {
		return "", "", err
	}
	renamed := func(id string) string {
		if len(id) > 2*idTail { //nolint:mnd // else it has no random part
			id = id[:len(id)-idTail]
		}
		return id + hex.EncodeToString(tail)
	}
	var pairs []string
	add := func(id string) {
		if id != "" {
			pairs = append(pairs, `"`+id+`"`, `"`+renamed(id)+`"`)
		}
	}
	session = renamed(c.Info.ID)
	add(c.Info.ID)
	for _, m := range c.Messages {
		var h struct {
			Info  struct{ ID string }   `json:"info"`
			Parts []struct{ ID string } `json:"parts"`
		}
		_ = json.Unmarshal(m, &h) // unreadable messages have no id
		add(h.Info.ID)
		for _, p := range h.Parts {
			add(p.ID)
		}
	}
	rename := strings.NewReplacer(pairs...)
	c.Info.ID, c.Info.Title = session, c.Info.Title+", rewound"
	for i, m := range c.Messages {
		c.Messages[i] = json.RawMessage(rename.Replace(string(m)))
	}
	document = DocumentPath(filepath.Join(filepath.Dir(path), session+filepath.Ext(path)))
	return session, document, c.write(document)
}

// idTail is the number of random characters at the end of an id. The characters before them are the
// time and a counter.
const idTail = 8

// conversationOf returns the conversation in the lines of a transcript.
func conversationOf(data []byte, dir string) (conversation, error) {
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
		return c, errors.New("the transcript has no messages")
	}
	return c, nil
}

func (c conversation) write(path string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the conversation: %w", err)
	}
	return disk.WriteDurable(path, data, 0o600)
}
