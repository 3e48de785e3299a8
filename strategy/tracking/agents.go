package tracking

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/subagents"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// maxAgents is how many places in subagents' transcripts a state keeps.
	maxAgents = 100
	// agentsNow is how many bytes of them a hook reads; the next one continues.
	agentsNow = 32 << 20
)

// unreadAgents lists the transcripts in which something is new, those that
// changed longest ago first.
func (ag *Agents) unreadAgents(s *session.State) ([]subagents.File, error) {
	files, err := s.Recorder.SubagentFiles(s.TranscriptPath)
	if err != nil {
		return nil, err
	}
	agents := &s.Recorder.Agents
	files = slices.DeleteFunc(files, func(f subagents.File) bool {
		cursor, known := agents.Read[f.Name]
		return (known && f.IsRead(cursor)) || (!known && f.Changed.Before(agents.Since))
	})
	slices.SortFunc(files, func(a, b subagents.File) int { return a.Changed.Compare(b.Changed) })
	return files, nil
}

// readAgent adds the tokens and edits that are new in a subagent's transcript.
func (ts *Transcripts) readAgent(ctx context.Context, s *session.State, n *Pending, f subagents.File) error {
	scan, err := transcript.Read(ctx, f.Path, s.Recorder.Agents.Read[f.Name])
	if err != nil {
		if ctx.Err() == nil {
			ts.Log.InfoContext(ctx, "transcript of a subagent not read", "session_id", s.ID, "error", err.Error())
			return nil
		}
		return errors.Join(err, ctx.Err())
	}
	used, err := ts.count(s, n, scan.Messages)
	if err != nil {
		return err
	}
	if used != (session.Tokens{}) {
		total := s.Total().Plus(session.Tokens{Subagents: &used})
		s.TokenUsage = &total
	}
	began := s.Recorder.Turn.Start
	if began.IsZero() && s.LastInteraction != nil { // no turn runs: the last one ended then
		began = *s.LastInteraction
	}
	if scan.LastTime.IsZero() || !scan.LastTime.Before(began.Add(-workspace.ClockSlack)) { // else it is an earlier turn's
		addTurn(&s.Recorder.Turn, transcript.Scan{Edits: scan.Edits})
	}
	agents := &s.Recorder.Agents
	if _, known := agents.Read[f.Name]; !known && len(agents.Read) >= maxAgents {
		agents.Read = nil // what is read again is not counted again
	}
	if f.Changed.After(agents.Since) {
		agents.Since = f.Changed
	}
	read := maps.Clone(agents.Read)
	if read == nil {
		read = map[string]transcript.Cursor{}
	}
	read[f.Name] = scan.Cursor
	agents.Read = read
	return nil
}

// AgentEdits returns the paths that subagents' edit tools named since their
// transcripts were last read. It changes nothing.
func (ag *Agents) AgentEdits(ctx context.Context, s *session.State) []string {
	files, err := ag.unreadAgents(s)
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
