package tracking

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// RedactNow bounds the bytes of new transcript that a hook redacts.
	RedactNow = 256 << 10
	// NoLimit is for detached children.
	NoLimit = 0
	// rested is the time after which git's gc may have removed stored objects without
	// references.
	rested = 7 * 24 * time.Hour
	// maxCalls bounds the tool calls kept of one turn, maxModel the bytes of a model's name.
	maxCalls = 2000
	maxModel = 100
)

// CatchUp reads the new part of the session's transcript and adds it to the state: prompts,
// tokens, and the calls and edits of the running turn. A missing transcript is not an error.
// Data for side files is left in n.
func CatchUp(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) error {
	w.Redact.Recall(s.Recorder.Known)
	if s.TranscriptPath == "" {
		return nil
	}
	err := errors.Join(
		w.Sessions.SideOf(s, session.PromptsKind).Check(s.Recorder.Prompts-int64(len(n.prompts.Data))),
		w.Sessions.SideOf(s, session.UsageKind).Check(s.Recorder.Usage-int64(len(n.usage.Data))),
	)
	if err == nil {
		err = readAll(ctx, w, s, n)
	}
	if errors.Is(err, session.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		// A side file is missing: all of it is in the transcript.
		w.Log.WarnContext(ctx, "transcript read again", "session_id", s.ID, "error", err.Error())
		if s.Recorder.Cursor, err = w.Sessions.Forgotten(s.ID); err != nil {
			return err
		}
		forgetTranscript(s, n)
		s.TranscriptStart = s.Recorder.Cursor.Lines
		err = readAll(ctx, w, s, n)
	}
	return err
}

// readAll reads the session's transcript and those of its subagents.
func readAll(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) error {
	if err := readNew(ctx, w, s, n); err != nil {
		return err
	}
	files, err := unreadAgents(s)
	if err != nil { // the folder is the agent's own: unreadable files in it are skipped
		w.Log.InfoContext(ctx, "subagents not read", "session_id", s.ID, "error", err.Error())
		return nil
	}
	left := int64(agentsNow)
	for _, f := range files {
		from := s.Recorder.Agents.Read[f.Name]
		if left -= max(0, f.Size-from.Offset); left < 0 {
			break
		}
		scan, err := transcript.Read(ctx, f.Path, from)
		if err != nil && ctx.Err() == nil {
			w.Log.InfoContext(ctx, "transcript of a subagent not read", "session_id", s.ID, "error", err.Error())
			continue
		}
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		used, err := count(w, s, n, scan.Messages)
		if err != nil {
			return err
		}
		if used != (session.Tokens{}) {
			total := s.Total().Plus(session.Tokens{Subagents: &used})
			s.TokenUsage = &total
		}
		noteElsewhere(w, s, scan)
		addAgent(s, Own(w.Repo, s, scan))
		agents := &s.Recorder.Agents
		if _, known := agents.Read[f.Name]; !known && len(agents.Read) >= maxAgents {
			agents.Read = nil // messages that are read again are not counted again
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
	}
	return nil
}

func readNew(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) error {
	rec := &s.Recorder
	scan, err := scan(ctx, w, s, n)
	if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrNotRegular) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(scan.Messages) > 0 {
		used, err := count(w, s, n, scan.Messages)
		if err != nil {
			return err
		}
		total := s.Total().Plus(used)
		s.TokenUsage = &total
	}
	if err := placeTurns(s, scan); err != nil {
		return err
	}
	if err := AddPrompts(ctx, w, s, n, scan.Prompts); err != nil {
		return err
	}
	noteElsewhere(w, s, scan)
	addTurns(rec, Own(w.Repo, s, scan))
	for _, a := range scan.Subagents { // if no hook reports their ends, they end at the stop
		if agent.Of(s.AgentType).NotesSubagents && rec.FindTask(ByToolUse(a.ToolUse)) == nil {
			rec.AddTask(session.Task{
				ToolUse: a.ToolUse, Agent: a.ID, Turn: s.TurnID, Started: w.Env.Now(), Phase: session.TaskBackground,
				Type: w.FirstPrompt(a.Type), Description: w.FirstPrompt(a.Description),
			})
		}
	}
	for id, uuid := range scan.Answers {
		if t := rec.FindTask(ByToolUse(id)); t != nil && t.Answer == "" {
			t.Answer = uuid
		}
	}
	if scan.LastAssistant != "" {
		rec.Said = workspace.Digest(scan.LastAssistant)
		if rec.Said == rec.Expect {
			rec.Expect = ""
		}
		if rec.Turn.Summary, err = w.RedactText(ctx, scan.LastAssistant); err != nil {
			return err
		}
	}
	if scan.Model != "" {
		rec.Model = scan.Model
		apart := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
		if len(rec.Model) > maxModel || strings.ContainsFunc(rec.Model, apart) {
			rec.Model = "" // it isn't one word
		}
	}
	rec.Cursor = scan.Cursor
	if scan.LastUUID != "" {
		rec.LastUUID = scan.LastUUID
	}
	return nil
}

// scan reads the new part of the session's transcript, or all of a replaced one, except for
// the forgotten part.
func scan(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) (transcript.Scan, error) {
	scan, err := transcript.Read(ctx, s.TranscriptPath, s.Recorder.Cursor)
	if err != nil {
		return scan, fmt.Errorf("read transcript: %w", err)
	}
	if s.Recorder.Cursor.Offset == 0 {
		s.TokenUsage = nil // recount tokens counted by another version
	}
	if !scan.Restarted {
		return withoutCopied(ctx, w, s, scan)
	}
	w.Log.InfoContext(ctx, "transcript was replaced, read again", "session_id", s.ID)
	forgetTranscript(s, n)
	from, err := w.Sessions.Forgotten(s.ID)
	if err != nil {
		return scan, err
	}
	if from.Offset > 0 {
		if rest, err := transcript.Read(ctx, s.TranscriptPath, from); err == nil && !rest.Restarted {
			scan, s.TranscriptStart = rest, from.Lines
		}
	}
	return withoutCopied(ctx, w, s, scan)
}

// forgetTranscript removes the data of the transcript from the state. New side files begin
// beside those of the saved state.
func forgetTranscript(s *session.State, n *Pending) {
	n.prompts, n.usage, n.Texts = Tail{}, Tail{}, nil
	s.Renew(session.PromptsKind)
	s.Renew(session.UsageKind)
	s.Recorder.Prompts, s.Recorder.Usage, s.Recorder.Stored, s.TokenUsage = 0, 0, s.Recorder.Stored.Anew(), nil
	s.TranscriptStart, s.Recorder.Turn.Line, s.Recorder.Agents = 0, 0, session.Agents{}
	clear(s.Recorder.Since)
}

// TurnSoFar returns the session's running turn with the new lines of the transcripts, and where the
// session's transcript has been read to. A call that runs in the background is left out: it doesn't
// show which changes are its own. It changes nothing.
func TurnSoFar(ctx context.Context, w *workspace.Workspace, s *session.State) (session.Turn, transcript.Cursor, error) {
	t, to := s.Recorder.Turn, s.Recorder.Cursor
	t.Edits, t.Calls = slices.Clone(t.Edits), slices.Clone(t.Calls)
	if s.TranscriptPath != "" {
		scan, err := transcript.Read(ctx, s.TranscriptPath, to)
		missing := errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrNotRegular)
		if err != nil && !missing {
			return t, to, fmt.Errorf("read transcript: %w", err)
		}
		if err == nil {
			to = scan.Cursor
			if len(s.Recorder.Unclosed) == 0 {
				scan = since(scan, t.Line)
			}
			addTurn(&t, Own(w.Repo, s, scan))
			t.Edits = append(t.Edits, AgentEdits(ctx, s)...)
		}
	}
	last := 0
	for _, c := range t.Calls {
		last = max(last, c.Line)
	}
	t.Calls = slices.DeleteFunc(t.Calls, func(c transcript.Call) bool { return c.Background || c.Open && c.Line < last })
	return t, to, nil
}

// placeTurns finds the transcript's lines at which turns begin whose prompts followed unclosed turns:
// the first prompt that the transcript didn't have when the hook of the prompt ran.
func placeTurns(s *session.State, scan transcript.Scan) error {
	rec := &s.Recorder
	if len(rec.Unclosed) == 0 {
		return nil
	}
	from := rec.Cursor
	if scan.Restarted {
		from = transcript.Cursor{}
	}
	next := 0
	for _, t := range rec.Turns() {
		if t.Offset == 0 {
			continue
		}
		if t.Offset > from.Offset {
			lines, err := transcript.CountLines(s.TranscriptPath, from.Offset, t.Offset)
			if err != nil {
				return err
			}
			t.Line = from.Lines + lines
		}
		t.Line = max(t.Line, next)
		i := slices.IndexFunc(scan.Prompts, func(p transcript.Prompt) bool { return p.Line >= t.Line })
		if i >= 0 {
			t.Line, t.Offset = scan.Prompts[i].Line, 0
			next = t.Line + 1
		}
	}
	return nil
}

// addTurns adds a scan of the session's transcript to the records of its turns, each call to the
// turn in which it is.
func addTurns(rec *session.Recorder, scan transcript.Scan) {
	turns := rec.Turns()
	for _, t := range turns {
		part := scan
		if len(turns) == 1 {
			part = since(scan, t.Line)
		} else {
			part.Edits = slices.DeleteFunc(slices.Clone(scan.Edits), func(e transcript.Edit) bool { return rec.TurnAt(e.Line, e.Start) != t })
			part.Calls = slices.DeleteFunc(slices.Clone(scan.Calls), func(c transcript.Call) bool { return rec.TurnAt(c.Line, c.Start) != t })
		}
		addTurn(t, part)
	}
}

// since returns the scan without the edits and calls before a line, which belong to earlier turns: the
// repository was found in a later one.
func since(scan transcript.Scan, line int) transcript.Scan {
	if scan.First < line {
		scan.Edits = slices.DeleteFunc(slices.Clone(scan.Edits), func(e transcript.Edit) bool { return e.Line < line })
		scan.Calls = slices.DeleteFunc(slices.Clone(scan.Calls), func(c transcript.Call) bool { return c.Line < line })
	}
	return scan
}

// addAgent adds the edits in a subagent's transcript to the records of the session's turns, by
// their times. A scan that ended before the turns is an earlier turn's.
func addAgent(s *session.State, scan transcript.Scan) {
	turns := s.Recorder.Turns()
	began := turns[0].Start
	if began.IsZero() && s.LastInteraction != nil { // no turn runs: use the end of the last one
		began = *s.LastInteraction
	}
	if !scan.LastTime.IsZero() && scan.LastTime.Before(began.Add(-workspace.ClockSlack)) {
		return
	}
	for i, t := range turns {
		edits := slices.DeleteFunc(slices.Clone(scan.Edits), func(e transcript.Edit) bool {
			early := i > 0 && e.Start.Before(t.Start)
			return early || i+1 < len(turns) && !e.Start.Before(turns[i+1].Start)
		})
		addTurn(t, transcript.Scan{Edits: edits})
	}
}

// addTurn adds a scan to the record of a turn.
func addTurn(t *session.Turn, scan transcript.Scan) {
	known := make(map[string]bool, len(t.Edits))
	for _, path := range t.Edits {
		known[path] = true
	}
	for _, e := range scan.Edits {
		if !known[e.Path] {
			known[e.Path] = true
			t.Edits = append(t.Edits, e.Path)
		}
	}
	for i, c := range t.Calls {
		if end, ok := scan.Closed[c.ID]; ok && c.Open {
			t.Calls[i].Open, t.Calls[i].End = false, end
		}
	}
	t.Calls = append(t.Calls, scan.Calls...)
	if len(t.Calls) > maxCalls { // replace the oldest ones by one long call
		drop := t.Calls[:len(t.Calls)-maxCalls]
		t.Calls = t.Calls[len(drop):]
		t.Calls[0].Start = drop[0].Start
		t.Calls[0].Open = t.Calls[0].Open || slices.ContainsFunc(drop, func(c transcript.Call) bool { return c.Open })
	}
	if !t.Start.IsZero() && scan.LastTime.After(t.Start.Add(-workspace.ClockSlack)) {
		t.Timed = true
	}
}

// ByToolUse returns a predicate for the task that a tool call started.
func ByToolUse(id string) func(*session.Task) bool {
	return func(t *session.Task) bool { return t.ToolUse == id }
}

// StoreTranscript stores in git the part of the transcript that has been read, redacting at
// most budget bytes, and reports whether all of that is stored.
func StoreTranscript(ctx context.Context, w *workspace.Workspace, s *session.State, budget int64) (complete bool, err error) {
	rec := &s.Recorder
	if s.TranscriptPath == "" || rec.Cursor.Offset == 0 {
		return true, nil
	}
	if err := w.CheckTombstones(); err != nil {
		return false, err
	}
	if s.LastInteraction != nil && w.Env.Now().Sub(*s.LastInteraction) > rested {
		if rec.Stored, err = Segmenter(w, s).Verify(ctx, rec.Stored); err != nil {
			return false, err
		}
	}
	if rec.Stored.Lines > 0 && rec.Stored.Raw >= rec.Cursor.Offset {
		return true, nil
	}
	if rec.Stored.Lines == 0 { // what is known now is replaced in all lines
		rec.Known = w.Redact.Known(rec.Known)
		rec.Stored.Masked = len(rec.Known)
	}
	next, err := Segmenter(w, s).Extend(ctx, rec.Stored, s.TranscriptPath, rec.Cursor.Offset, budget)
	rec.Stored = next
	rec.Known = w.Redact.Known(rec.Known)
	if err != nil {
		return false, err
	}
	return rec.Stored.Raw >= rec.Cursor.Offset, nil
}

// StoredSegments returns the stored part of the session's transcript. If some of that is lost,
// it is stored again, as far as a hook has time.
func StoredSegments(ctx context.Context, w *workspace.Workspace, s *session.State) (checkpoint.StoredTranscript, error) {
	t, err := Segmenter(w, s).Transcript(s.Recorder.Stored)
	if !errors.Is(err, checkpoint.ErrTranscriptLost) {
		return t, err
	}
	s.Recorder.Stored = s.Recorder.Stored.Anew()
	if _, err := StoreTranscript(ctx, w, s, RedactNow); err != nil {
		return t, err
	}
	return Segmenter(w, s).Transcript(s.Recorder.Stored)
}

// Segmenter returns the writer that stores the session's transcript in segments.
func Segmenter(w *workspace.Workspace, s *session.State) checkpoint.SegmentWriter {
	return checkpoint.SegmentWriter{
		Repo: w.Repo, Redact: w.Redact, LineTimeout: w.Options.LineTimeout,
		Side: func(st session.Segments) session.Side { return w.Sessions.SegmentsOf(s.ID, st) },
		Omit: func(bytes int) {
			w.Log.Warn("line of a transcript left out: redacting it took too long", "session_id", s.ID, "bytes", bytes)
		},
	}
}
