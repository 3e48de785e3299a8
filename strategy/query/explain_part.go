package query

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// slot is a session's part in one checkpoint.
type slot struct {
	checkpoint checkpoint.ID
	created    time.Time
	dir        git.OID
}

// slotsOf returns the slots of a session that a checkpoint has. Only if this checkpoint isn't among
// those that are known to have a part of the session, as in a branch that was squashed, all metadata
// is read, once.
func (r record) slotsOf(ctx context.Context, session string, in checkpoint.ID) ([]slot, error) {
	if *r.slots != nil {
		return (*r.slots)[session], nil
	}
	ids, err := r.CheckpointsOf(ctx, session)
	if err != nil {
		return nil, err
	}
	slots := map[string][]slot{}
	add := func(c checkpoint.Checkpoint, err error) {
		if err != nil {
			return // one that can't be read is no predecessor
		}
		for _, s := range c.Sessions {
			slots[s.Meta.SessionID] = append(slots[s.Meta.SessionID], slot{c.ID, s.Meta.CreatedAt, s.Dir})
		}
	}
	if slices.Contains(ids, in) {
		for _, id := range ids {
			add(r.Read(ctx, id))
		}
		return slots[session], nil
	}
	if ids, err = r.Find(ctx, ""); err != nil {
		return nil, err
	}
	err = r.ReadAll(ctx, ids, func(_ checkpoint.ID, c checkpoint.Checkpoint, err error) error {
		add(c, err)
		return nil
	})
	if err != nil {
		return nil, err
	}
	*r.slots = slots
	return slots[session], nil
}

// startOf returns the line where a part begins whose start isn't stored: after the line that the
// metadata names, which remains if a transcript was replaced, else after the last line of the
// session's previous checkpoint, as another version wrote it; 0 if there is neither.
func (r record) startOf(ctx context.Context, id checkpoint.ID, s checkpoint.Stored) (int, error) {
	m := s.Meta
	if m.TranscriptStart > 0 || m.SessionID == "" || s.Absent {
		return 0, nil
	}
	var last []byte
	switch {
	case m.TranscriptLines > 0 && m.TranscriptIDAtStart == "":
		return 0, nil
	case m.TranscriptLines > 0: // in records of other programs it names where a turn began
		last = []byte(uuidKey + m.TranscriptIDAtStart + `"`)
	default:
		var err error
		if last, err = r.lastOfPrevious(ctx, id, m); err != nil || last == nil {
			return 0, git.UnlessMissing(err)
		}
	}
	now, err := checkpoint.UnhashedTranscript(ctx, r.Repo, s.Dir)
	if err != nil {
		return 0, git.UnlessMissing(err)
	}
	start := 0
	err = now.Lines(ctx, r.Repo, checkpoint.LineSpan{}, func(line []byte, n int) error {
		if start == 0 && bytes.Contains(line, last) {
			start = n + 1
		}
		return nil
	})
	return start, git.UnlessMissing(err)
}

// asks reports whether the items of a part have the request of a turn that wrote lines of the commit, or
// whether that is unknown.
func (s *CheckpointSession) asks() bool {
	if s.Attribution == nil || len(s.Attribution.Turns) == 0 {
		return true
	}
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	return slices.ContainsFunc(s.Attribution.Turns, func(turn checkpoint.Turn) bool {
		title := words(strings.TrimSuffix(turn.Title, plain.Ellipsis)) // it may be cut
		return slices.ContainsFunc(s.Items, func(item transcript.Item) bool {
			return item.By == transcript.User && strings.Contains(words(item.Text), title)
		})
	})
}

// lastOfPrevious returns the member that identifies the last line of the session in its previous
// checkpoint, nil if there is none.
func (r record) lastOfPrevious(ctx context.Context, id checkpoint.ID, m checkpoint.SessionMeta) (last []byte, err error) {
	slots, err := r.slotsOf(ctx, m.SessionID, id)
	if err != nil {
		return nil, err
	}
	var previous slot
	for _, other := range slots {
		if other.checkpoint != id && other.created.Before(m.CreatedAt) && other.created.After(previous.created) {
			previous = other
		}
	}
	if previous.dir == "" {
		return nil, nil
	}
	before, err := checkpoint.UnhashedTranscript(ctx, r.Repo, previous.dir)
	if err != nil {
		return nil, err
	}
	err = before.Lines(ctx, r.Repo, checkpoint.LineSpan{}, func(line []byte, _ int) error {
		if _, rest, found := bytes.Cut(line, []byte(uuidKey)); found {
			if end := bytes.IndexByte(rest, '"'); end > 0 {
				last = slices.Concat([]byte(uuidKey), rest[:end+1])
			}
		}
		return nil
	})
	return last, err
}

// uuidKey is the beginning of the member that identifies a line.
const uuidKey = `"uuid":"`

// placeOf classifies a part without items after its start: it is the whole stored transcript if a
// version stored only the part, or has nothing new.
func (sr sessionReader) placeOf(ctx context.Context, stored checkpoint.StoredTranscript, start int) (whole, nothing bool, err error) {
	lines, head := 0, true
	continued := false // the first line continues one that isn't stored
	err = stored.Lines(ctx, sr.repo, checkpoint.LineSpan{}, func(line []byte, _ int) error {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		lines++
		var e struct {
			UUID   string  `json:"uuid"`
			Parent *string `json:"parentUuid"`
		}
		if head && json.Unmarshal(line, &e) == nil && e.UUID != "" {
			head, continued = false, e.Parent != nil && *e.Parent != ""
		}
		return nil
	})
	whole = start >= lines && continued
	return whole, start == lines && !whole, err
}
