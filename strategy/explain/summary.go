package explain

import "encoding/json"

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
