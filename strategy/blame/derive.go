package blame

import (
	"context"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// derivation caches the transcripts that were read to find authors that no record has.
type derivation struct {
	sessions map[checkpoint.ID][]derivedSession
}

// derivedSession holds the texts that the edit tools of a session wrote up to a checkpoint.
type derivedSession struct {
	meta   checkpoint.SessionMeta
	writes *transcript.Writes
	// written has the same texts by file.
	written query.Written
	turns   []checkpoint.Turn
}

// derive finds the author of a line from the edits in the transcripts of its checkpoints. It
// returns author if there is none.
func (at *attributing) derive(ctx context.Context, g *group, l *Line, author Author) (Author, error) {
	if !attribution.Significant([]byte(l.Text)) {
		return author, nil
	}
	for _, id := range g.ids {
		sessions, err := at.sessionsOf(ctx, id)
		if err != nil {
			return author, err
		}
		for _, s := range sessions {
			end := s.meta.TranscriptEnd
			w, found := s.writes.Find([]string{g.path}, l.Text, func(w transcript.Write) bool { return end == 0 || w.Line < end })
			if !found {
				continue
			}
			a := Author{Kind: Agent, Commit: g.commit, Checkpoint: id, Agent: s.meta.Agent, Session: s.meta.SessionID, Call: w.Call, Derived: true, Imported: s.meta.IsImported()}
			for _, turn := range s.turns {
				if turn.Line <= w.Line {
					a.Turn = turn
				}
			}
			return a, nil
		}
	}
	return author, nil
}

// sessionsOf reads the transcripts of a checkpoint. It skips those that can't be read.
func (at *attributing) sessionsOf(ctx context.Context, id checkpoint.ID) ([]derivedSession, error) {
	if sessions, known := at.derived.sessions[id]; known {
		return sessions, nil
	}
	if at.derived.sessions == nil {
		at.derived.sessions = map[checkpoint.ID][]derivedSession{}
	}
	var sessions []derivedSession
	if rec := at.records[id]; rec.stored {
		c, err := rec.source.Read(ctx, id)
		if err != nil {
			return nil, ctx.Err() // treated as a missing checkpoint
		}
		for _, stored := range c.Sessions {
			if s, err := readEdits(ctx, at.Repo, stored); err == nil {
				sessions = append(sessions, s)
			} else if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
	}
	at.derived.sessions[id] = sessions
	return sessions, nil
}

// readEdits reads the texts that the edit tools of a stored session wrote, and the session's turns.
func readEdits(ctx context.Context, repo *git.Repo, stored checkpoint.Stored) (derivedSession, error) {
	s := derivedSession{meta: stored.Meta, writes: &transcript.Writes{}}
	t, err := checkpoint.UnhashedTranscript(ctx, repo, stored.Dir)
	if err != nil {
		return s, err
	}
	var events transcript.Events
	err = t.Lines(ctx, repo, checkpoint.LineSpan{To: stored.Meta.TranscriptEnd}, func(line []byte, n int) error {
		s.writes.AddLine(line, n)
		e, ok := events.Line(line)
		if ok {
			s.written.Add(e)
		}
		if ok && e.IsPrompt() {
			s.turns = append(s.turns, checkpoint.Turn{Line: n, Title: checkpoint.FirstPrompt(e.Title())})
		}
		return nil
	})
	return s, err
}
