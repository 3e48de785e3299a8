package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// Head holds the fields around the content of a line in the conversation.
type Head struct {
	UUID, Branch, Cwd string
	Time              time.Time
	// Session is the id of the session that the line names, if it names one. Copied reports that the line is
	// marked as a copy of a line of another session. Begins is set for the line that begins a transcript.
	Session        string
	Copied, Begins bool
	// Sidechain reports whether the line is a subagent's. Subagent is the subagent's id, if the
	// line has it.
	Sidechain bool
	Subagent  string
	// MessageID, Model and Usage are those of a model's message; empty for other lines.
	MessageID, Model string
	Usage            Usage
}

// Heads parses the heads of lines one after another.
type Heads struct{ entry entry }

// Line returns the head of a line, false if the line is not part of the conversation.
func (h *Heads) Line(line []byte) (Head, bool) {
	e := &h.entry
	if !e.parse(line) || !isChain(e.kind) {
		return Head{}, false
	}
	head := Head{UUID: Unquoted(e.uuid), Branch: Unquoted(e.branch), Cwd: Unquoted(e.cwd), Time: e.time(), Sidechain: e.sidechain, Subagent: Unquoted(e.subagent), Session: Unquoted(e.session), Copied: e.copied}
	head.Begins = string(e.subtype) == "session_start" || string(e.subtype) == "session_meta"
	if string(e.kind) == "assistant" {
		if m := &e.message; string(m.model) != synthetic {
			head.MessageID, head.Model, head.Usage = Unquoted(m.id), Unquoted(m.model), m.usage
		}
	}
	return head, true
}

// IsLocalID reports whether the id of a message is unique only in one session.
func IsLocalID(id string) bool { return strings.HasPrefix(id, forms.LocalID) }

// ReadLast reads the last lines of a transcript, about size bytes.
func ReadLast(ctx context.Context, path string, size int64) (_ Scan, err error) {
	f, info, err := open(path)
	if err != nil {
		return Scan{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	from := max(0, info.Size()-size)
	for begin, buf := from, make([]byte, countBuffer); begin > 0; { // to the next line
		n, err := f.ReadAt(buf, from-1)
		if at := bytes.IndexByte(buf[:n], '\n'); at >= 0 {
			from += int64(at)
			break
		}
		if err != nil {
			return Scan{}, fmt.Errorf("read transcript %s: %w", path, err)
		}
		from += int64(n)
	}
	lines, err := CountLines(path, 0, from)
	if err != nil {
		return Scan{}, err
	}
	cursor, err := CursorAt(path, from, lines)
	if err != nil {
		return Scan{}, err
	}
	return Read(ctx, path, cursor)
}

// CursorAt returns the cursor at an offset in a transcript at which a line begins, with the given
// number of lines before it.
func CursorAt(path string, offset int64, lines int) (_ Cursor, err error) {
	f, info, err := open(path)
	if err != nil {
		return Cursor{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at := Cursor{Offset: offset, Lines: lines}
	at.Device, at.Inode = identity(info)
	if at.Tail, _, err = tail(f, offset); err != nil {
		return Cursor{}, fmt.Errorf("read transcript %s: %w", path, err)
	}
	return at, nil
}

// Fit returns the cursor c if it fits the transcript, else the cursor of the transcript's
// beginning, and the length of the transcript in bytes.
func Fit(path string, c Cursor) (at Cursor, size int64, err error) {
	f, info, err := open(path)
	if err != nil {
		return Cursor{}, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at, _, err = resume(file{src: f, info: info}, c)
	if err != nil {
		return Cursor{}, 0, fmt.Errorf("read transcript %s: %w", path, err)
	}
	return at, info.Size(), nil
}
