package sessionfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

const (
	// firstRead is the number of bytes of a file that are read at first; each further read is longer.
	firstRead = 16 << 10
	// headLimit is the number of bytes within which a file must have the first line of a conversation.
	// Longer files without one are taken for sessions.
	headLimit = 1 << 20
	// lastRead is the number of bytes at the end of a file in which the last time is searched at first,
	// tailLimit the number of bytes if there is none.
	lastRead  = 8 << 10
	tailLimit = 256 << 10
)

// Errors of files that can't be read as sessions.
var (
	errEmpty    = errors.New("it is empty")
	errNoObject = errors.New("none of its lines is a JSON object")
)

// head holds what the beginning and the end of a file contain about its session.
type head struct {
	label string // of the agent whose form the file has
	id    string // the first id of a session
	// ids are the ids of sessions at the beginning and the end, which differ in copies.
	ids             map[string]bool
	dir, lastDir    string
	start, end      time.Time
	isSubagent      bool
	parent          string // the session of a subagent of Codex
	hasConversation bool

	isDocument bool
	objects    int // lines that are JSON objects
	items      *forms.Items
	events     transcript.Events
}

// readHead reads the beginning and the end of a file. follow allows path to be a symbolic link. Reading
// stops as soon as the folder is known and wanted returns false.
func readHead(path string, follow bool, wanted func(*head) bool) (h *head, info fs.FileInfo, err error) {
	f, info, err := openFile(path, follow)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info.Size() == 0 {
		return nil, nil, errEmpty
	}
	src, err := decompress(path, io.LimitReader(f, info.Size()))
	if err != nil {
		return nil, nil, err
	}
	defer src.Close() //nolint:errcheck // it is only read
	h = &head{ids: map[string]bool{}, end: info.ModTime(), events: transcript.Events{Subagents: true}}
	if wanted == nil {
		wanted = func(*head) bool { return true }
	}
	text, ended, err := h.read(src, wanted)
	switch {
	case err != nil:
		return nil, nil, err
	case h.objects == 0:
		return nil, nil, errNoObject
	}
	if h.label == "" {
		h.label = transcript.Form(text)
	}
	if _, isCompressed := uncompressed(path); isCompressed || !wanted(h) {
		return h, info, nil
	}
	if ended {
		h.tail(text)
		return h, info, nil
	}
	for size := int64(lastRead); ; size = tailLimit {
		from := max(info.Size()-size, 0)
		text, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
		if err != nil {
			return nil, nil, err
		}
		if h.tail(text) || from == 0 || size == tailLimit {
			return h, info, nil
		}
	}
}

// openFile opens a regular file for reading, without blocking on a pipe.
func openFile(path string, follow bool) (*os.File, fs.FileInfo, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK
	if !follow {
		flags |= syscall.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = disk.ErrNotRegular
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// read reads the beginning of a file, and returns it. ended reports that it is the whole file.
func (h *head) read(src io.Reader, wanted func(*head) bool) (text []byte, ended bool, err error) {
	at := 0
	for size := firstRead; ; size = min(4*size, headLimit) {
		if text, err = fill(src, text, size); err != nil {
			return nil, false, err
		}
		ended = len(text) < size
		if at == 0 && transcript.IsDocument(text) {
			if h.document(text); h.hasConversation || ended || size == headLimit {
				return text, ended, nil
			}
			continue
		}
		for !h.isDone(wanted) {
			line, _, complete := bytes.Cut(text[at:], []byte{'\n'})
			if !complete {
				break
			}
			at += len(line) + 1
			h.line(line)
		}
		switch {
		case h.isDone(wanted):
			return text, ended, nil
		case ended:
			h.line(text[at:])
			return text, ended, nil
		case size == headLimit:
			h.hasConversation = h.hasConversation || h.objects > 0
			return text, ended, nil
		case at == 0: // the first line of Codex is long, but names the folder at its beginning
			if h.meta(text); h.dir != "" && !wanted(h) {
				h.objects++
				return text, ended, nil
			}
		}
	}
}

// fill reads from src until text has the given size, or to the end of src.
func fill(src io.Reader, text []byte, size int) ([]byte, error) {
	text = slices.Grow(text, size-len(text))
	for len(text) < size {
		n, err := src.Read(text[len(text):size])
		text = text[:len(text)+n]
		switch {
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return nil, err
		}
	}
	return text, nil
}

// isDone reports whether nothing more is to be read.
func (h *head) isDone(wanted func(*head) bool) bool {
	if h.dir != "" && !wanted(h) {
		return true
	}
	switch h.label {
	case forms.Cursor: // its lines have no folder and no time
		return h.hasConversation
	case forms.GeminiCLI: // its lines have no folder
		return h.hasConversation && !h.start.IsZero()
	}
	return h.hasConversation && h.dir != "" && !h.start.IsZero()
}

// line reads a complete line.
func (h *head) line(line []byte) {
	line = bytes.Trim(line, "\x00 \t\r\ufeff")
	if len(line) == 0 || line[0] != '{' || line[len(line)-1] != '}' {
		return
	}
	h.objects++
	h.meta(line)
	if h.hasConversation || h.label == forms.Codex && h.isMeta(transcript.Value(line)) {
		return
	}
	lines := [][]byte{line}
	if h.items != nil {
		lines = h.items.Lines(line, true)
	}
	for _, line := range lines {
		e, ok := h.events.Line(line)
		if ok && (e.IsPrompt() || len(e.Results)+len(e.Uses) > 0 || e.Kind == transcript.AgentEvent && len(e.Raw()) > 0) {
			h.hasConversation = true
			h.isSubagent = h.isSubagent || e.Sidechain
		}
	}
}

// meta reads the fields of a line that describe the session. The line may be cut.
func (h *head) meta(line []byte) {
	v := transcript.Value(line)
	label := forms.Agent(line)
	if label == "" && h.objects <= 1 && forms.IsBareRollout(line) {
		label = forms.Codex
		h.items = &forms.Items{}
	}
	if h.label == "" {
		h.label = label
	}
	h.at(v.Member("timestamp"))
	switch h.label {
	case forms.Codex:
		h.codex(v)
	case forms.CopilotCLI:
		data := v.Member("data")
		h.name(data.Member("sessionId").Text())
		h.in(data.Member("context").Member("cwd").Text())
	case forms.GeminiCLI:
		h.at(v.Member("startTime"))
		h.name(v.Member("sessionId").Text())
		h.isSubagent = h.isSubagent || v.Member("kind").Text() == "subagent"
	case forms.PiAgent:
		if v.Member("type").Text() == "session" {
			h.name(v.Member("id").Text())
			h.in(v.Member("cwd").Text())
		}
	case forms.Cursor:
	default:
		h.name(v.Member("sessionId").Text())
		h.in(v.Member("cwd").Text())
	}
}

// codex reads a line of Codex. A rollout that was forked repeats the first line of the original.
func (h *head) codex(v transcript.Value) {
	payload, isBare := v, h.items != nil && v.Member("payload") == nil
	if !isBare {
		payload = v.Member("payload")
	}
	if h.isMeta(v) {
		if h.id != "" {
			return
		}
		id, session := payload.Member("id").Text(), payload.Member("session_id").Text()
		h.name(id)
		h.in(payload.Member("cwd").Text())
		source := payload.Member("source")
		if h.isSubagent = source.Member("subagent") != nil || session != "" && session != id; h.isSubagent {
			h.parent = session
			if session == "" || session == id {
				h.parent = source.Member("subagent").Member("thread_spawn").Member("parent_thread_id").Text()
			}
		}
		return
	}
	if h.items == nil {
		h.items = &forms.Items{}
	}
	if h.dir == "" {
		h.in(forms.CodexDir([]byte(v)))
	}
}

// isMeta reports whether a line of Codex describes the session. It is long.
func (h *head) isMeta(v transcript.Value) bool {
	kind := v.Member("type")
	return kind == nil && v.Member("record_type") == nil || kind.Text() == "session_meta"
}

// name notes the id of a session.
func (h *head) name(id string) {
	if id == "" {
		return
	}
	if h.id == "" {
		h.id = id
	}
	h.ids[id] = true
}

// in notes the folder of a line.
func (h *head) in(dir string) {
	if h.dir == "" {
		h.dir = dir
	}
}

// at notes the time of a line.
func (h *head) at(value transcript.Value) {
	if h.start.IsZero() {
		h.start = timeOf(value)
	}
}

func timeOf(value transcript.Value) time.Time {
	text := value.Text()
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// tail reads the end of a file of lines, and reports whether it contains a time. The text may begin within
// a line.
func (h *head) tail(text []byte) bool {
	if h.isDocument {
		return true
	}
	at := transcript.LastTime(text)
	if at.IsZero() {
		return false
	}
	h.end = at
	if h.label != transcript.ClaudeCode && h.label != forms.QwenCode {
		return true
	}
	for rest := text; len(rest) > 0 && h.lastDir == ""; {
		begin := bytes.LastIndexByte(rest, '\n') + 1
		v := transcript.Value(rest[begin:])
		rest = rest[:max(begin-1, 0)]
		if id := v.Member("sessionId").Text(); id != "" {
			h.ids[id] = true
			h.lastDir = v.Member("cwd").Text()
		}
	}
	return true
}

// conversationKind matches the kind of a message in a document.
var conversationKind = regexp.MustCompile(`"(type|role)"\s*:\s*"(user|gemini|assistant)"`)

// document reads the beginning of a document.
func (h *head) document(text []byte) {
	v := transcript.Value(text)
	h.objects, h.isDocument = 1, true
	info := v.Member("info")
	switch {
	case info != nil:
		h.label = forms.OpenCode
	case v.Member("projectHash") != nil:
		h.label = forms.GeminiCLI
	}
	h.name(v.Member("sessionId").Text())
	h.name(info.Member("id").Text())
	h.in(info.Member("directory").Text())
	h.at(v.Member("startTime"))
	h.isSubagent = v.Member("kind").Text() == "subagent"
	if at := timeOf(v.Member("lastUpdated")); !at.IsZero() {
		h.end = at
	}
	times := info.Member("time")
	if at := millis(times.Member("created")); !at.IsZero() {
		h.start = at
	}
	if at := millis(times.Member("updated")); !at.IsZero() {
		h.end = at
	}
	h.hasConversation = conversationKind.Match(v.Member("messages"))
}

func millis(value transcript.Value) time.Time {
	ms, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// session returns the id of the session, given the one in the name of the file. A copy under another
// name has only the id of the original.
func (h *head) session(name string) string {
	switch {
	case h.isSubagent && (h.label == transcript.ClaudeCode || h.label == forms.QwenCode): // its lines have the session's
		return transcript.SubagentID(name)
	case h.id == "", h.ids[name]:
		return name
	}
	return h.id
}

func (h *head) file(a agent.Agent, path string, info fs.FileInfo) File {
	if h.start.IsZero() { // Cursor records no times
		h.start = h.end
		if at := disk.Created(path); !at.IsZero() && at.Before(h.end) {
			h.start = at
		}
	}
	return File{Agent: a, ID: h.id, Path: path, Dir: h.dir, Start: h.start, End: h.end, Size: info.Size(), Stamp: stamp(info)}
}

// stamp returns a text that changes with the file.
func stamp(info fs.FileInfo) string {
	return strings.Join([]string{
		strconv.FormatInt(info.Size(), 36), strconv.FormatInt(info.ModTime().UnixNano(), 36) + disk.Inode(info),
	}, ".")
}
