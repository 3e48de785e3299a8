package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
)

// SessionSummary is a model's summary of a session's part in a checkpoint, stored as the member
// summary of its metadata.
type SessionSummary struct {
	Intent    string    `json:"intent"`
	Outcome   string    `json:"outcome"`
	Learnings Learnings `json:"learnings"`
	Friction  []string  `json:"friction"`
	OpenItems []string  `json:"open_items"`
}

// Learnings are the findings of a session.
type Learnings struct {
	Repo     []string  `json:"repo"`
	Code     []Finding `json:"code"`
	Workflow []string  `json:"workflow"`
}

// Finding is a finding about a place in the code.
type Finding struct {
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"`
	EndLine int    `json:"end_line,omitempty"`
	Finding string `json:"finding"`
}

// ParseSummary parses the member summary of a session's metadata, nil if there is none or it can't
// be parsed. Its lists are never nil.
func ParseSummary(raw json.RawMessage) *SessionSummary {
	s := new(SessionSummary)
	if len(raw) == 0 || json.Unmarshal(raw, s) != nil || s.Intent+s.Outcome == "" {
		return nil
	}
	l := &s.Learnings
	for _, list := range []*[]string{&s.Friction, &s.OpenItems, &l.Repo, &l.Workflow} {
		*list = append([]string{}, *list...) // never null
	}
	l.Code = append([]Finding{}, l.Code...)
	return s
}

// SetSummary sets the summary in the session's metadata in a checkpoint, and returns the new directory.
// It returns ErrNotFound if the checkpoint or the session isn't there. Nothing else changes. Only
// objects are written.
func SetSummary(ctx context.Context, repo *git.Repo, at Present, of SessionIn, s SessionSummary) (dir git.OID, err error) {
	defer func() {
		if err != nil {
			dir, err = "", fmt.Errorf("write summary of %s: %w", of.ID, err)
		}
	}()
	d, err := at.directory(ctx, repo)
	if err != nil {
		return "", err
	}
	i := d.find(of.Session)
	if i < 0 {
		return "", ErrNotFound
	}
	meta := d.slots[i].meta
	if meta.Summary, err = json.Marshal(s); err != nil {
		return "", err
	}
	data, err := meta.encode()
	if err != nil {
		return "", err
	}
	oid, err := WriteBlob(repo, data)
	if err != nil {
		return "", err
	}
	return git.EditTree(ctx, repo, at.Dir, []git.TreeEdit{{Path: d.slots[i].name() + "/" + metadataFile, Mode: git.ModeFile, OID: oid}})
}

// SessionIn names a session in a checkpoint.
type SessionIn struct {
	ID      ID
	Session string
}
