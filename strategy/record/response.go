package record

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/plain"
)

const (
	// maxSaid bounds a text of a summary in bytes, maxListed a list in it.
	maxSaid   = 2000
	maxListed = 20
)

// readSummary parses the summary in a model's response: the one JSON object in it, which must
// have an intent and an outcome. Texts and lists are cut to their bounds, and control
// characters are removed.
func readSummary(answer string) (checkpoint.SessionSummary, error) {
	var s checkpoint.SessionSummary
	begin, end := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	if begin < 0 || end < begin {
		return s, ErrNoSummary
	}
	if err := json.Unmarshal([]byte(answer[begin:end+1]), &s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrNoSummary, err)
	}
	eachText(&s, said)
	if s.Intent == "" || s.Outcome == "" {
		return s, fmt.Errorf("%w: intent or outcome is missing", ErrNoSummary)
	}
	for _, list := range []*[]string{&s.Learnings.Repo, &s.Learnings.Workflow, &s.Friction, &s.OpenItems} {
		*list = filled(*list, func(t string) bool { return t != "" })
	}
	s.Learnings.Code = filled(s.Learnings.Code, func(f checkpoint.Finding) bool { return f.Finding != "" })
	for i := range s.Learnings.Code {
		f := &s.Learnings.Code[i]
		f.Path = said(f.Path)
		if f.Line = max(f.Line, 0); f.EndLine < f.Line {
			f.EndLine = 0
		}
	}
	return s, nil
}

// eachText replaces each text except paths by the result of change.
func eachText(s *checkpoint.SessionSummary, change func(string) string) {
	s.Intent, s.Outcome = change(s.Intent), change(s.Outcome)
	for _, list := range [][]string{s.Learnings.Repo, s.Learnings.Workflow, s.Friction, s.OpenItems} {
		for i := range list {
			list[i] = change(list[i])
		}
	}
	for i := range s.Learnings.Code {
		s.Learnings.Code[i].Finding = change(s.Learnings.Code[i].Finding)
	}
}

// filled returns the good elements of a list, at most maxListed, never nil.
func filled[T any](list []T, good func(T) bool) []T {
	kept := make([]T, 0, min(len(list), maxListed))
	for _, t := range list {
		if good(t) && len(kept) < maxListed {
			kept = append(kept, t)
		}
	}
	return kept
}

// said returns a text as one line without hidden characters, cut to its bound.
func said(text string) string {
	text = strings.NewReplacer("\n", " ", "\t", " ").Replace(plain.Clean(text))
	if len(text) > maxSaid {
		text = plain.Head(text, maxSaid) + plain.Ellipsis
	}
	return text
}
