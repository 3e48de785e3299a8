package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

const (
	// historyTokens is the maximum size of a result about the history in tokens. Turns at
	// the end that do not fit are omitted.
	historyTokens = 1500
	// historyPrompt and historyText are the maximum lengths of a prompt and of a command in
	// a result, in bytes.
	historyPrompt = 160
	historyText   = 200
	// The limits of the number of turns in a result.
	searchLimit     = 5
	logLimit        = 10
	maxHistoryLimit = 30
)

// historyInput is the common input of both tools.
type historyInput struct {
	Limit  *int     `json:"limit"`
	File   string   `json:"file"`
	Branch string   `json:"branch"`
	Author string   `json:"author"`
	Tool   string   `json:"tool"`
	Hours  *float64 `json:"hours"`
	Failed bool     `json:"failed"`
}

// historySearchInput is the input of history_search.
type historySearchInput struct {
	historyInput

	Query string `json:"query"`
	Kind  string `json:"kind"`
}

// historyLogInput is the input of history_log.
type historyLogInput struct {
	historyInput

	Session     string `json:"session"`
	Uncommitted bool   `json:"uncommitted"`
	Commands    bool   `json:"commands"`
}

// histories is the result of both tools.
type histories struct {
	Turns []historyTurn `json:"turns"`
	// More reports whether there are more turns, including those that did not fit.
	More    bool              `json:"more"`
	Instead map[string]string `json:"instead,omitempty"`
	// Missing describes what this clone lacks, if no turn was found.
	Missing string `json:"missing,omitempty"`
}

// historyTurn is a short description of a turn.
type historyTurn struct {
	When       string   `json:"when,omitempty"`
	Prompt     string   `json:"prompt"`
	Kind       string   `json:"kind,omitempty"`
	Excerpt    string   `json:"excerpt,omitempty"`
	Branch     string   `json:"branch,omitempty"`
	Author     string   `json:"author,omitempty"`
	Changed    string   `json:"changed,omitempty"`
	Commands   []string `json:"commands,omitempty"`
	Session    string   `json:"session"`
	Checkpoint string   `json:"checkpoint,omitempty"`
	Commit     string   `json:"commit,omitempty"`
	// TakenBack reports that a rewind took back what it did.
	TakenBack bool `json:"taken_back,omitempty"`
}

// filter returns the filter and the limit of an input.
func (in *historyInput) filter(now time.Time, limit int) (index.Filter, int, error) {
	f := index.Filter{File: in.File, Branch: in.Branch, Person: in.Author, Tool: in.Tool, Failed: in.Failed}
	if in.Hours != nil {
		const most = 24 * 366 * 100
		if *in.Hours <= 0 || *in.Hours > most {
			return f, 0, fmt.Errorf("hours is %g, allowed: more than 0", *in.Hours)
		}
		f.Since = now.Add(-time.Duration(*in.Hours * float64(time.Hour)))
	}
	if in.Limit != nil {
		if limit = *in.Limit; limit < 1 || limit > maxHistoryLimit {
			return f, 0, fmt.Errorf("limit is %d, allowed: 1 to %d", limit, maxHistoryLimit)
		}
	}
	return f, limit, nil
}

// historySearch implements history_search.
func (s *Server) historySearch(ctx context.Context, c call, in historySearchInput) (result, error) {
	f, limit, err := in.filter(s.Now(), searchLimit)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Query) == "":
		return nil, errors.New("query is empty, allowed: words to look for")
	case len(in.Query) > maxQuery:
		return nil, fmt.Errorf("query has %d bytes, allowed: at most %d", len(in.Query), maxQuery)
	}
	q := index.Query{Text: in.Query, Filter: f, Limit: limit, Now: s.Now()}
	if in.Kind != "" {
		kind := slices.Index(index.KindNames(), in.Kind)
		if kind < 0 {
			return nil, fmt.Errorf("kind is %.40q, allowed: %s", in.Kind, strings.Join(index.KindNames(), ", "))
		}
		q.Kinds = []index.Kind{index.Kind(kind)}
	}
	return s.history(ctx, c, func(r *index.Reader) (histories, error) {
		found, err := r.Search(ctx, q)
		out := histories{More: found.More > 0, Instead: found.Instead}
		for i := range found.Hits {
			h := &found.Hits[i]
			turn := turnOf(&h.Row, s.Now())
			turn.Kind = h.Kind.String()
			for _, p := range h.Excerpt {
				turn.Excerpt += p.Text
			}
			out.Turns = append(out.Turns, turn)
		}
		return out, err
	})
}

// historyLog implements history_log.
func (s *Server) historyLog(ctx context.Context, c call, in historyLogInput) (result, error) {
	f, limit, err := in.filter(s.Now(), logLimit)
	if err != nil {
		return nil, err
	}
	f.Session, f.Uncommitted = in.Session, in.Uncommitted
	return s.history(ctx, c, func(r *index.Reader) (histories, error) {
		rows, more, err := r.Turns(ctx, f, limit)
		if err != nil {
			return histories{}, err
		}
		out := histories{More: more}
		for i := range rows {
			turn := turnOf(&rows[i], s.Now())
			if in.Commands {
				if turn.Commands, err = commandsOf(ctx, r, rows[i].ID, in.Failed); err != nil {
					return histories{}, err
				}
			}
			out.Turns = append(out.Turns, turn)
		}
		return out, nil
	})
}

// commandsOf returns the commands of a turn with their outcomes, only the failed ones if
// failed is set.
func commandsOf(ctx context.Context, r *index.Reader, turn int64, failed bool) (list []string, err error) {
	calls, err := r.Calls(ctx, turn, false)
	for _, c := range calls {
		if failed && c.Outcome != index.Failed {
			continue
		}
		text := []string{"?", "ok", "failed"}[c.Outcome]
		if c.Outcome == index.Failed && c.Status > 0 {
			text = fmt.Sprintf("exit %d", c.Status)
		}
		list = append(list, text+": "+shortLine(c.Text, historyText))
	}
	return list, err
}

// turnOf returns the description of a turn for a result.
func turnOf(r *index.Row, now time.Time) historyTurn {
	const digits = 10
	t := historyTurn{Prompt: shortLine(r.Prompt, historyPrompt), Branch: r.Branch, Author: r.Person, Session: r.Session, TakenBack: r.TakenBack}
	if !r.At.IsZero() {
		t.When = brief.Ago(now, r.At)
	}
	if r.Files > 0 {
		t.Changed = fmt.Sprintf("%d files, +%d -%d", r.Files, r.Added, r.Removed)
	}
	if n := len(r.Checkpoints); n > 0 {
		t.Checkpoint = r.Checkpoints[n-1]
	}
	if n := len(r.Commits); n > 0 {
		t.Commit = r.Commits[n-1].OID[:min(digits, len(r.Commits[n-1].OID))]
	}
	return t
}

// shortLine returns the beginning of a text as one line.
func shortLine(text string, most int) string {
	return short(strings.Join(strings.Fields(text), " "), most)
}

// history queries the index of the call's repository, and returns as many of the turns as
// fit into historyTokens.
func (s *Server) history(ctx context.Context, c call, ask func(*index.Reader) (histories, error)) (result, error) {
	return s.here(ctx, c, "", func(c call, _ string) (_ result, err error) {
		r, err := c.project.History(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		out, err := ask(r)
		if err != nil {
			return nil, err
		}
		for tokens(out) > historyTokens && len(out.Turns) > 0 {
			last := &out.Turns[len(out.Turns)-1]
			out.More = true
			if len(out.Turns) == 1 && len(last.Commands) > 0 { // omit the last commands of a single turn
				last.Commands = last.Commands[:len(last.Commands)-1]
				continue
			}
			out.Turns = out.Turns[:len(out.Turns)-1]
		}
		if out.Turns == nil {
			out.Turns, out.Missing = []historyTurn{}, c.project.Missing(ctx)
		}
		return data(out)
	})
}
