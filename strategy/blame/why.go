package blame

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Act is a use of a tool.
type Act struct {
	Tool, Detail, Call string
	Failed             bool
	// Guessed reports that no record identifies this use: it is the likely one.
	Guessed bool
}

// Story describes what led to lines. Its texts are redacted.
type Story struct {
	Author Author
	// Prompt is the user's prompt, Said the last text of the agent before the edit.
	Prompt, Said string
	// Edit wrote the lines; nil if it isn't known.
	Edit *Act
	// After holds the commands that ran after it in the turn.
	After []Act
	// Turn is the whole turn.
	Turn []transcript.Item
}

// Story finds what led to lines of an author in a file. If the conversation isn't in this
// repository, the story has only the author and the data of its record.
func (r Reader) Story(ctx context.Context, a Author, file string) (Story, error) {
	story := Story{Author: a, Prompt: a.Turn.Title}
	if a.Kind != Agent {
		return story, nil
	}
	conversation := &turnReader{Conversation: transcript.Conversation{Root: r.Repo.Root}}
	var err error
	if a.Checkpoint == "" {
		err = r.live(ctx, a, conversation)
	} else {
		err = r.stored(ctx, a, conversation)
	}
	if err != nil {
		if errors.Is(err, git.ErrMissing) || errors.Is(err, checkpoint.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return story, err
	}
	items, edit := conversation.turn(a, file)
	for i := range items {
		if a.Checkpoint == "" {
			if items[i].Text, err = r.Workspace.RedactText(ctx, items[i].Text); err != nil {
				return story, err
			}
		}
	}
	story.Turn = items
	asked := slices.IndexFunc(items, func(i transcript.Item) bool { return i.By == transcript.User })
	if asked >= 0 {
		story.Prompt = items[asked].Text
	}
	if edit < 0 {
		return story, nil
	}
	at := act(items[edit])
	at.Guessed = at.Call != a.Call
	story.Edit = &at
	for _, item := range slices.Backward(items[:edit]) {
		if item.By == transcript.Assistant {
			story.Said = item.Text
		}
		if item.By == transcript.Assistant || item.By == transcript.User {
			break
		}
	}
	for _, item := range items[edit+1:] {
		if item.By == transcript.Tool && transcript.IsCommand(item.Tool) {
			story.After = append(story.After, act(item))
		}
	}
	return story, nil
}

func act(item transcript.Item) Act {
	return Act{Tool: item.Tool, Detail: item.Text, Call: item.ID, Failed: item.Failed}
}

// turnReader reads a conversation and the lines at which its turns begin.
type turnReader struct {
	transcript.Conversation

	events transcript.Events
	begins []int // lines of prompts
}

func (t *turnReader) line(raw []byte, n int) {
	t.AddLine(raw, n)
	if e, ok := t.events.Line(raw); ok && e.IsPrompt() {
		t.begins = append(t.begins, n)
	}
}

// turn returns the items of the author's turn, and the index of the edit among them, -1 if it isn't
// known.
func (t *turnReader) turn(a Author, file string) (items []transcript.Item, edit int) {
	anchor := a.Turn.Line
	if i := slices.IndexFunc(t.Items, func(i transcript.Item) bool { return a.Call != "" && i.ID == a.Call }); i >= 0 {
		anchor = t.Items[i].Line
	} else if next := slices.IndexFunc(t.begins, func(line int) bool { return line >= anchor }); next >= 0 {
		anchor = t.begins[next] // the prompt comes after the line at which its hook ran
	}
	from, to := 0, -1
	for _, line := range t.begins {
		if line <= anchor {
			from = line
		} else if to < 0 {
			to = line
		}
	}
	for _, item := range t.Items {
		if item.Line >= from && (to < 0 || item.Line < to) {
			items = append(items, item)
		}
	}
	return items, editOf(items, a, file)
}

// editOf finds the tool use that wrote the lines: the author's call; else, for a subagent, the last
// one that started a subagent; else the last command that names the file, or the only command.
func editOf(items []transcript.Item, a Author, file string) int {
	if i := slices.IndexFunc(items, func(i transcript.Item) bool { return a.Call != "" && i.ID == a.Call }); i >= 0 {
		return i
	}
	named, only, commands := -1, -1, 0
	for i, item := range items {
		switch {
		case item.By != transcript.Tool:
		case a.Subagent != "":
			if transcript.IsTask(item.Tool) {
				named = i
			}
		case transcript.IsCommand(item.Tool):
			only = i
			commands++
			if file != "" && strings.Contains(item.Text, path.Base(file)) {
				named = i
			}
		}
	}
	if named < 0 && commands == 1 {
		return only
	}
	return named
}

// stored reads the conversation of a checkpoint from the author's turn on.
func (r Reader) stored(ctx context.Context, a Author, into *turnReader) error {
	records, err := r.Workspace.Records(ctx)
	if err != nil {
		return err
	}
	for _, source := range records.Sources {
		c, err := source.Read(ctx, a.Checkpoint)
		if err != nil {
			if errors.Is(err, checkpoint.ErrNotFound) {
				continue
			}
			return err
		}
		for _, s := range c.Sessions {
			if s.Meta.SessionID != a.Session {
				continue
			}
			t, err := checkpoint.UnhashedTranscript(ctx, r.Repo, s.Dir)
			if err != nil {
				return err
			}
			span := checkpoint.LineSpan{From: a.Turn.Line, To: s.Meta.TranscriptEnd, Total: s.Meta.TranscriptLines}
			if span.To <= span.From {
				span.To = 0
			}
			return t.Lines(ctx, r.Repo, span, func(line []byte, n int) error {
				into.line(line, n)
				return nil
			})
		}
	}
	return checkpoint.ErrNotFound
}

// live reads the conversation of a session that is not finished.
func (r Reader) live(ctx context.Context, a Author, into *turnReader) error {
	s, err := session.Open(r.Repo.CommonDir).Load(a.Session)
	if err != nil {
		return err
	}
	info, err := os.Stat(s.TranscriptPath)
	if err != nil {
		return err
	}
	n := 0
	return transcript.Lines(ctx, s.TranscriptPath, 0, info.Size(), func(line []byte, _ int64) error {
		if n >= a.Turn.Line {
			into.line(line, n)
		}
		n++
		return nil
	})
}

// OfCommit returns the author of most of the lines that a commit added, according to the records of
// its checkpoints, and the file with most of these lines. It returns false if the commit has no
// checkpoint in this repository. If it names none, or no record has lines, the authors are derived.
func (r Reader) OfCommit(ctx context.Context, commit git.Commit) (a Author, file string, found bool, err error) {
	isDerived := checkpoint.IsDerived(commit)
	if len(checkpoint.IDsOf(commit)) == 0 || isDerived && !checkpoint.IsImported(commit) {
		return r.mostAdded(ctx, commit.OID)
	}
	at := newAttributing(r, map[git.OID]git.Commit{commit.OID: commit})
	g := &group{groupKey: groupKey{commit: commit.OID}, ids: checkpoint.IDsOf(commit)}
	slices.Reverse(g.ids)
	if err := at.readRecords(ctx, []*group{g}); err != nil {
		return a, "", false, err
	}
	most := 0
	for _, id := range g.ids {
		rec := at.records[id]
		for i := range rec.slots {
			s := &rec.slots[i]
			base := Author{
				Kind: Agent, Commit: commit.OID, Checkpoint: id, Agent: s.meta.Agent, Session: s.meta.SessionID,
				Derived: isDerived, Imported: s.meta.IsImported(),
				Turn: checkpoint.Turn{Title: s.meta.Title, Line: s.meta.TranscriptStart},
			}
			if !found {
				a, found = base, true
			}
			for _, name := range slices.Sorted(maps.Keys(s.files)) {
				f := s.files[name]
				for _, writer := range slices.Sorted(maps.Keys(f.written)) {
					ranges := f.written[writer]
					if lines := ranges.Len(); lines > most {
						most, file = lines, name
						a = s.writer(f, ranges[0].First, Author{Commit: commit.OID, Checkpoint: id, Derived: isDerived})
					}
				}
			}
		}
	}
	if found && most == 0 {
		if derived, in, ok, err := r.mostAdded(ctx, commit.OID); err != nil || ok {
			return derived, in, true, err
		}
	}
	return a, file, found, nil
}
