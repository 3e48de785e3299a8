package explain

import "encoding/json"

// Summary is what a model wrote about a session's part.
type Summary struct {
	Intent    string    `json:"intent"`
	Outcome   string    `json:"outcome"`
	Learnings Learnings `json:"learnings"`
	Friction  []string  `json:"friction"`
	OpenItems []string  `json:"open_items"`
}

// Learnings are what the session found out.
type Learnings struct {
	Repo     []string  `json:"repo"`
	Code     []Finding `json:"code"`
	Workflow []string  `json:"workflow"`
}

// Finding is something about a place in the code.
type Finding struct {
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"`
	EndLine int    `json:"end_line,omitempty"`
	Finding string `json:"finding"`
}

// parseSummary reads a stored summary; nil if there is none that can be read.
func parseSummary(raw json.RawMessage) *Summary {
	s := new(Summary)
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

// Attribution is who wrote the lines of a commit, as far as it is shown.
type Attribution struct {
	AgentLines     int     `json:"agent_lines"`
	TotalCommitted int     `json:"total_committed"`
	Percentage     float64 `json:"agent_percentage"`
}

// parseAttribution reads a stored attribution; nil if there is none that can
// be read.
func parseAttribution(raw json.RawMessage) *Attribution {
	a := new(Attribution)
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, a) != nil {
		return nil
	}
	return a
}
