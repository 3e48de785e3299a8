package rewind

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/plugintranscript"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Conversation is a transcript that was restored.
type Conversation struct {
	Session string
	// Agent is the agent of the session.
	Agent agent.Agent
	// Path is the transcript, Copy the copy of the former one, empty if there was none or nothing
	// had to change.
	Path, Copy string
	Changed    bool
	// Fork is the session that the agent creates from Document, if the agent stores its
	// conversations elsewhere. Its existing conversation remains.
	Fork, Document string
	// Subagents are the transcripts of subagents that were written beside it.
	Subagents []string
}

// noteReplaced records how to undo the replacement of a transcript. It is called before it.
type noteReplaced func(tracking.ReplacedTranscript) error

// beside returns a noteReplaced that records it in the folder of a rescue snapshot, if there is
// one.
func beside(w *workspace.Workspace, rescue bands.Version) noteReplaced {
	return func(t tracking.ReplacedTranscript) error {
		store, err := tracking.OpenStore(w)
		if rescue == 0 || errors.Is(err, tracking.ErrNoBands) {
			return nil
		}
		if err != nil {
			return err
		}
		p, err := tracking.ReadSessionsBefore(store, rescue)
		if err != nil {
			return err
		}
		p.Transcripts = append(p.Transcripts, t)
		return tracking.WriteSessionsBefore(store, rescue, p)
	}
}

// PreviewConversation returns what RestoreConversation would do.
func PreviewConversation(ctx context.Context, w *workspace.Workspace, p Point) (Conversation, error) {
	conv, _, err := conversationAt(ctx, w, p)
	return conv, err
}

// RestoreConversation truncates the transcript of a point's session to its length at that point, or
// writes it as a document for the agent to import. The current transcript is kept as a copy.
// Undoing the rewind with that rescue restores it.
func RestoreConversation(ctx context.Context, w *workspace.Workspace, p Point, rescue bands.Version) (Conversation, error) {
	conv, end, err := conversationAt(ctx, w, p)
	switch {
	case err != nil || !conv.Changed:
	case conv.Agent.HandsOver():
		conv.Fork, conv.Document, err = plugintranscript.WriteFork(conv.Path, end, w.Repo.Root, w.Env.Random)
	default:
		conv.Copy, err = replaceTranscript(ctx, w, conv.Session, conv.Path, beside(w, rescue), func(out io.Writer) error {
			return copyHead(out, conv.Path, end)
		})
	}
	store, none := tracking.OpenStore(w)
	if err != nil || none != nil || rescue == 0 {
		return conv, err
	}
	return conv, MarkCompleted(store, rescue)
}

// conversationAt returns the transcript of a point's session, and its length in bytes at that
// point.
func conversationAt(ctx context.Context, w *workspace.Workspace, p Point) (Conversation, int64, error) {
	cause, stopped := bands.Causality{Session: p.Session}, false // stopped: at the end of a turn
	if p.Snapshot != 0 {
		_, target, err := PointTarget(w, p)
		if err == nil && (target.Causality.Session == "" || target.Causality.TranscriptPath == "") {
			err = fmt.Errorf("%s belongs to no conversation", target.Version)
		}
		if err != nil {
			return Conversation{}, 0, err
		}
		cause = target.Causality
		stopped = target.Cause == bands.Auto && target.Message == workspace.AutoMessage && p.TaskID == ""
	}
	s, err := w.Sessions.Load(cause.Session)
	if err != nil {
		return Conversation{}, 0, err
	}
	conv := Conversation{Session: s.ID, Agent: agent.Of(s.AgentType), Path: s.TranscriptPath}
	if conv.Agent.KeepsConversation {
		return conv, 0, fmt.Errorf("conversations of %s can't be rewound", conv.Agent.Label)
	}
	if p.Snapshot != 0 && s.TranscriptPath != cause.TranscriptPath {
		return conv, 0, fmt.Errorf("the conversation has moved to %s", s.TranscriptPath)
	}
	most, err := TaskAnswered(ctx, w, p, s)
	if err != nil {
		return conv, 0, err
	}
	if p.Snapshot == 0 && most == 0 {
		return conv, 0, fmt.Errorf("%s doesn't record the position in the conversation", p.Shadow.Short())
	}
	end, size, err := headEnd(s.TranscriptPath, max(cause.TranscriptBytes, most))
	if err != nil {
		return conv, 0, fmt.Errorf("read transcript: %w", err)
	}
	if stopped {
		if end, err = afterAnswers(ctx, s.TranscriptPath, end, size); err != nil {
			return conv, 0, err
		}
	}
	conv.Changed = end != size
	return conv, end, nil
}

// afterAnswers returns the end of the agent's texts between from and the next prompt, at most to:
// the agent may write the last words of a turn after the hook of its end.
func afterAnswers(ctx context.Context, path string, from, to int64) (int64, error) {
	var events transcript.Events
	prompted := errors.New("the conversation has a newer prompt")
	end := from
	err := transcript.Lines(ctx, path, from, to, func(line []byte, after int64) error {
		switch e, ok := events.Line(line); {
		case !ok:
		case e.IsPrompt():
			return prompted
		case e.Kind == transcript.AgentEvent && e.Said() != "":
			end = after
		}
		return nil
	})
	if err != nil && !errors.Is(err, prompted) {
		return 0, err
	}
	return end, nil
}

// headEnd returns the last line end at or before most bytes of a transcript, and the size of the
// transcript.
func headEnd(path string, most int64) (end, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	size = info.Size()
	if size < most {
		return 0, 0, fmt.Errorf("it was truncated: %d bytes instead of %d", size, most)
	}
	if size == most {
		return size, size, nil
	}
	buf := make([]byte, 64<<10)
	for end = most; end > 0; {
		part := buf[:min(end, int64(len(buf)))]
		if _, err := f.ReadAt(part, end-int64(len(part))); err != nil {
			return 0, 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return end - int64(len(part)) + int64(i) + 1, size, nil
		}
		end -= int64(len(part))
	}
	return 0, size, nil
}

// copyHead writes the first size bytes of a file.
func copyHead(w io.Writer, path string, size int64) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.CopyN(w, f, size)
	return err
}

// UndoConversations restores the transcripts that were replaced after a rescue, unless the
// replacements were changed since. The current transcripts can be restored by undoing the rewind
// with the rescue now.
func UndoConversations(ctx context.Context, w *workspace.Workspace, rescue, now bands.Version) ([]Conversation, error) {
	list, err := ReplacedIn(w, rescue)
	var failed []error
	for i, conv := range list {
		if !conv.Changed {
			continue
		}
		from := conv.Copy
		list[i].Copy, err = replaceTranscript(ctx, w, conv.Session, conv.Path, beside(w, now), func(out io.Writer) error {
			info, err := os.Stat(from)
			if err != nil {
				return err
			}
			return copyHead(out, from, info.Size())
		})
		failed = append(failed, err)
	}
	return list, errors.Join(append(failed, err)...)
}

// ReplacedIn returns the transcripts that were replaced after a rescue, with the copies
// of the former ones, except those that already equal their copies. Changed reports whether one can
// be restored: nothing was added to it since.
func ReplacedIn(w *workspace.Workspace, rescue bands.Version) ([]Conversation, error) {
	store, err := tracking.OpenStore(w)
	if err != nil {
		return nil, err
	}
	return ReplacedConversations(store, rescue)
}

// ReplacedConversations returns the transcripts that a rewind replaced after its rescue.
func ReplacedConversations(store *bands.Store, rescue bands.Version) ([]Conversation, error) {
	p, err := tracking.ReadSessionsBefore(store, rescue)
	convs := make([]Conversation, 0, len(p.Transcripts))
	for _, t := range p.Transcripts {
		hash, size, err := hashFile(t.Path)
		copied, lost := os.Lstat(t.Copy)
		if err == nil && lost == nil && size == copied.Size() {
			if former, _, err := hashFile(t.Copy); err == nil && former == hash {
				continue
			}
		}
		convs = append(convs, Conversation{
			Session: t.Session, Path: t.Path, Copy: t.Copy, Changed: err == nil && lost == nil && size == t.Size && hash == t.Hash,
		})
	}
	return convs, err
}

// hashFile returns the SHA-256 of a file and its size.
func hashFile(path string) (hash string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	size, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// replaceTranscript replaces a session's transcript with the output of fill. An existing transcript
// is copied first, and recorded with note.
func replaceTranscript(ctx context.Context, w *workspace.Workspace, id, path string, note noteReplaced, fill func(io.Writer) error) (aside string, err error) {
	dir := filepath.Dir(path)
	if _, err := os.Lstat(path); err == nil {
		if aside, err = copyTranscript(w, id, path); err != nil {
			return "", fmt.Errorf("keep the transcript: %w", err)
		}
	} else if err := disk.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := disk.SweepTemp(dir, w.Env.Now().Add(-time.Hour)); err != nil {
		w.Log.WarnContext(ctx, "temporary files not swept", "error", err.Error())
	}
	if note != nil && aside != "" {
		sum := sha256.New()
		count := &counter{}
		if err := fill(io.MultiWriter(sum, count)); err != nil {
			return aside, fmt.Errorf("write the transcript: %w", err)
		}
		t := tracking.ReplacedTranscript{Session: id, Path: path, Copy: aside, Size: count.n, Hash: hex.EncodeToString(sum.Sum(nil))}
		if err := note(t); err != nil {
			return aside, fmt.Errorf("record the copy of the transcript: %w", err)
		}
	}
	if err := disk.WriteStream(path, 0o600, fill); err != nil {
		return aside, fmt.Errorf("write the transcript: %w", err)
	}
	w.Log.InfoContext(ctx, "transcript put back", "session_id", id, "path", path, "copy", aside)
	return aside, nil
}

// counter counts the bytes written to it.
type counter struct{ n int64 }

// Write adds the length of b to the count.
func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// copyTranscript copies a transcript to the folder of replaced ones. The copy is synced when it
// returns.
func copyTranscript(w *workspace.Workspace, id, path string) (aside string, err error) {
	dir := workspace.TranscriptCopies(w.Repo)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := disk.SyncDir(filepath.Dir(dir)); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	aside = filepath.Join(dir, id+"-"+w.Env.Now().UTC().Format("20060102T150405.000")+".jsonl")
	return aside, disk.WriteStream(aside, 0o600, func(out io.Writer) error {
		_, err := io.Copy(out, f)
		return err
	})
}

// MarkCompleted records beside a rescue that its rewind was completed.
func MarkCompleted(store *bands.Store, rescue bands.Version) error {
	p, err := tracking.ReadSessionsBefore(store, rescue)
	if err != nil || p.Completed {
		return err
	}
	p.Completed = true
	return tracking.WriteSessionsBefore(store, rescue, p)
}

// errFound ends a search.
var errFound = errors.New("found")

// TaskAnswered returns the offset after the transcript line with the result of the task whose
// last checkpoint is p; the agent can't continue without that line. It returns 0 if p is
// another point, or there is no such line.
func TaskAnswered(ctx context.Context, w *workspace.Workspace, p Point, s *session.State) (int64, error) {
	if p.TaskID == "" || p.Shadow == "" {
		return 0, nil
	}
	c, err := w.Repo.Commit(ctx, string(p.Shadow))
	if err != nil {
		return 0, err
	}
	end, ended, err := checkpoint.ReadShadowTaskEnd(ctx, w.Repo, c.Tree, s.ID, p.TaskID)
	if err != nil || !ended {
		return 0, err
	}
	scan, err := transcript.Read(ctx, s.TranscriptPath, transcript.Cursor{})
	if err != nil {
		return 0, fmt.Errorf("read transcript: %w", err)
	}
	if end.UUID == "" {
		end.UUID = scan.Answers[p.TaskID]
	}
	if end.UUID == "" {
		return 0, nil
	}
	var found int64
	err = transcript.Lines(ctx, s.TranscriptPath, 0, scan.Cursor.Offset, func(line []byte, behind int64) error {
		var is struct{ UUID string }
		if bytes.Contains(line, []byte(end.UUID)) && json.Unmarshal(line, &is) == nil && is.UUID == end.UUID {
			found = behind
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return 0, fmt.Errorf("read transcript: %w", err)
	}
	return found, nil
}
