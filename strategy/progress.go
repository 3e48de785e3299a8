package strategy

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

const (
	// redactNow is how many bytes of new transcript are redacted while somebody
	// waits.
	redactNow = 256 << 10
	// noLimit is for processes that nobody waits for.
	noLimit = 0
	// rested is the time after which git's gc may have removed what was stored
	// and nothing refers to.
	rested = 7 * 24 * time.Hour
	// maxCalls bounds the tool calls kept of one turn.
	maxCalls = 2000
)

// catchUp reads what is new in the session's transcript and adds it to the
// state: prompts, tokens, and what the running turn did. A transcript that
// isn't there yet, or no more, is not an error. What belongs into side files is
// left in n.
func (r *Recorder) catchUp(ctx context.Context, s *session.State, n *notes) error {
	if s.TranscriptPath == "" {
		return nil
	}
	err := errors.Join(
		r.Sessions.Side(s.ID, "prompts").Check(s.Recorder.Prompts-int64(len(n.prompts.data))),
		r.Sessions.Side(s.ID, "usage").Check(s.Recorder.Usage-int64(len(n.usage.data))),
	)
	if err == nil {
		err = r.readNew(ctx, s, n)
	}
	if errors.Is(err, session.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		// A side file is gone: all of it can be had from the transcript again.
		r.Log.WarnContext(ctx, "transcript read anew", "session_id", s.ID, "error", err.Error())
		s.Recorder.Cursor = transcript.Cursor{}
		forgetTranscript(s)
		err = r.readNew(ctx, s, n)
	}
	return err
}

// forgetTranscript takes back what the state has from the transcript.
func forgetTranscript(s *session.State) {
	s.Recorder.Prompts, s.Recorder.Usage, s.Recorder.Stored, s.TokenUsage = 0, 0, session.Segments{}, nil
	s.TranscriptStart, s.Recorder.Turn.Line = 0, 0
	clear(s.Recorder.Since)
}

func (r *Recorder) readNew(ctx context.Context, s *session.State, n *notes) error {
	scan, err := transcript.Read(ctx, s.TranscriptPath, s.Recorder.Cursor)
	if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrNotRegular) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read transcript: %w", err)
	}
	rec := &s.Recorder
	if rec.Cursor.Offset == 0 {
		s.TokenUsage = nil // what another version counted is counted again
	}
	if scan.Restarted {
		r.Log.InfoContext(ctx, "transcript was replaced, read anew", "session_id", s.ID)
		forgetTranscript(s)
	}
	if err := r.addUsage(s, n, scan.Messages); err != nil {
		return err
	}
	if err := r.addPrompts(s, n, scan.Prompts); err != nil {
		return err
	}
	addTurn(&rec.Turn, scan)
	if scan.LastAssistant != "" {
		rec.Said = digest(scan.LastAssistant)
		if rec.Said == rec.Expect {
			rec.Expect = ""
		}
		rec.Turn.Summary = r.Redact.Text(scan.LastAssistant)
	}
	rec.Cursor = scan.Cursor
	if scan.LastUUID != "" {
		rec.LastUUID = scan.LastUUID
	}
	return nil
}

// addTurn adds a scan to what is known of the running turn.
func addTurn(t *session.Turn, scan transcript.Scan) {
	for _, e := range scan.Edits {
		if !slices.Contains(t.Edits, e.Path) {
			t.Edits = append(t.Edits, e.Path)
		}
	}
	for i, c := range t.Calls {
		if end, ok := scan.Closed[c.ID]; ok && c.Open {
			t.Calls[i].Open, t.Calls[i].End = false, end
		}
	}
	t.Calls = append(t.Calls, scan.Calls...)
	if len(t.Calls) > maxCalls { // one long call then stands for the oldest ones
		drop := t.Calls[:len(t.Calls)-maxCalls]
		t.Calls = t.Calls[len(drop):]
		t.Calls[0].Start = drop[0].Start
		t.Calls[0].Open = t.Calls[0].Open || slices.ContainsFunc(drop, func(c transcript.Call) bool { return c.Open })
	}
	if !t.Start.IsZero() && scan.LastTime.After(t.Start.Add(-slack)) {
		t.Timed = true
	}
}

// promptRecord is a line of the side file of prompts.
type promptRecord struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// addPrompts redacts prompts and adds them to the side file.
func (r *Recorder) addPrompts(s *session.State, n *notes, prompts []transcript.Prompt) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, p := range prompts {
		text := r.Redact.Text(p.Text)
		if s.FirstPrompt == "" {
			s.FirstPrompt = checkpoint.FirstPrompt(text)
		}
		if p.Line >= s.Recorder.Turn.Line {
			s.Recorder.Turn.Prompts = append(s.Recorder.Turn.Prompts, text)
		}
		if err := enc.Encode(promptRecord{Line: p.Line, Text: text}); err != nil {
			return fmt.Errorf("store prompts: %w", err)
		}
	}
	s.Recorder.Prompts = n.prompts.add(s.Recorder.Prompts, b.Bytes())
	return nil
}

// prompts answers all redacted prompts of the session.
func (r *Recorder) prompts(s *session.State, n *notes) ([]string, error) {
	if n.texts != nil && n.textsEnd == s.Recorder.Prompts {
		return n.texts, nil
	}
	data, err := n.prompts.read(r.Sessions.Side(s.ID, "prompts"), s.Recorder.Prompts)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	var texts []string
	for line := range bytes.Lines(data) {
		if text, ok := plainText(line); ok {
			texts = append(texts, text)
			continue
		}
		var p promptRecord
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("read prompts: %w: %w", session.ErrCorrupt, err)
		}
		texts = append(texts, p.Text)
	}
	n.texts, n.textsEnd = texts, s.Recorder.Prompts
	return texts, nil
}

// plainText answers the text of a record that has no escapes in it, as most
// have, without decoding it: a commit needs all of them.
func plainText(line []byte) (string, bool) {
	const key, end = `,"text":"`, "\"}\n"
	number, text, ok := bytes.Cut(line, []byte(key))
	text, whole := bytes.CutSuffix(text, []byte(end))
	plain := ok && whole && bytes.HasPrefix(number, []byte(`{"line":`)) && bytes.IndexByte(text, '\\') < 0
	return string(text), plain
}

// promptsAgain takes the prompts from the transcript anew, for a side file that
// lost some. Without a transcript there are none.
func (r *Recorder) promptsAgain(ctx context.Context, s *session.State, n *notes) ([]string, error) {
	r.Log.WarnContext(ctx, "prompts read anew", "session_id", s.ID)
	scan, err := transcript.Read(ctx, s.TranscriptPath, transcript.Cursor{})
	if err != nil && !errors.Is(err, transcript.ErrNotFound) {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	s.Recorder.Prompts, n.prompts = 0, tail{}
	turn := s.Recorder.Turn.Prompts
	err = r.addPrompts(s, n, slices.DeleteFunc(scan.Prompts, func(p transcript.Prompt) bool { return p.Line >= s.Recorder.Cursor.Lines }))
	s.Recorder.Turn.Prompts = turn
	if err != nil {
		return nil, err
	}
	return r.prompts(s, n)
}

// usageSize is the size of a record in the side file of token counts: a hash
// of the message's id and its four counts.
const usageSize = 8 + 4*4

// addUsage counts each message once, by the record with the most output: the
// side file remembers what was counted for it.
func (r *Recorder) addUsage(s *session.State, n *notes, messages []transcript.Message) error {
	if len(messages) == 0 {
		return nil
	}
	data, err := n.usage.read(r.Sessions.Side(s.ID, "usage"), s.Recorder.Usage)
	if err != nil {
		return fmt.Errorf("read token counts: %w", err)
	}
	counted := countedOf(data, messages)
	total := s.Total()
	var added []byte
	for _, m := range messages {
		key := messageKey(m)
		now := session.Tokens{Input: m.Usage.Input, CacheCreation: m.Usage.CacheCreation, CacheRead: m.Usage.CacheRead, Output: m.Usage.Output, Calls: 1}
		before, known := counted[key]
		if known && before.Output >= now.Output {
			continue
		}
		total = total.Plus(now.Minus(before))
		counted[key] = now
		added = appendUsage(added, key, now)
	}
	s.Recorder.Usage = n.usage.add(s.Recorder.Usage, added)
	s.TokenUsage = &total
	return nil
}

// messageKey is a hash of the message's id.
func messageKey(m transcript.Message) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.ID)) // never fails
	return h.Sum64()
}

// countedOf answers what was counted for these messages, of which there are few
// among the hundreds of thousands that a long session has.
func countedOf(data []byte, messages []transcript.Message) map[uint64]session.Tokens {
	counted := make(map[uint64]session.Tokens, len(messages))
	var maybe [1 << 16]bool // by the low bits of the key
	wanted := make(map[uint64]bool, len(messages))
	for _, m := range messages {
		key := messageKey(m)
		wanted[key], maybe[uint16(key)] = true, true
	}
	for ; len(data) >= usageSize; data = data[usageSize:] {
		key := binary.LittleEndian.Uint64(data)
		if maybe[uint16(key)] && wanted[key] {
			counted[key] = decodeUsage(data[8:])
		}
	}
	return counted
}

func decodeUsage(b []byte) session.Tokens {
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint32(b[4*i:])) }
	return session.Tokens{Input: at(0), CacheCreation: at(1), CacheRead: at(2), Output: at(3), Calls: 1}
}

func appendUsage(b []byte, key uint64, t session.Tokens) []byte {
	b = binary.LittleEndian.AppendUint64(b, key)
	for _, n := range []int64{t.Input, t.CacheCreation, t.CacheRead, t.Output} {
		b = binary.LittleEndian.AppendUint32(b, uint32(min(max(n, 0), math.MaxUint32)))
	}
	return b
}

// store puts what was read of the transcript into git, as far as the budget of
// bytes to redact goes, and says whether that was all.
func (r *Recorder) store(ctx context.Context, s *session.State, budget int64) (complete bool, err error) {
	rec := &s.Recorder
	if s.TranscriptPath == "" || rec.Cursor.Offset == 0 {
		return true, nil
	}
	if s.LastInteraction != nil && r.Env.Now().Sub(*s.LastInteraction) > rested {
		if rec.Stored, err = r.segmenter(s).Verify(ctx, rec.Stored); err != nil {
			return false, err
		}
	}
	if rec.Stored.Lines > 0 && rec.Stored.Raw >= rec.Cursor.Offset {
		return true, nil
	}
	next, err := r.segmenter(s).Extend(ctx, rec.Stored, s.TranscriptPath, rec.Cursor.Offset, budget)
	rec.Stored = next
	if err != nil {
		return false, err
	}
	return rec.Stored.Raw >= rec.Cursor.Offset, nil
}

// stored answers what is stored of the session's transcript. If some of that
// has been lost it is stored anew, as far as that goes while somebody waits.
func (r *Recorder) stored(ctx context.Context, s *session.State) (checkpoint.Transcript, error) {
	t, err := r.segmenter(s).Transcript(s.Recorder.Stored)
	if !errors.Is(err, checkpoint.ErrLost) {
		return t, err
	}
	s.Recorder.Stored = session.Segments{}
	if _, err := r.store(ctx, s, redactNow); err != nil {
		return t, err
	}
	return r.segmenter(s).Transcript(s.Recorder.Stored)
}

func (r *Recorder) segmenter(s *session.State) checkpoint.Segmenter {
	return checkpoint.Segmenter{Repo: r.Repo, Redact: r.Redact, Side: r.Sessions.Side(s.ID, "segments")}
}
