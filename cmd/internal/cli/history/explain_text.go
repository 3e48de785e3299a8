package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/blame"
	"github.com/seed-3aff656d/entire/strategy/query"
)

const (
	// gistWidth is the maximum width of an intent or outcome.
	gistWidth = 300
	// mostSaid is the maximum number of bytes shown of one prompt or answer, unless --full is
	// given.
	mostSaid = 16 << 10
)

// explainText formats checkpoints as text.
type explainText struct {
	*app.App

	short bool // without files and conversation
	full  bool // nothing is cut
	// edited are the authors of the lines of commits whose attribution another program computed, by
	// checkpoint.
	edited map[string]blame.Share
}

func (e *explaining) text() explainText {
	return explainText{App: e.App, short: e.opts.short, full: e.opts.full, edited: e.edited}
}

// checkpoint returns the text of a checkpoint.
func (x explainText) checkpoint(d query.Detail) string {
	var b strings.Builder
	var folded []string
	d.Sessions = slices.DeleteFunc(slices.Clone(d.Sessions), func(t query.CheckpointSession) bool {
		if t.NothingNew {
			folded = append(folded, format.Session(t.Session))
		}
		return t.NothingNew
	})
	x.writeFacts(&b, d)
	if len(folded) > 0 {
		fmt.Fprintf(&b, "Sessions with nothing new: %s\n", strings.Join(folded, ", "))
	}
	for _, t := range d.Sessions {
		x.writeGist(&b, d, t)
	}
	if x.short {
		for _, t := range d.Sessions {
			if t.Problem != nil {
				fmt.Fprintf(&b, "\nSession %s: %s\n  hint: %s\n", sessionName(d, t), ui.Line(problemText(t), format.LineWidth), problemHint(d, t))
			}
		}
		return b.String()
	}
	if d.Absent {
		fmt.Fprintf(&b, "\nFiles: unknown, the checkpoint's metadata is not in this clone\n  hint: %s\n", format.AbsentHint)
	} else {
		fmt.Fprintf(&b, "\nFiles: (%d)\n", len(d.Files))
	}
	for _, f := range d.Files {
		b.WriteString("  " + format.Path(f) + "\n")
	}
	for _, t := range d.Sessions {
		x.writeConversation(&b, d, t)
	}
	return b.String()
}

// sessionName returns the short id of a session of a checkpoint.
func sessionName(d query.Detail, t query.CheckpointSession) string {
	ids := make([]string, len(d.Sessions))
	for i := range d.Sessions {
		ids[i] = d.Sessions[i].Session
	}
	return cmp.Or(format.SessionNames(ids)(t.Session), "unknown")
}

// writeFacts writes the ids, the person, the time, tokens, attribution and commits.
func (x explainText) writeFacts(b *strings.Builder, d query.Detail) {
	fact := func(name, value string) {
		if value != "" {
			b.WriteString(x.Streams.Paint(ui.Bold, name+":") + " " + value + "\n")
		}
	}
	id := d.ID
	if d.Temporary {
		id = format.ID(id) + " [temporary]"
	}
	if d.Task {
		id += " [Task]"
	}
	if d.Forgotten {
		id += " [forgotten]"
	}
	fact("Checkpoint", id)
	for _, t := range d.Sessions {
		session := ui.Line(t.Session, format.NameWidth)
		if t.Session == "" {
			session = "unknown"
		} else if t.Agent != "" {
			session += " (" + ui.Line(t.Agent, format.NameWidth) + ")"
		}
		if t.Imported {
			session += " [" + imported + "]"
		}
		fact("Session", session)
	}
	if !d.Created.IsZero() {
		fact("Created", d.Created.In(x.Now().Location()).Format(time.DateTime)+" ("+ui.Ago(x.Now(), d.Created)+")")
	}
	person, email := ui.Line(d.Author.Name, format.NameWidth), ui.Line(d.Author.Email, format.NameWidth)
	if email != "" {
		person = strings.TrimSpace(person + " <" + email + ">")
	}
	fact("Person", person)
	var models []string
	for _, t := range d.Sessions {
		if name := ui.Line(t.Model, format.NameWidth); name != "" && !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	fact("Model", strings.Join(models, ", "))
	var others []string
	for _, t := range d.Sessions {
		for _, name := range t.Others {
			if name = ui.Line(name, format.NameWidth); !slices.Contains(others, name) {
				others = append(others, name)
			}
		}
	}
	fact("Also changed", strings.Join(others, ", "))
	if t := d.Tokens; t != nil && allTokens(t) > 0 {
		text := fmt.Sprintf("%s (%s input, %s cached, %s output", ui.Thousands(allTokens(t)), ui.Thousands(t.Input), ui.Thousands(t.CacheCreation+t.CacheRead), ui.Thousands(t.Output))
		if sub := allTokens(t.Subagents); sub > 0 {
			text += "; " + ui.Thousands(sub) + " more by subagents"
		}
		fact("Tokens", text+")")
	}
	fact("Attribution", attributionText(d))
	if s, ok := x.edited[d.ID]; ok {
		const percent = 100
		fact("By edit tools", fmt.Sprintf("at least %d %% (%d of %s), counted from the transcripts",
			s.Agent*percent/s.Total(), s.Agent, ui.Plural(s.Total(), "line")))
	}
	if d.Temporary {
		return
	}
	if d.Unsearched != nil {
		fact("Commits", "unknown: "+ui.Line(d.Unsearched.Error(), format.LineWidth))
		return
	}
	fact("Commits", "("+strconv.Itoa(len(d.Commits))+")")
	for _, c := range d.Commits {
		fmt.Fprintf(b, "  %s %s %s\n", c.OID.Short(), c.Committer.When.In(x.Now().Location()).Format(time.DateOnly), ui.Line(plain.FirstLine(c.Message), format.SubjectWidth))
	}
}

// allTokens returns the sum of all kinds of tokens, including those of subagents.
func allTokens(t *checkpoint.Tokens) int64 {
	if t == nil {
		return 0
	}
	return t.Input + t.CacheCreation + t.CacheRead + t.Output + allTokens(t.Subagents)
}

// attributionText describes who wrote the lines of the checkpoint's commit. The metadata of each
// session has that for all sessions; with several, the lines of each session are added.
func attributionText(d query.Detail) string {
	i := slices.IndexFunc(d.Sessions, func(t query.CheckpointSession) bool { return t.Attribution != nil })
	if i < 0 {
		return ""
	}
	a := d.Sessions[i].Attribution
	text := format.WrittenBy(*a)
	var byHand []string
	for _, part := range []struct {
		n    int
		what string
	}{{a.HumanAdded, "added"}, {a.HumanModified, "modified"}, {a.HumanRemoved, "removed"}} {
		if part.n > 0 {
			byHand = append(byHand, strconv.Itoa(part.n)+" "+part.what)
		}
	}
	if text == "" && len(byHand) == 0 {
		return ""
	}
	if len(byHand) > 0 {
		text += "; by hand " + strings.Join(byHand, ", ")
	}
	if a.Estimated {
		text += ", estimated"
	}
	if by := d.Sessions[i].Recorder; by != "" {
		text += "; as recorded by version " + ui.Line(by, format.NameWidth)
	}
	if len(d.Sessions) == 1 {
		return text
	}
	parts := []string{text}
	for _, t := range d.Sessions {
		if t.Attribution != nil && t.Attribution.SessionLines > 0 {
			parts = append(parts, sessionName(d, t)+" wrote "+ui.Plural(t.Attribution.SessionLines, "line"))
		}
	}
	return strings.Join(parts, "; ")
}

// writeGist writes the intent, outcome and summary of a session's part.
func (x explainText) writeGist(b *strings.Builder, d query.Detail, t query.CheckpointSession) {
	b.WriteByte('\n')
	if len(d.Sessions) > 1 {
		b.WriteString("Session " + sessionName(d, t) + "\n")
	}
	gist := func(name, text string) {
		if text = ui.Line(text, gistWidth); text != "" {
			b.WriteString(x.Streams.Paint(ui.Bold, name+":") + " " + text + "\n")
		}
	}
	gist("Intent", t.Intent)
	gist("Outcome", t.Outcome)
	if t.Summary == nil {
		return
	}
	list := func(name string, lines []string) {
		if len(lines) > 0 {
			b.WriteString(name + ":\n")
		}
		for _, line := range lines {
			b.WriteString("  - " + ui.Line(line, gistWidth) + "\n")
		}
	}
	learnings := slices.Clone(t.Summary.Learnings.Repo)
	for _, f := range t.Summary.Learnings.Code {
		place := f.Path
		if f.Line > 0 {
			place += ":" + strconv.Itoa(f.Line)
		}
		if f.EndLine > f.Line {
			place += "-" + strconv.Itoa(f.EndLine)
		}
		learnings = append(learnings, place+": "+f.Finding)
	}
	list("Learnings", append(learnings, t.Summary.Learnings.Workflow...))
	list("Friction", t.Summary.Friction)
	list("Open items", t.Summary.OpenItems)
}

// writeConversation writes a session's part of the conversation.
func (x explainText) writeConversation(b *strings.Builder, d query.Detail, t query.CheckpointSession) {
	scope := "checkpoint scope"
	if x.full {
		scope = "whole session"
	}
	b.WriteString("\n" + x.Streams.Paint(ui.Bold, "Transcript ("+scope+"):"))
	if len(d.Sessions) > 1 {
		b.WriteString(" session " + sessionName(d, t))
	}
	b.WriteByte('\n')
	switch {
	case len(t.Items) > 0 || t.Problem != nil:
	case t.HasTranscript():
		b.WriteString("  (no messages)\n")
	default:
		b.WriteString("  (no transcript is stored)\n")
	}
	for i, item := range t.Items {
		if i > 0 && (item.By != transcript.Tool || t.Items[i-1].By != transcript.Tool) {
			b.WriteByte('\n')
		}
		x.writeItem(b, item, "")
		for _, said := range t.Subagents[item.ID] {
			x.writeItem(b, said, subagentIndent)
		}
	}
	if t.Problem != nil {
		fmt.Fprintf(b, "  (%s)\n  hint: %s\n", ui.Line(problemText(t), format.LineWidth), problemHint(d, t))
	}
}

// subagentIndent precedes each line of a subagent's conversation. It is deeper than the continuation
// of any long line.
const subagentIndent = "      "

func (x explainText) writeItem(b *strings.Builder, item transcript.Item, indent string) {
	text := cmp.Or(item.Command, item.Text)
	if cut := mostSaid; len(text) > cut && !x.full {
		text = strings.ToValidUTF8(text[:cut], "") + fmt.Sprintf("\n… (%d bytes more; --full shows them)", len(text)-cut)
	}
	mark := map[transcript.Speaker]ui.Style{transcript.User: ui.Green, transcript.Assistant: ui.Bold, transcript.Tool: ui.Dim}
	text = plain.Prose(text)
	if item.By != transcript.Tool {
		text = x.Streams.Markdown(text)
	}
	text = plain.Quote(text, indent)
	b.WriteString(strings.TrimRight(indent+x.Streams.Paint(mark[item.By], ui.Escape(strings.TrimSpace(query.Mark(item))))+" "+text, " "))
	switch {
	case item.ExitStatus != nil:
		b.WriteString(x.Streams.Paint(ui.Red, " (failed, exit status "+strconv.Itoa(*item.ExitStatus)+")"))
	case item.Failed:
		b.WriteString(x.Streams.Paint(ui.Red, " (failed)"))
	}
	b.WriteByte('\n')
	indent += "  | "
	for _, edit := range item.Edits { // as a diff; its place in the file is unknown
		before, after := linediff.WholeLines(edit.Old), linediff.WholeLines(edit.New)
		first := true
		for h := range linediff.Hunks(before, after, linediff.Compare(before, after, linediff.Quick)) {
			if !first {
				b.WriteString(x.Streams.Paint(ui.Dim, indent+"…") + "\n")
			}
			first = false
			for _, line := range h.Lines {
				style := map[byte]ui.Style{'+': ui.Green, '-': ui.Red}[line[0]]
				b.WriteString(x.Streams.Paint(ui.Dim, indent) + x.Streams.Paint(style, strings.TrimRight(ui.Escape(line), " \n")) + "\n")
			}
		}
	}
	if !item.Failed && !x.full {
		return
	}
	lines := slices.Clone(item.Output.Head)
	if n := item.Output.Omitted; n > 0 {
		lines = append(lines, "… ("+ui.Plural(n, "more line")+")")
	}
	for _, line := range append(lines, item.Output.Tail...) {
		b.WriteString(x.Streams.Paint(ui.Dim, strings.TrimRight(indent+ui.Escape(line), " ")) + "\n")
	}
}

// problemText explains why parts of a session are missing.
func problemText(t query.CheckpointSession) string {
	if errors.Is(t.Problem, git.ErrMissing) {
		return "not in this clone: " + t.Problem.Error()
	}
	return "can't be read: " + t.Problem.Error()
}

// problemHint returns the hint for a problem of a session.
func problemHint(d query.Detail, t query.CheckpointSession) string {
	switch {
	case errors.Is(t.Problem, git.ErrMissing):
		return format.AbsentHint
	case errors.Is(t.Problem, git.ErrTooMuch):
		return format.TooLargeHint
	case t.HasTranscript():
		return "`entire show " + d.ID + " --raw-transcript` prints what is stored"
	}
	return "`entire doctor` reports damage"
}
