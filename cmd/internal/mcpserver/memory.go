package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// memoryTokens is the maximum size of a result of the tools for facts, memoryLimit their default
// number.
const memoryTokens, memoryLimit = 1500, 10

// memorySearchInput is the input of memory_search.
type memorySearchInput struct {
	Query string `json:"query"`
	Limit *int   `json:"limit"`
}

// memoryForFileInput is the input of memory_for_file.
type memoryForFileInput struct {
	Path string `json:"path"`
}

// remembered is the result of both tools.
type remembered struct {
	Facts []fact `json:"facts"`
	// More reports whether some facts did not fit.
	More bool `json:"more"`
}

// fact is a fact. Its texts are quotes of a transcript.
type fact struct {
	Kind string `json:"kind"`
	By   string `json:"by"`
	// Person is the name of another person whose session it was.
	Person  string   `json:"person,omitempty"`
	Text    string   `json:"text"`
	Why     string   `json:"why,omitempty"`
	Files   []string `json:"files,omitempty"`
	Command string   `json:"command,omitempty"`
	When    string   `json:"when,omitempty"` // age in words
	Session string   `json:"session"`
	State   string   `json:"state,omitempty"`
}

// memorySearch implements memory_search.
func (s *Server) memorySearch(ctx context.Context, c call, in memorySearchInput) (result, error) {
	limit := memoryLimit
	switch {
	case strings.TrimSpace(in.Query) == "":
		return nil, errors.New("query is empty, allowed: words to look for")
	case len(in.Query) > maxQuery:
		return nil, fmt.Errorf("query has %d bytes, allowed: at most %d", len(in.Query), maxQuery)
	case in.Limit != nil:
		if limit = *in.Limit; limit < 1 || limit > maxHistoryLimit {
			return nil, fmt.Errorf("limit is %d, allowed: 1 to %d", limit, maxHistoryLimit)
		}
	}
	return s.here(ctx, c, "", func(c call, _ string) (result, error) {
		list, err := c.project.Work.SearchFacts(ctx, in.Query, limit+1)
		if err != nil {
			return nil, err
		}
		return facts(list[:min(len(list), limit)], len(list) > limit, s.Now())
	})
}

// memoryForFile implements memory_for_file.
func (s *Server) memoryForFile(ctx context.Context, c call, in memoryForFileInput) (result, error) {
	if err := (Lines{Path: in.Path}).check(); err != nil {
		return nil, err
	}
	return s.here(ctx, c, "", func(c call, _ string) (result, error) {
		path, ok := disk.NewResolver(c.project.Root, c.project.Root).Rel(filepath.FromSlash(in.Path))
		if !ok {
			return nil, errors.New("path leads out of the worktree, allowed: a path from its root")
		}
		list, err := c.project.Work.AboutFile(ctx, path)
		if err != nil {
			return nil, err
		}
		return facts(list, false, s.Now())
	})
}

// facts returns as many facts as fit into memoryTokens.
func facts(list []savedcontext.FactNow, more bool, now time.Time) (result, error) {
	out := remembered{Facts: []fact{}, More: more}
	for _, f := range list {
		item := fact{
			Kind: string(f.Kind), By: string(f.By), Person: f.Person, Text: f.Text, Why: f.Why, Files: f.Files, Command: f.Command,
			Session: f.Session, State: string(f.State),
		}
		if !f.At.IsZero() {
			item.When = brief.Ago(now, f.At)
		}
		with := remembered{Facts: append(out.Facts, item), More: true}
		if tokens(with) > memoryTokens {
			out.More = true
			break
		}
		out.Facts = with.Facts
	}
	return data(out)
}
