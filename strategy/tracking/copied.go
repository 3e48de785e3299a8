package tracking

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// withoutCopied returns the scan without the history of another session that the agent has copied
// to the beginning of the transcript, as some do when a session is continued or forked, and without the
// history of the session itself that was imported. The session then begins after it. The history is what
// precedes the first prompt after the last message whose tokens another session or an import has counted.
func withoutCopied(ctx context.Context, w *workspace.Workspace, s *session.State, scan transcript.Scan) (transcript.Scan, error) {
	if scan.First > 0 || len(scan.Messages) == 0 || !scan.FirstTime.Before(s.StartedAt) {
		return scan, nil
	}
	last := lastCountedElsewhere(w, s, scan.Messages)
	if last < 0 {
		return scan, nil
	}
	line := scan.Cursor.Lines
	if i := slices.IndexFunc(scan.Prompts, func(p transcript.Prompt) bool { return p.Line > last }); i >= 0 {
		line = scan.Prompts[i].Line
	}
	n, offset := 0, int64(0)
	err := transcript.Lines(ctx, s.TranscriptPath, 0, scan.Cursor.Offset, func(_ []byte, end int64) error {
		if n == line {
			return errCopied
		}
		n, offset = n+1, end
		return nil
	})
	if err != nil && !errors.Is(err, errCopied) {
		return scan, fmt.Errorf("read transcript: %w", err)
	}
	from, err := transcript.CursorAt(s.TranscriptPath, offset, line)
	if err != nil {
		return scan, err
	}
	own, err := transcript.Read(ctx, s.TranscriptPath, from)
	if err != nil || own.Restarted {
		return scan, err
	}
	s.TranscriptStart, s.Recorder.Turn.Line = max(s.TranscriptStart, line), max(s.Recorder.Turn.Line, line)
	return own, nil
}

// errCopied ends the reading of a copied history.
var errCopied = errors.New("end of the copied history")

// lastCountedElsewhere returns the line of the last of the messages whose tokens another session of
// the repository has counted, or which was imported; -1 if there is none. What can't be read is skipped.
func lastCountedElsewhere(w *workspace.Workspace, s *session.State, messages []transcript.Message) int {
	lines := make(map[uint64]int, len(messages))
	for _, m := range messages {
		lines[MessageKey(m.ID)] = m.Line
	}
	last := -1
	_ = w.ImportedMessages(func(key uint64) {
		if line, found := lines[key]; found {
			last = max(last, line)
		}
	})
	states, _ := w.Sessions.All()
	for _, other := range states {
		if other.ID == s.ID {
			continue
		}
		records, err := w.Sessions.SideOf(other, session.UsageKind).Read(other.Recorder.Usage)
		if err != nil {
			continue
		}
		for ; len(records) >= usageSize; records = records[usageSize:] {
			if line, found := lines[binary.LittleEndian.Uint64(records)]; found {
				last = max(last, line)
			}
		}
	}
	return last
}
