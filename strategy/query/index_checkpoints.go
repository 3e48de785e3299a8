package query

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// checkpoints reads the checkpoints that are new, or have changed, since the last run, and
// those that were incomplete in this clone, if they may be complete now.
func (r *run) checkpoints(ctx context.Context) error {
	again := r.known.Packs != r.now.Packs
	if r.known.Refs == r.now.Refs && !again {
		return nil
	}
	state, err := readRecords(ctx, r.Workspace)
	if err != nil {
		return err
	}
	r.absent = len(state.Absent) > 0
	var before []git.OID
	if err := r.meta(ctx, treesKey, &before); err != nil {
		return err
	}
	refs, err := r.readRefs(ctx, treesKey, &state)
	if err != nil {
		return err
	}
	since := refs.changed()
	if slices.Equal(before, state.trees) && len(since) == 0 && !again {
		return nil
	}
	changed, err := changedRecords(ctx, r.Repo, before, state.trees)
	if err != nil {
		return err
	}
	for id := range since {
		changed[id] = true
	}
	var lacking []checkpoint.ID
	if err := r.meta(ctx, lackingKey, &lacking); err != nil {
		return err
	}
	r.lacking = map[checkpoint.ID]bool{}
	for _, id := range lacking {
		if r.lacking[id] = true; again {
			changed[id] = true
		}
	}
	for id := range changed {
		delete(r.lacking, id)
	}
	slots, err := r.readSlots(ctx, state.Records, slices.Sorted(maps.Keys(changed)))
	if err != nil {
		return err
	}
	if err := r.putSlots(ctx, slots); err != nil {
		return err
	}
	if err := r.refAuthors(ctx, &state, since); err != nil {
		return err
	}
	return errors.Join(refs.save(ctx, r), r.setMeta(ctx, treesKey, state.trees), r.setMeta(ctx, lackingKey, slices.Sorted(maps.Keys(r.lacking))))
}

// indexedSlot is a session's part of a checkpoint.
type indexedSlot struct {
	checkpoint.Stored

	id      checkpoint.ID
	branch  string
	session string
	tasks   git.OID // the tasks of all sessions of the checkpoint
	only    bool    // the checkpoint has no other session
	// unlinked reports that this is the part of an imported session that no commit has.
	unlinked bool
	// first is the time of the session's first checkpoint among those read.
	first int64
	lines []fileLines
}

// fileLines is a file that a session touched, with the lines of the commit that are the session's.
type fileLines struct {
	path           string
	added, removed int
	turns          map[int]int // added lines, by the transcript's line at which their turn begins
}

// recordedLines returns the files of a slot, with their lines if they are recorded.
func recordedLines(m *checkpoint.SessionMeta) []fileLines {
	a, _ := checkpoint.ParseAttribution(m.Attribution)
	recorded := map[string]checkpoint.FileAttribution{}
	for _, f := range a.Files {
		recorded[string(f.Path)] = f
	}
	list := make([]fileLines, len(m.FilesTouched))
	for i, path := range m.FilesTouched {
		f := recorded[path]
		list[i] = fileLines{path: path, added: checkpoint.ParseRanges(f.AgentRanges).Len(), removed: checkpoint.ParseRanges(f.RemovedRanges).Len()}
		for n, written := range checkpoint.ParseWritten(f.Written) {
			if n >= len(a.Writers) || a.Writers[n].Turn < 0 || a.Writers[n].Turn >= len(a.Turns) {
				continue
			}
			if list[i].turns == nil {
				list[i].turns = map[int]int{}
			}
			list[i].turns[a.Turns[a.Writers[n].Turn].Line] += written.Len()
		}
	}
	return list
}

// readSlots reads the metadata of checkpoints and returns their slots, ordered by session,
// each session's oldest first. Missing checkpoints return errReplaced.
func (r *run) readSlots(ctx context.Context, records checkpoint.Records, ids []checkpoint.ID) ([]indexedSlot, error) {
	var slots []indexedSlot
	first := map[string]int64{}
	done := int64(0)
	err := records.ReadAll(ctx, ids, func(id checkpoint.ID, c checkpoint.Checkpoint, err error) error {
		r.progress("metadata of checkpoints", done, int64(len(ids)))
		done++
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, checkpoint.ErrNotFound):
			return errReplaced
		case err != nil:
			if errors.Is(err, git.ErrMissing) {
				r.lacking[id] = true
			}
			r.skip(ctx, "checkpoint "+string(id), err)
			return nil
		}
		if err := r.w.Checkpoints.Drop(ctx, string(id)); err != nil {
			return err
		}
		if c.Absent {
			r.lacking[id] = true
		}
		for _, s := range c.Sessions {
			if s.Absent {
				r.lacking[id] = true
			}
			name := transcript.SessionID(s.Meta.SessionID)
			if session.CheckID(name) != nil {
				continue
			}
			at := s.Meta.CreatedAt.UnixMilli()
			if known, found := first[name]; !found || at < known {
				first[name] = at
			}
			meta := s.Meta // without large fields: there may be many slots
			s.Meta = checkpoint.SessionMeta{
				CreatedAt: meta.CreatedAt, FilesTouched: meta.FilesTouched, Agent: meta.Agent, Model: meta.Model, TokenUsage: meta.TokenUsage,
				TranscriptStart: meta.TranscriptStart, TranscriptEnd: meta.TranscriptEnd, TranscriptLines: meta.TranscriptLines, Branch: meta.Branch,
				RedactionRules: meta.RedactionRules, Kind: meta.Kind,
			}
			slots = append(slots, indexedSlot{Stored: s, id: id, branch: cmp.Or(s.Meta.Branch, c.Summary.Branch), session: name, tasks: c.Tasks, only: len(c.Sessions) == 1, lines: recordedLines(&meta), unlinked: meta.IsUnlinked()})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range slots {
		slots[i].first = first[slots[i].session]
	}
	slices.SortStableFunc(slots, func(a, b indexedSlot) int {
		return cmp.Or(cmp.Compare(a.first, b.first), strings.Compare(a.session, b.session), a.Meta.CreatedAt.Compare(b.Meta.CreatedAt), strings.Compare(string(a.id), string(b.id)))
	})
	return slots, nil
}

// indexedSlot writes the part of a slot's transcript that the index lacks, which is read again unless it
// was read from the place in the index, and records which turns are in the checkpoint.
func (r *run) slot(ctx context.Context, s indexedSlot, read *reading) error {
	agent := s.Meta.Agent
	if !transcript.IsAgentName(agent) {
		agent = ""
	}
	row, err := r.w.PutSession(ctx, index.Session{Name: s.session, Agent: agent})
	if err != nil {
		return err
	}
	err = r.w.Checkpoints.PutSlot(ctx, index.Slot{Checkpoint: string(s.id), Branch: s.branch, At: s.Meta.CreatedAt, Session: row, Files: s.Meta.FilesTouched, Rules: s.Meta.RedactionRules, Imported: s.Meta.IsImported(), Unlinked: s.unlinked})
	if err != nil {
		return err
	}
	stored := read.stored
	if read.err != nil && !read.whole {
		return r.skipped(ctx, s, read.err)
	}
	had, _, err := r.w.FindSession(ctx, s.session)
	if err != nil {
		return err
	}
	part := index.Part{Checkpoint: string(s.id), Branch: s.branch, At: s.Meta.CreatedAt, From: s.Meta.TranscriptStart, To: s.Meta.TranscriptEnd, Session: row}
	at := decodePlace(had.Cursor)
	covered := true // whether all blobs of the transcript have been read for its session
	for _, blob := range stored.Segments {
		seen, err := r.w.Checkpoints.SeenBlobs(ctx, hashOf(s.session+" "+string(blob)))
		if err != nil {
			return err
		}
		covered = covered && seen
	}
	if covered && s.Meta.TranscriptLines > 0 {
		return r.putPart(ctx, s, row, part)
	}
	if !read.whole || read.at.Line != at.Line || read.at.Key != at.Key {
		read.transcript(ctx, r.Repo, &s, at) // it was read from another place
	}
	drafts, lines, from := read.drafts, read.lines, read.from
	if read.err != nil {
		return r.skipped(ctx, s, read.err)
	}
	ids, err := r.putTurns(ctx, row, drafts)
	if err == nil {
		err = r.nameSession(ctx, had, s.session, read)
	}
	if err != nil {
		return err
	}
	if from == 0 { // the lines in the index may be those of another transcript
		part.Session = 0
		if part.Turns, err = r.partOf(ctx, s, row, drafts, ids); err != nil {
			return err
		}
	}
	if err := r.putPart(ctx, s, row, part); err != nil {
		return err
	}
	if agent == "" && len(drafts) > 0 {
		var first []byte
		if first, err = checkpoint.ReadBlob(ctx, r.Repo, stored.Segments[0]); err == nil {
			_, err = r.w.PutSession(ctx, index.Session{Name: s.session, Agent: transcript.Form(first)})
		}
	}
	if err == nil && had.Live == "" && len(ids) > 0 { // a live session's subagents are read from their transcripts
		var usage error // the total usage of the checkpoint's subagents
		if u := s.Meta.TokenUsage; u != nil && u.Subagents != nil {
			m := index.Message{
				ID: hashOf("subagents " + string(s.id) + " " + s.session), Subagent: true,
				Tokens: index.Tokens{
					Input: u.Subagents.Input, CacheWrite: u.Subagents.CacheCreation,
					CacheRead: u.Subagents.CacheRead, Output: u.Subagents.Output,
				},
			}
			usage = r.w.Turns.PutSubagent(ctx, ids[len(ids)-1], index.SubagentTurn{Agent: "stored", Messages: []index.Message{m}})
		}
		err = errors.Join(usage, r.storedSubagents(ctx, s, row))
	}
	if err != nil || len(drafts) == 0 || at.Lines > lines {
		return err
	}
	last := drafts[len(drafts)-1]
	return r.setPlace(ctx, s.session, place{Line: last.Line, Key: last.Key, Lines: lines, Live: at.Live, Origin: last.origin})
}

// nameSession writes the title of a session. That of a live session is read from its transcript.
func (r *run) nameSession(ctx context.Context, had index.Session, name string, read *reading) error {
	if had.Live != "" {
		return nil
	}
	_, err := r.w.PutSession(ctx, index.Session{Name: name, Title: read.title, Titled: int(read.titled)})
	return err
}

// putPart writes a slot's part of a checkpoint, and adds the files of the slot to the turns that
// changed them: those that the record of the lines names, else the only turn of the part.
func (r *run) putPart(ctx context.Context, s indexedSlot, row int64, part index.Part) error {
	if err := r.w.Checkpoints.Put(ctx, part); err != nil {
		return err
	}
	only, err := r.w.Checkpoints.OnlyTurn(ctx, row, string(s.id))
	if err != nil {
		return err
	}
	files := map[int64][]index.FileChange{}
	for _, f := range s.lines {
		added := map[int64]int{} // by turn
		for line, n := range f.turns {
			turn, err := r.w.Turns.From(ctx, row, line)
			if err != nil {
				return err
			}
			if turn != 0 {
				added[turn] += n
			}
		}
		if len(added) == 0 && only != 0 {
			added[only] = f.added
		}
		for turn, n := range added {
			change := index.FileChange{Path: f.path, Added: n, Recorded: true}
			if turn == only {
				change.Removed = f.removed
			}
			files[turn] = append(files[turn], change)
		}
	}
	for turn, changes := range files {
		if err := r.w.Turns.AddFiles(ctx, turn, changes); err != nil {
			return err
		}
	}
	return nil
}

// skipped logs why a slot isn't indexed, unless the error ends the run.
func (r *run) skipped(ctx context.Context, s indexedSlot, err error) error {
	if ctx.Err() == nil && !errors.Is(err, index.ErrLost) && !errors.Is(err, index.ErrBusy) {
		if errors.Is(err, git.ErrMissing) {
			r.lacking[s.id] = true
		}
		r.skip(ctx, "transcript of "+s.session+" in "+string(s.id), err)
		return nil
	}
	return err
}

// partOf returns the turns in a checkpoint's part of a transcript that was read whole. If the
// part isn't stored, or not in lines of this transcript, these are the turns of no other
// checkpoint.
func (r *run) partOf(ctx context.Context, s indexedSlot, row int64, drafts []*turnDraft, ids []int64) (turns []int64, err error) {
	end := s.Meta.TranscriptEnd
	for i, d := range drafts {
		if (end == 0 || d.Line < end) && d.End > s.Meta.TranscriptStart {
			turns = append(turns, ids[i])
		}
	}
	if len(turns) > 0 && (s.Meta.TranscriptStart > 0 || s.Meta.TranscriptLines > 0) {
		return turns, nil
	}
	linked, err := r.w.Checkpoints.Linked(ctx, row, string(s.id))
	if err != nil {
		return nil, err
	}
	turns = nil
	for _, id := range ids {
		if !linked[id] {
			turns = append(turns, id)
		}
	}
	if len(turns) == 0 && len(ids) > 0 { // the previous checkpoint's turn continued
		turns = ids[len(ids)-1:]
	}
	return turns, nil
}

// storedSubagents reads the stored transcripts of a session's subagents. Unreadable ones are
// skipped.
func (r *run) storedSubagents(ctx context.Context, s indexedSlot, row int64) error {
	if s.tasks == "" {
		return nil
	}
	entries, err := r.Repo.Tree(ctx, s.tasks)
	if err != nil {
		return ctx.Err()
	}
	for _, e := range entries {
		end, found, err := checkpoint.ReadTaskEnd(ctx, r.Repo, s.tasks, e.Name)
		if err != nil || !found || !end.IsOf(s.session, s.only) {
			continue
		}
		stored, err := checkpoint.TaskTranscript(ctx, r.Repo, s.tasks, e.Name)
		if err != nil || len(stored.Segments) == 0 {
			continue
		}
		t := turnReader{subagent: true}
		if err := stored.Lines(ctx, r.Repo, checkpoint.LineSpan{}, func(line []byte, n int) error { t.line(line, n, 0); return nil }); err != nil {
			r.skip(ctx, "subagent "+e.Name, err)
			continue
		}
		all := t.finished()
		if len(all) == 0 {
			continue
		}
		turn, err := r.w.Turns.By(ctx, row, all[0].At)
		if err == nil && turn != 0 {
			err = r.w.Turns.PutSubagent(ctx, turn, index.SubagentTurn{Agent: end.Agent, Calls: all[0].Calls, Text: all[0].all()})
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
