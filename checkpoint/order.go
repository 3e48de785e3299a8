package checkpoint

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Main returns the session that a reader who shows only one of them shows; false
// if there is none.
func (c Checkpoint) Main() (Stored, bool) {
	if len(c.Sessions) == 0 {
		return Stored{}, false
	}
	return c.Sessions[0], true
}

// Lines is how many of the commit's lines the session wrote, as its metadata
// says. Other versions count for each session only its own lines, and have no
// other figure.
func (m SessionMeta) Lines() int {
	var a struct {
		Session *int `json:"session_lines"`
		Agent   int  `json:"agent_lines"`
	}
	if len(m.Attribution) == 0 || json.Unmarshal(m.Attribution, &a) != nil {
		return 0
	}
	if a.Session != nil {
		return *a.Session
	}
	return a.Agent
}

// bySignificance puts the session first that wrote most of the commit, of equals
// the one that was added later.
func bySignificance(sessions []Stored) {
	if len(sessions) < 2 {
		return
	}
	lines := make(map[int]int, len(sessions))
	for _, s := range sessions {
		lines[s.Index] = s.Meta.Lines()
	}
	slices.SortFunc(sessions, func(a, b Stored) int {
		return cmp.Or(cmp.Compare(lines[b.Index], lines[a.Index]), b.Meta.CreatedAt.Compare(a.Meta.CreatedAt), cmp.Compare(b.Index, a.Index))
	})
}
