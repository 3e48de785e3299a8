package tracking

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

const (
	// maxAgents bounds the places in subagents' transcripts that a state keeps.
	maxAgents = 100
	// agentsNow bounds the bytes of them that a hook reads; the next hook continues.
	agentsNow = 32 << 20
)

// unreadAgents lists the transcripts with new lines, by the time of their change, oldest
// first.
func unreadAgents(s *session.State) ([]transcript.SubagentFile, error) {
	files, err := s.Recorder.SubagentFiles(s.TranscriptPath)
	if err != nil {
		return nil, err
	}
	agents := &s.Recorder.Agents
	files = slices.DeleteFunc(files, func(f transcript.SubagentFile) bool {
		cursor, known := agents.Read[f.Name]
		return (known && f.IsRead(cursor)) || (!known && f.Changed.Before(agents.Since))
	})
	slices.SortFunc(files, func(a, b transcript.SubagentFile) int { return a.Changed.Compare(b.Changed) })
	return files, nil
}

// AgentEdits returns the paths that subagents' edit tools named since their
// transcripts were last read. It changes nothing.
func AgentEdits(ctx context.Context, s *session.State) []string {
	files, err := unreadAgents(s)
	if err != nil {
		return nil
	}
	var edits []string
	left := int64(agentsNow)
	for _, f := range files {
		from := s.Recorder.Agents.Read[f.Name]
		if left -= max(0, f.Size-from.Offset); left < 0 {
			break
		}
		scan, err := transcript.Read(ctx, f.Path, from)
		if err != nil {
			continue
		}
		for _, e := range scan.Edits {
			edits = append(edits, e.Path)
		}
	}
	return edits
}
