package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// place is the end of the part of a session's transcript that is read: the beginning of its
// last turn, which may continue.
type place struct {
	// Live is the place in the live transcript, if there is one.
	Live transcript.Cursor `json:"live,omitzero"`
	// Line is the number of the turn's first line, Key the hash of its id, Lines the number of
	// lines read.
	Line  int   `json:"line"`
	Key   int64 `json:"key"`
	Lines int   `json:"lines"`
	// Origin is the session of which the transcript's lines are, as far as they name one.
	Origin string `json:"origin,omitempty"`
}

func decodePlace(text string) (p place) {
	if json.Unmarshal([]byte(text), &p) != nil {
		return place{}
	}
	return p
}

// live reads the live transcripts that have changed.
func (r *run) live(ctx context.Context) error {
	forgotten, err := checkpoint.LoadTombstones(r.Repo.CommonDir)
	if err != nil {
		return err
	}
	for name := range r.known.States {
		if r.now.States[name] != "" {
			continue
		}
		if err := r.w.DropUnlinked(ctx, strings.TrimSuffix(name, filepath.Ext(name))); err != nil {
			return err
		}
	}
	r.now.Open = map[string]string{}
	var states []*session.State // that have changed
	for _, name := range slices.Sorted(maps.Keys(r.now.States)) {
		before := r.known.Open[name]
		same := r.known.States[name] == r.now.States[name]
		if same && (before == "" || r.known.Live[before] == r.now.Live[before] && !r.agentsChanged(before)) {
			if before != "" {
				r.now.Open[name] = before
			}
			continue
		}
		state, err := r.Sessions.Load(strings.TrimSuffix(name, filepath.Ext(name)))
		if err != nil || forgotten.HasSession(state.ID) {
			continue // other commands report a damaged state
		}
		if state.TranscriptPath != "" && state.Phase != session.Ended {
			r.now.Open[name] = state.TranscriptPath
			r.now.addLive(state.TranscriptPath)
		}
		states = append(states, state)
	}
	for i, state := range states {
		r.progress("live sessions", int64(i), int64(len(states)))
		if err := r.liveSession(ctx, state); err != nil {
			return err
		}
		if err := r.done(ctx); err != nil {
			return err
		}
	}
	return nil
}

// agentsChanged reports whether the transcript of a subagent of a session has changed.
func (r *run) agentsChanged(path string) bool {
	dir := transcript.SubagentDir(path)
	if dir == "" {
		return false
	}
	dir += string(filepath.Separator)
	for name, stamp := range r.now.Live {
		if strings.HasPrefix(name, dir) && r.known.Live[name] != stamp {
			return true
		}
	}
	return false
}

// liveSession reads the new part of a session's live transcript, and the changed transcripts
// of its subagents.
func (r *run) liveSession(ctx context.Context, state *session.State) error {
	had, _, err := r.w.FindSession(ctx, state.ID)
	if err != nil {
		return err
	}
	row, err := r.w.PutSession(ctx, index.Session{Name: state.ID, Agent: state.AgentType, Worktree: state.WorktreePath, Live: state.TranscriptPath, Started: state.StartedAt})
	if err != nil || state.TranscriptPath == "" {
		return err
	}
	from := decodePlace(had.Cursor)
	if had.Live != state.TranscriptPath {
		from = place{}
	}
	t, lines, err := r.readLive(ctx, state, from)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, transcript.ErrNotFound) {
			r.skip(ctx, "session "+state.ID, err)
		}
		return ctx.Err()
	}
	drafts := t.finished()
	if _, err := r.putTurns(ctx, row, drafts); err != nil {
		return err
	}
	if t.titled > 0 {
		if _, err := r.w.PutSession(ctx, index.Session{Name: state.ID, Title: t.title, Titled: int(t.titled)}); err != nil {
			return err
		}
	}
	if len(drafts) > 0 {
		last := drafts[len(drafts)-1]
		to := place{Line: last.Line, Key: last.Key, Lines: lines, Origin: last.origin}
		if to.Live, err = transcript.CursorAt(state.TranscriptPath, last.offset, last.Line); err == nil {
			err = r.setPlace(ctx, state.ID, to)
		}
		if err != nil {
			return err
		}
	}
	return r.subagents(ctx, row, state)
}

// setPlace records how far a session's transcript is read.
func (r *run) setPlace(ctx context.Context, name string, p place) error {
	data, err := json.Marshal(p)
	if err == nil {
		_, err = r.w.PutSession(ctx, index.Session{Name: name, Cursor: string(data)})
	}
	return err
}

// putTurns writes turns of a session and returns their rows.
func (r *run) putTurns(ctx context.Context, row int64, drafts []*turnDraft) ([]int64, error) {
	ids := make([]int64, 0, len(drafts))
	for _, d := range drafts {
		id, err := r.w.Turns.Put(ctx, row, &d.Turn)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		for agent, t := range d.subagents {
			if all := t.finished(); len(all) > 0 {
				err = r.w.Turns.PutSubagent(ctx, id, index.SubagentTurn{Agent: agent, Calls: all[0].Calls, Text: all[0].all()})
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// readLive reads the turns of a live transcript from a place on, redacted. lines is the number of its
// lines.
func (r *run) readLive(ctx context.Context, state *session.State, from place) (t turnReader, lines int, err error) {
	least, err := r.Sessions.Forgotten(state.ID)
	if err != nil {
		return t, 0, err
	}
	at, size, err := transcript.Fit(state.TranscriptPath, from.Live)
	if err != nil {
		return t, 0, err
	}
	if least, _, err = transcript.Fit(state.TranscriptPath, least); err != nil {
		return t, 0, err
	}
	if least.Offset > at.Offset {
		at = least
	}
	t = turnReader{session: transcript.SessionID(state.ID), root: state.WorktreePath, model: state.Recorder.Model}
	if at.Offset == from.Live.Offset {
		t.origin = from.Origin
	}
	n, offset := at.Lines, at.Offset
	err = transcript.Lines(ctx, state.TranscriptPath, at.Offset, size, func(line []byte, end int64) error {
		clean, err := r.redacted(ctx, line)
		if err != nil {
			return err
		}
		t.line(clean, n, offset)
		n, offset = n+1, end
		return nil
	})
	return t, n, err
}

// redacted returns a line as a checkpoint would have it.
func (r *run) redacted(ctx context.Context, line []byte) ([]byte, error) {
	line = transcript.Stored(line)
	if len(line) > checkpoint.MaxLine {
		return nil, nil
	}
	return checkpoint.RedactLine(ctx, r.Redact, line)
}

// subagents reads the transcripts of a session's subagents that have changed.
func (r *run) subagents(ctx context.Context, row int64, state *session.State) error {
	files, err := state.Recorder.SubagentFiles(state.TranscriptPath)
	if err != nil {
		r.skip(ctx, "subagents", err)
		return nil
	}
	for _, file := range files {
		stamp := fmt.Sprintf("%d.%d", file.Size, file.Changed.UnixNano())
		if r.known.Live[file.Path] == stamp {
			continue
		}
		t := turnReader{subagent: true}
		n := 0
		err := transcript.Lines(ctx, file.Path, 0, file.Size, func(line []byte, _ int64) error {
			clean, err := r.redacted(ctx, line)
			if err != nil {
				return err
			}
			t.line(clean, n, 0)
			n++
			return nil
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.skip(ctx, file.Name, err)
			continue
		}
		all := t.finished()
		if len(all) == 0 {
			continue
		}
		turn, err := r.w.Turns.By(ctx, row, all[0].At)
		if err != nil {
			return err
		}
		if turn == 0 {
			continue
		}
		if err := r.w.Turns.PutSubagent(ctx, turn, index.SubagentTurn{Agent: transcript.SubagentID(file.Name), Calls: all[0].Calls, Messages: all[0].Messages, Text: all[0].all()}); err != nil {
			return err
		}
	}
	return nil
}
