package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// dialogue is a file of the benchmark MemoryCode: sessions of a mentor and a mentee, in which the
// mentor gives instructions for code and replaces some of them later.
type dialogue struct {
	Context struct {
		Mentor string `json:"mentor"`
	} `json:"context"`
	Sessions []struct {
		Type       []string          `json:"type"` // of the topics: pivot-add, pivot-update, filler-add, ...
		Topic      []string          `json:"topic"`
		Regex      []json.RawMessage `json:"session_regex"`
		Cumulative []json.RawMessage `json:"cumulative_regex"` // those that hold after the session
		Query      []string          `json:"cumulative_eval_query"`
		Text       string            `json:"text"`
	} `json:"sessions"`
}

// readDialogue makes a history of a dialogue: the mentor is the person, the mentee the agent, and a
// last session asks for code to which the instructions apply.
func readDialogue(name string) (*history, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var d dialogue
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(d.Sessions) == 0 {
		return nil, fmt.Errorf("%s: no sessions", name)
	}
	w := &writer{
		history: &history{name: strings.TrimSuffix(filepath.Base(name), ".json")},
		folder:  "/home/mentor/project", branch: "main", files: map[string]string{},
	}
	begin := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	next := func() error {
		const layout, day = "2006-01-02 15:04 ", 24 * time.Hour
		begin = begin.Add(day)
		return w.session(begin.Format(layout) + newPair)
	}
	for _, s := range d.Sessions {
		if err := next(); err != nil {
			return nil, err
		}
		for part := range strings.SplitSeq(s.Text, "\n\n") {
			who, said, _ := strings.Cut(strings.TrimSpace(part), ": ")
			if who == d.Context.Mentor {
				w.add(ofUser(said))
			} else if said != "" {
				w.add(w.said(textBlock{"text", said}))
			}
		}
	}
	if err := next(); err != nil {
		return nil, err
	}
	last := d.Sessions[len(d.Sessions)-1]
	w.add(ofUser("Write a " + strings.Join(last.Query, ", and a ")))
	w.end()
	holds := func(regex json.RawMessage) bool {
		return slices.ContainsFunc(last.Cumulative, func(r json.RawMessage) bool { return string(compact(r)) == string(compact(regex)) })
	}
	for _, s := range d.Sessions {
		var instructions []string
		for i, topic := range s.Topic[:min(len(s.Topic), len(s.Type))] {
			if strings.HasPrefix(s.Type[i], "pivot") {
				instructions = append(instructions, topic)
			}
		}
		for i, topic := range instructions[:min(len(instructions), len(s.Regex))] {
			m := inQuotes.FindStringSubmatch(topic)
			if m == nil {
				continue // it has no form that a text could have letter for letter
			}
			g := gold{kind: ruleNeed, phrases: m[1:], never: !holds(s.Regex[i]), literal: true}
			if !slices.ContainsFunc(w.history.gold, func(o gold) bool { return o.phrases[0] == m[1] && o.never == g.never }) {
				w.history.gold = append(w.history.gold, g)
			}
		}
	}
	return w.history, nil
}

// inQuotes matches the form in an instruction: always start method names with 'x_'.
var inQuotes = regexp.MustCompile(`'([^' ]+)'`)

// compact returns JSON without the spaces between its parts.
func compact(raw json.RawMessage) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	data, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return data
}
