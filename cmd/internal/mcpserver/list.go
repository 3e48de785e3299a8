package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

const (
	defaultLimit = 20
	maxLimit     = 100
	// maxQuery is the maximum length of a query, in bytes.
	maxQuery = 1 << 10
)

// listInput is the input of checkpoint_list.
type listInput struct {
	Limit *int `json:"limit"`
	All   bool `json:"all"`
}

// searchInput is the input of checkpoint_search.
type searchInput struct {
	Query string `json:"query"`
	Limit *int   `json:"limit"`
}

// listed is the result of both tools.
type listed struct {
	Checkpoints []listedEntry `json:"checkpoints"`
	// More reports whether there are more checkpoints than the limit.
	More bool `json:"more"`
}

type listedEntry struct {
	contextstore.Entry

	Saved string `json:"saved"` // age in words
}

// list implements checkpoint_list.
func (s *Server) list(ctx context.Context, c call, in listInput) (result, error) {
	limit, err := checkLimit(in.Limit)
	if err != nil {
		return nil, err
	}
	return s.here(ctx, c, "", func(c call, _ string) (result, error) {
		f := contextstore.Filter{Worktree: c.project.Root, Limit: limit}
		if in.All {
			f.Worktree = ""
		}
		return entries(ctx, c.project.Store, f, s.Now())
	})
}

// search implements checkpoint_search.
func (s *Server) search(ctx context.Context, c call, in searchInput) (result, error) {
	limit, err := checkLimit(in.Limit)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Query) == "":
		return nil, errors.New("query is empty, allowed: words to look for")
	case len(in.Query) > maxQuery:
		return nil, fmt.Errorf("query has %d bytes, allowed: at most %d", len(in.Query), maxQuery)
	}
	return s.here(ctx, c, "", func(c call, _ string) (result, error) {
		return entries(ctx, c.project.Store, contextstore.Filter{Query: in.Query, Limit: limit}, s.Now())
	})
}

func checkLimit(limit *int) (int, error) {
	switch {
	case limit == nil:
		return defaultLimit, nil
	case *limit < 1 || *limit > maxLimit:
		return 0, fmt.Errorf("limit is %d, allowed: 1 to %d", *limit, maxLimit)
	default:
		return *limit, nil
	}
}

// entries returns the checkpoints that the filter selects.
func entries(ctx context.Context, store Store, f contextstore.Filter, now time.Time) (result, error) {
	limit := f.Limit
	f.Limit++
	found, err := store.List(ctx, f)
	if err != nil {
		return nil, err
	}
	out := listed{Checkpoints: make([]listedEntry, 0, len(found)), More: len(found) > limit}
	for _, e := range found[:min(len(found), limit)] {
		out.Checkpoints = append(out.Checkpoints, listedEntry{Entry: e, Saved: brief.Ago(now, e.CreatedAt)})
	}
	return data(out)
}
