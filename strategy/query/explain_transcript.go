package query

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Session reads a session's part in a committed checkpoint. Together with an error that wraps
// git.ErrMissing it returns the parts that are in this clone.
func (r CheckpointReader) Session(ctx context.Context, s checkpoint.Stored, o ExplainOptions) (CheckpointSession, error) {
	return sessionReader{r.Repo}.session(ctx, s, o)
}

// sessionReader reads the sessions of checkpoints and shadow commits.
type sessionReader struct{ repo *git.Repo }

// isOurs reports whether this program computed the attribution in the metadata: it writes a field
// that other programs don't.
func isOurs(m checkpoint.SessionMeta) bool {
	return bytes.Contains(m.Attribution, []byte(`"session_lines"`))
}

// session reads a session's part in a committed checkpoint. Together with an error that wraps
// git.ErrMissing it returns the parts that are in this clone.
func (sr sessionReader) session(ctx context.Context, s checkpoint.Stored, o ExplainOptions) (CheckpointSession, error) {
	m := s.Meta
	t := CheckpointSession{
		Session: m.SessionID, Agent: m.Agent, Model: m.Model, Created: m.CreatedAt, Files: m.FilesTouched, Tokens: m.TokenUsage,
		Summary: checkpoint.ParseSummary(m.Summary), Lines: m.Part(), Imported: m.IsImported(), Others: othersOf(sr.repo, m),
	}
	if a, ok := checkpoint.ParseAttribution(m.Attribution); ok {
		t.Attribution = &a
		if !isOurs(m) {
			t.Recorder = cmp.Or(m.CLIVersion, "unknown")
		}
	}
	if t.full = o.Scope == Whole; t.full {
		t.Lines = checkpoint.LineSpan{}
	}
	var err error
	if t.stored, err = checkpoint.UnhashedTranscript(ctx, sr.repo, s.Dir); err != nil {
		return t, err
	}
	err = sr.readTranscript(ctx, &t, t.stored, t.Lines)
	if err == nil && len(t.Items) == 0 && t.Lines.From > 0 && m.TranscriptLines == 0 {
		var whole bool
		if whole, t.NothingNew, err = sr.placeOf(ctx, t.stored, t.Lines.From); err == nil && whole {
			t.Lines = checkpoint.LineSpan{}
			err = sr.readTranscript(ctx, &t, t.stored, t.Lines)
		}
	}
	if o.Scope != Whole {
		t.narrow()
		if t.Summary == nil && m.Title != "" {
			t.Intent = m.Title
		}
	}
	if t.Summary == nil && t.Intent == "" { // it began before this part
		t.Intent = sr.promptsTitle(ctx, s)
	}
	if err == nil && s.Absent {
		err = errAbsentMetadata
	}
	return t, err
}

// narrow leaves out the end of an earlier turn at the beginning of a part, and sets the outcome to that of
// the last turn that wrote lines of the commit. It does nothing if no turns are recorded.
func (s *CheckpointSession) narrow() {
	if s.Attribution == nil || len(s.Attribution.Turns) == 0 {
		return
	}
	first, last := s.Attribution.Turns[0], s.Attribution.Turns[0]
	for _, t := range s.Attribution.Turns {
		if t.Line < first.Line {
			first = t
		}
		if t.Line > last.Line {
			last = t
		}
	}
	isRequest := func(item transcript.Item) bool { return item.By == transcript.User }
	if begin := slices.IndexFunc(s.Items, isRequest); begin > 0 && s.Lines.From > 0 && first.Line >= s.Lines.From && first.Title != "" {
		s.Items = s.Items[begin:]
	}
	if s.Summary != nil {
		return
	}
	said, asked := "", false
	for _, item := range s.Items {
		switch {
		case item.Line < last.Line:
			continue
		case isRequest(item) && asked && said != "":
			s.Outcome = said
			return
		case isRequest(item):
			asked = true
		case item.By == transcript.Assistant:
			said = item.Text
		}
	}
	s.Outcome = cmp.Or(said, s.Outcome)
}

// errAbsentMetadata is the reason why only the transcript of a session is shown.
var errAbsentMetadata = fmt.Errorf("its metadata: %w", git.ErrMissing)

// readTranscript reads a span of a transcript into t, and sets its intent and outcome. It returns
// errUnread if no line of the transcript has a known form.
func (sr sessionReader) readTranscript(ctx context.Context, t *CheckpointSession, stored checkpoint.StoredTranscript, span checkpoint.LineSpan) error {
	c := transcript.Conversation{Root: sr.repo.Root, Subagent: t.subagent, Outputs: true, Full: t.full}
	err := sr.recognize(ctx, t, stored)
	if err == nil {
		err = sr.lines(ctx, &c, stored, span)
	}
	t.Items = c.Items
	t.summarize()
	if err != nil || len(c.Items) > 0 || c.Lines == 0 || c.Reason == "" {
		return err
	}
	isRead := c.Unknown < c.Lines
	if isRead { // or its lines are no agent's book-keeping
		first, err := sr.repo.ReadWithin(ctx, string(stored.Segments[0]), checkpoint.MaxBlob)
		if err != nil {
			return err
		}
		isRead = transcript.Form(first.Data) != ""
	}
	if !isRead {
		return fmt.Errorf("%w: %s", errUnread, c.Reason)
	}
	return nil
}

// errUnread means that a transcript is stored and that nothing of it can be read.
var errUnread = errors.New("its transcript has no known form")

// summarize sets the intent and outcome of the part.
func (s *CheckpointSession) summarize() {
	if s.Summary != nil {
		s.Intent, s.Outcome = s.Summary.Intent, s.Summary.Outcome
		return
	}
	s.Intent = titleOf(s.Items)
	for _, item := range s.Items {
		if item.By == transcript.Assistant {
			s.Outcome = item.Text
		}
	}
}

// recognize sets the session's agent and id if they are not recorded.
func (sr sessionReader) recognize(ctx context.Context, t *CheckpointSession, stored checkpoint.StoredTranscript) error {
	if len(stored.Segments) == 0 || transcript.IsAgentName(t.Agent) && t.Session != "" {
		return nil
	}
	first, err := sr.repo.ReadWithin(ctx, string(stored.Segments[0]), checkpoint.MaxBlob)
	if err != nil {
		return err
	}
	t.Session = cmp.Or(t.Session, transcript.SessionIDIn(first.Data)) // metadata may be missing or damaged
	t.Agent = transcript.Agent(t.Agent, first.Data)
	return nil
}

func (sr sessionReader) lines(ctx context.Context, c *transcript.Conversation, stored checkpoint.StoredTranscript, span checkpoint.LineSpan) error {
	return stored.Lines(ctx, sr.repo, span, func(line []byte, n int) error {
		c.AddLine(line, n)
		return nil
	})
}

// Copy writes the stored transcript of the detail's main session to w, byte for byte. It returns
// false if there is none.
func (r CheckpointReader) Copy(ctx context.Context, d Detail, w io.Writer) (bool, error) {
	if len(d.Sessions) == 0 {
		return false, nil
	}
	stored := d.Sessions[0].stored
	if len(stored.Segments) == 0 {
		return false, nil
	}
	_, err := stored.Copy(ctx, r.Repo, w)
	return true, err
}

// Text formats the part as it is shown and summarized: with "[User]", "[Assistant]" or "[Tool]
// name:" before each item, and "> " before the other lines of its text: no line of a text can look
// like another item.
func (s *CheckpointSession) Text() string {
	var b strings.Builder
	for i, item := range s.Items {
		if i > 0 && (item.By != transcript.Tool || s.Items[i-1].By != transcript.Tool) {
			b.WriteByte('\n')
		}
		b.WriteString(plain.Visible(Mark(item)) + plain.Quote(plain.Prose(item.Text), ""))
		if item.Failed {
			b.WriteString(" (failed)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Mark returns the prefix of an item's text.
func Mark(item transcript.Item) string {
	tool := strings.Join(strings.Fields(item.Tool), " ")
	switch item.By {
	case transcript.User:
		return "[User] "
	case transcript.Assistant:
		return "[Assistant] "
	case transcript.Tool:
		if item.Text == "" {
			return "[Tool] " + tool
		}
		return "[Tool] " + tool + ": "
	}
	return ""
}
