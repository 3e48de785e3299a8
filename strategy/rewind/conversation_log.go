package rewind

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/plugintranscript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Log is the stored transcript of a session, with the place where the agent searches for it.
type Log struct {
	Agent           agent.Agent
	Session, Prompt string
	Path            string
	Status          LogStatus
	// Stored and Local are the times of the last lines, zero if they have none.
	Stored, Local time.Time
	// Lines is the number of the commit's lines that the session wrote.
	Lines int

	text   checkpoint.StoredTranscript
	move   transcript.PathMove
	agents []checkpoint.StoredTask // subagents whose transcripts the agent lacks
}

// Skipped is a session of a checkpoint that can't be restored, with the reason.
type Skipped struct {
	Session, Why string
	// Absent reports that objects of the session are missing from this clone.
	Absent bool
}

// ResumeLogs returns the transcripts of a checkpoint's sessions with their places in this worktree.
// The session that wrote most of the commit comes first, of several the one that ended last. It
// writes nothing.
func ResumeLogs(ctx context.Context, w *workspace.Workspace, c checkpoint.Checkpoint) ([]Log, []Skipped, error) {
	return storedLogs(ctx, w, c, false)
}

// RestoreLogs writes the stored transcripts of a checkpoint's sessions to where the agent expects
// them. An existing transcript is kept as a copy, or not replaced if it is equal.
func RestoreLogs(ctx context.Context, w *workspace.Workspace, id checkpoint.ID) ([]Conversation, []Skipped, error) {
	logs, skipped, err := PreviewLogs(ctx, w, id)
	if err != nil {
		return nil, nil, err
	}
	var convs []Conversation
	for _, log := range logs {
		conv, err := PutLog(ctx, w, log)
		if err != nil {
			return convs, skipped, err
		}
		convs = append(convs, conv)
	}
	return convs, skipped, nil
}

// PreviewLogs returns the transcripts that RestoreLogs would write, and writes nothing.
func PreviewLogs(ctx context.Context, w *workspace.Workspace, id checkpoint.ID) ([]Log, []Skipped, error) {
	records, err := w.LocalRecords(ctx)
	if err != nil {
		return nil, nil, err
	}
	stored, err := records.Read(ctx, id)
	if err != nil {
		return nil, nil, fmt.Errorf("checkpoint %s: %w", id, err)
	}
	return storedLogs(ctx, w, stored, true)
}

// PutLog writes a stored transcript to its place. An existing transcript is kept as a copy, or not
// replaced if it is equal. Before that it writes the transcripts of the session's subagents that
// the agent lacks.
func PutLog(ctx context.Context, w *workspace.Workspace, log Log) (Conversation, error) {
	conv := Conversation{Session: log.Session, Agent: log.Agent, Path: log.Path, Changed: log.Status != LogSame}
	if len(log.agents) > 0 {
		if err := disk.MkdirAll(transcript.SubagentDir(log.Path), 0o700); err != nil {
			return conv, err
		}
	}
	for _, task := range log.agents {
		path := transcript.SubagentPath(log.Path, task.Agent)
		if _, err := os.Lstat(path); err == nil {
			continue // two tasks of one subagent
		}
		err := disk.WriteStream(path, 0o600, func(out io.Writer) error { return copyMoved(ctx, w, task.Text, log.move, out) })
		if err != nil {
			return conv, fmt.Errorf("write the transcript of a subagent: %w", err)
		}
		conv.Subagents = append(conv.Subagents, path)
	}
	if !conv.Changed {
		return conv, nil
	}
	var err error
	conv.Copy, err = replaceTranscript(ctx, w, log.Session, log.Path, nil, func(out io.Writer) error { return copyLog(ctx, w, log, out) })
	if err == nil && log.Agent.HandsOver() {
		err = plugintranscript.WriteDocument(log.Path, w.Repo.Root)
	}
	return conv, err
}

// storedLogs finds a place for each session of a checkpoint: in the agent's folder, or if live is
// set the path in the state of a session of this worktree.
func storedLogs(ctx context.Context, w *workspace.Workspace, c checkpoint.Checkpoint, live bool) ([]Log, []Skipped, error) {
	var logs []Log
	var skipped []Skipped
	var missing error
	for _, s := range c.Sessions {
		log, why, err := storedLog(ctx, w, s, live)
		if err != nil {
			err = fmt.Errorf("session %s: %w", cmp.Or(s.Meta.SessionID, strconv.Itoa(s.Index)), err)
		}
		absent := errors.Is(err, git.ErrMissing) && ctx.Err() == nil
		if absent {
			missing, why, err = errors.Join(missing, err), "its transcript is not in this clone", nil
		}
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			skipped = append(skipped, Skipped{Session: s.Meta.SessionID, Why: why, Absent: absent})
			continue
		}
		if !slices.ContainsFunc(logs, func(l Log) bool { return l.Session == log.Session }) {
			logs = append(logs, log)
		}
	}
	if len(logs) == 0 && missing != nil {
		return nil, nil, missing
	}
	tasks, err := storedTasks(ctx, w, c)
	if err != nil {
		return nil, nil, err
	}
	for i := range logs {
		log := &logs[i]
		for _, task := range tasks {
			path := transcript.SubagentPath(log.Path, task.Agent)
			if transcript.SessionID(task.Session) != log.Session || path == "" {
				continue // the agent resumes without it
			}
			if err := transcript.CheckPath(path, filepath.Dir(log.Path)); err != nil {
				w.Log.WarnContext(ctx, "transcript of a subagent not restored", "session_id", log.Session, "error", err.Error())
				continue
			}
			// An existing transcript is not replaced: it is the original of the redacted one.
			if _, found := transcript.FindSubagent(log.Path, task.Agent); !found {
				log.agents = append(log.agents, task)
			}
		}
	}
	slices.SortStableFunc(logs, func(a, b Log) int { return cmp.Or(cmp.Compare(b.Lines, a.Lines), b.Stored.Compare(a.Stored)) })
	return logs, skipped, nil
}

// storedLog returns the transcript of a session, or the reason why it can't be used here.
func storedLog(ctx context.Context, w *workspace.Workspace, s checkpoint.Stored, live bool) (log Log, why string, err error) {
	id := transcript.SessionID(s.Meta.SessionID)
	label := s.Meta.Agent
	unnamed := !transcript.IsAgentName(label) || label == transcript.GeminiCLI // some versions named it wrongly
	_, known := agent.ByLabel(label)
	switch {
	case id != "" && !Resumable(id):
		return log, "its id is not valid for an agent", nil
	case !unnamed && !known:
		return log, "it was recorded by " + label, nil
	}
	text, found, err := s.Transcript(ctx, w.Repo)
	if err != nil {
		return log, "", err
	}
	if !found {
		return log, "it has no transcript", nil
	}
	if unnamed || id == "" || label == transcript.OpenCode {
		first, err := w.Repo.ReadWithin(ctx, string(text.Segments[0]), checkpoint.MaxBlob)
		if err != nil {
			return log, "", err
		}
		label = cmp.Or(transcript.Form(first.Data), label)
		if transcript.IsDocument(first.Data) {
			return log, "transcripts of its form can't be restored", nil
		}
		if id == "" { // its metadata is missing or damaged
			id = transcript.SessionIDIn(first.Data)
		}
		if !Resumable(id) {
			return log, "its id is unknown, or not valid for an agent", nil
		}
	}
	log = Log{Agent: agent.Of(label), Session: id, Lines: s.Meta.Lines(), text: text}
	if log.Path, err = place(w, log.Agent, id, s.Meta.CreatedAt, live); err != nil {
		return log, "", err
	}
	stored, err := s.Prompts(ctx, w.Repo)
	if err != nil {
		return log, "", err
	}
	log.Prompt = transcript.FirstPrompt(stored)
	if log.move, err = relocation(ctx, w, s.Meta, text); err != nil {
		return log, "", err
	}
	if log.Stored, err = lastTime(ctx, w, text); err != nil {
		return log, "", err
	}
	if err := compare(ctx, w, &log); err != nil {
		return log, "", err
	}
	if log.Status == LogNewer && log.Agent.HandsOver() {
		log.Status = LogSame // the agent continues from its database, regardless of the file
	}
	return log, "", nil
}

// Resumable reports whether a session's id can be passed unquoted on a command line. Anyone with
// write access to the metadata branch can choose it.
func Resumable(id string) bool {
	return id != "" && id[0] != '-' && id[0] != '.' && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.", c)
	})
}

// place returns the path of a session's transcript: if live is set the path in the state of a
// session of this worktree, else the path where the agent expects a session that is started in this
// worktree, regardless of the metadata. recorded is the time of the session.
func place(w *workspace.Workspace, a agent.Agent, id string, recorded time.Time, live bool) (string, error) {
	if live {
		if s, err := w.Sessions.Load(id); err == nil && s.TranscriptPath != "" && w.OwnsSession(s) {
			return s.TranscriptPath, nil
		}
	}
	return w.Transcripts().File(a, id, recorded)
}

// originLimit is the maximum length of a transcript's beginning that is read to determine where it
// was written. Nearly always the first edit suffices.
const originLimit = 32 << 20

// relocation returns the move from the project in which a transcript was written to this worktree.
func relocation(ctx context.Context, w *workspace.Workspace, meta checkpoint.SessionMeta, text checkpoint.StoredTranscript) (transcript.PathMove, error) {
	origin := transcript.NewOrigin(transcript.SlugOf(meta.TranscriptPath), meta.FilesTouched)
	settled := false
	for i, read := 0, 0; i < len(text.Segments) && !settled && read < originLimit; i++ {
		blob, err := w.Repo.ReadWithin(ctx, string(text.Segments[i]), checkpoint.MaxBlob)
		if err != nil {
			return transcript.PathMove{}, err
		}
		read += len(blob.Data)
		for line := range bytes.Lines(blob.Data) {
			if settled = origin.AddLine(line); settled {
				break
			}
		}
	}
	return transcript.NewPathMove(origin.Root(), w.Repo.Root), nil
}

// copyLog writes the transcript with its paths changed to those of this machine.
func copyLog(ctx context.Context, w *workspace.Workspace, log Log, out io.Writer) error {
	return copyMoved(ctx, w, log.text, log.move, out)
}

func copyMoved(ctx context.Context, w *workspace.Workspace, text checkpoint.StoredTranscript, move transcript.PathMove, out io.Writer) error {
	moved := transcript.NewRelocatingWriter(out, move)
	if _, err := text.Copy(ctx, w.Repo, moved); err != nil {
		return err
	}
	return moved.Close()
}

// LogStatus is the result of comparing the agent's transcript of a session with the
// stored one.
type LogStatus string

// The results of a comparison.
const (
	// LogMissing: the agent has no transcript of the session.
	LogMissing LogStatus = "none"
	// LogSame: the times of their last lines are equal, or all bytes are.
	LogSame LogStatus = "same"
	// LogOlder: it is neither the same nor newer.
	LogOlder LogStatus = "older"
	// LogNewer: its last time is later, or it begins with the stored one and has more lines.
	LogNewer LogStatus = "newer"
)

// lastTime returns the time of the last line of a stored transcript that has a time.
func lastTime(ctx context.Context, w *workspace.Workspace, text checkpoint.StoredTranscript) (time.Time, error) {
	for _, oid := range slices.Backward(text.Segments) {
		blob, err := w.Repo.ReadWithin(ctx, string(oid), checkpoint.MaxBlob)
		if err != nil {
			return time.Time{}, err
		}
		if at := transcript.LastTime(blob.Data); !at.IsZero() {
			return at, nil
		}
	}
	return time.Time{}, nil
}

// compare sets the status of a log, by the times of the last lines. Only if these don't decide it
// compares bytes: stored transcripts are redacted and lack large values of the agent's.
func compare(ctx context.Context, w *workspace.Workspace, log *Log) (err error) {
	log.Local, err = transcript.LastTimeIn(log.Path)
	switch {
	case errors.Is(err, transcript.ErrNotFound):
		log.Status = LogMissing
		return nil
	case err != nil:
		return err
	case log.Local.After(log.Stored):
		log.Status = LogNewer
		return nil
	case log.Local.Equal(log.Stored) && !log.Local.IsZero():
		log.Status = LogSame
		return nil
	}
	f, err := os.Open(log.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	there := &mirror{file: bufio.NewReader(f)}
	err = copyLog(ctx, w, *log, there)
	switch {
	case errors.Is(err, errDiffers):
		log.Status = LogOlder
	case err != nil:
		return err
	default:
		log.Status = LogNewer
		if _, err := there.file.ReadByte(); err != nil { // nothing follows
			log.Status = LogSame
		}
	}
	return nil
}

// errDiffers ends a comparison.
var errDiffers = errors.New("differs")

// mirror compares the bytes written to it with a file.
type mirror struct {
	file *bufio.Reader
	buf  []byte
}

// Write returns errDiffers at the first piece that differs from the file.
func (m *mirror) Write(piece []byte) (int, error) {
	m.buf = slices.Grow(m.buf[:0], len(piece))[:len(piece)]
	if _, err := io.ReadFull(m.file, m.buf); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, errDiffers
	} else if err != nil {
		return 0, err
	}
	if !bytes.Equal(m.buf, piece) {
		return 0, errDiffers
	}
	return len(piece), nil
}

// CopyTranscript writes the stored transcript of a session, with its paths changed to those of this
// worktree. It returns false if there is none.
func CopyTranscript(ctx context.Context, w *workspace.Workspace, s checkpoint.Stored, out io.Writer) (bool, error) {
	text, found, err := s.Transcript(ctx, w.Repo)
	if err != nil || !found {
		return false, err
	}
	move, err := relocation(ctx, w, s.Meta, text)
	if err != nil {
		return false, err
	}
	return true, copyMoved(ctx, w, text, move, out)
}
