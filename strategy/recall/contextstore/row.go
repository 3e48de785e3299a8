package contextstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Entry is the list entry of a saved context.
type Entry struct {
	ID        string        `json:"id"`
	Summary   string        `json:"summary"`
	CreatedAt time.Time     `json:"created_at"`
	Status    recall.Status `json:"status"`
	Cause     recall.Cause  `json:"cause"`
	Mode      recall.Mode   `json:"mode"`
	// Worktree is the root of the worktree, Branch and Commit its HEAD.
	Worktree string `json:"worktree"`
	Branch   string `json:"branch,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Session  string `json:"session,omitempty"`
	Files    int    `json:"files"`
	Size     int64  `json:"size_bytes"`
	// Text is the searched text in lower case; empty without a query.
	Text string `json:"-"`
}

// Filter selects entries; an empty field selects all.
type Filter struct {
	Worktree, Branch, Session string
	Status                    recall.Status
	// Query is a list of words that must all occur in the id, summary, description, task,
	// steps, decisions, blockers, branch, files or tags, ignoring case.
	Query string
	Limit int
}

// maxSearched is the limit of the searched text, in bytes.
const maxSearched = 16 << 10

// List returns the selected entries, the newest first. It skips contexts that can't be
// read.
func (s Store) List(ctx context.Context, f Filter) ([]Entry, error) {
	rows, err := s.rows(ctx, catalog.ContextFilter{
		Worktree: f.Worktree, Branch: f.Branch, Session: f.Session, Status: string(f.Status),
		Words: strings.Fields(strings.ToLower(f.Query)), Limit: f.Limit,
	})
	if err != nil {
		return nil, fmt.Errorf("list context checkpoints: %w", err)
	}
	list := make([]Entry, 0, len(rows))
	for _, r := range rows {
		list = append(list, entryOf(r))
	}
	return list, nil
}

// rowOf returns the row of a stored context.
func rowOf(d *stored) catalog.Context {
	a := d.State.Analysis
	parts := []string{d.ID, d.Summary, d.Description, a.CurrentTask, d.State.Context.GitBranch}
	for _, list := range [][]string{d.Tags, a.NextSteps, a.Decisions, a.Blockers, slices.Sorted(maps.Keys(d.State.Files))} {
		parts = append(parts, list...)
	}
	text := strings.ToLower(strings.Join(parts, "\n"))
	if len(text) > maxSearched {
		text = text[:maxSearched]
		for !utf8.ValidString(text) && text != "" {
			text = text[:len(text)-1]
		}
	}
	r := catalog.Context{
		ID: d.ID, OID: string(d.oid), Summary: d.Summary, Created: d.CreatedAt.UTC(), Order: d.Order,
		Status: string(d.Status), Cause: string(d.Cause), Mode: string(d.Mode),
		Worktree: d.Worktree, Branch: d.State.Context.GitBranch, Commit: d.State.Context.GitCommit,
		Files: int64(len(d.State.Files)), Bytes: d.State.TotalSize, Text: text,
	}
	if len(d.Sessions) > 0 {
		r.Session = d.Sessions[0]
	}
	return r
}

func entryOf(r catalog.Context) Entry {
	return Entry{
		ID: r.ID, Summary: r.Summary, CreatedAt: r.Created,
		Status: recall.Status(r.Status), Cause: recall.Cause(r.Cause), Mode: recall.Mode(r.Mode),
		Worktree: r.Worktree, Branch: r.Branch, Commit: r.Commit, Session: r.Session,
		Files: int(r.Files), Size: r.Bytes, Text: r.Text,
	}
}
