package tracking

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Activity holds the writes of a session since a moment, according to its transcripts and
// steps.
type Activity struct {
	Session string
	Active  bool // its turn is under way
	Timed   bool // its transcript has times
	// subagents reports whether there are transcripts of its subagents.
	subagents bool
	// Edits are the uses of edit tools, by path; calls those of tools that write without
	// naming files, ordered and disjoint; background the start times of those that continued
	// in the background.
	Edits      map[string][]Span
	calls      []Span
	background []time.Time
	commands   []shellCommand
	// steps are the stops by which the session had changed a path, PersonSteps the prompts by
	// which a person had.
	steps, PersonSteps map[string][]StepMark
}

// NewActivity returns the activity of a session without any edits or calls.
func NewActivity(session string) *Activity {
	return &Activity{Session: session, Edits: map[string][]Span{}, steps: map[string][]StepMark{}, PersonSteps: map[string][]StepMark{}}
}

// shellCommand is a command of a shell and when it ran.
type shellCommand struct {
	Span

	words []string
}

// StepMark is the turn of a step.
type StepMark struct {
	at   time.Time
	Turn string
}

// settle is how long after an edit tool's result the tool's follow-up work, such as formatting
// by a hook, may change the file.
const settle = 2 * time.Second

// Names reports whether an edit tool named the path in the interval, and whether
// that explains a change at a time.
func (a *Activity) Names(name string, st *Interval, at time.Time) (named, covers bool) {
	for _, edit := range a.Edits[name] {
		if edit.Within(st) {
			named = true
			covers = covers || edit.Covers(at, settle)
		}
	}
	return named, covers
}

// Wrote reports whether a tool that can write any file ran in the interval at that time, and
// whether one was running in the background.
func (a *Activity) Wrote(st *Interval, at time.Time) (during, background bool) {
	i, found := slices.BinarySearchFunc(a.calls, at, func(s Span, at time.Time) int { return s.Start.Add(-workspace.ClockSlack).Compare(at) })
	if !found {
		i--
	}
	during = i >= 0 && a.calls[i].Within(st) && a.calls[i].Covers(at, workspace.ClockSlack)
	background = slices.ContainsFunc(a.background, func(start time.Time) bool {
		return Span{Start: start}.Within(st) && !at.Before(start.Add(-workspace.ClockSlack))
	})
	return during, background
}

// Mentions reports whether a command in the interval has a word that names the
// path, a directory above it, or a pattern that it matches.
func (a *Activity) Mentions(name string, st *Interval) bool {
	return slices.ContainsFunc(a.commands, func(c shellCommand) bool {
		return c.Within(st) && slices.ContainsFunc(c.words, func(word string) bool { return wordNames(word, name) })
	})
}

// maxPatternWord is the length above which a word isn't used as a pattern: matching takes time
// in proportion to its length, for each directory above each path.
const maxPatternWord = 256

// wordNames reports whether a word of a command may name the path. The command's
// working directory isn't known, so the end of the path is enough.
func wordNames(word, name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		if at == word || strings.HasSuffix(at, "/"+word) {
			return true
		}
		if len(word) <= maxPatternWord && strings.ContainsAny(word, "*?[") {
			whole, _ := path.Match(word, at)
			base, _ := path.Match(word, path.Base(at))
			if whole || base {
				return true
			}
		}
	}
	return false
}

// Stepped reports whether a step records that the session changed the path in the
// interval.
func (a *Activity) Stepped(name string, st *Interval) bool {
	return slices.ContainsFunc(a.steps[name], st.hasStep)
}

// ActivitySince returns the activity of this worktree's sessions since a snapshot.
func ActivitySince(ctx context.Context, w *workspace.Workspace, target bands.Snapshot) ([]*Activity, error) {
	var all []*Activity
	for _, s := range w.AllSessions(ctx) {
		active := s.Phase == session.Active
		if !active && s.LastInteraction != nil && s.LastInteraction.Before(target.Created.Add(-settle)) {
			continue
		}
		act := NewActivity(s.ID)
		act.Active = active
		if err := readActivity(ctx, w, act, s, target); err != nil {
			return nil, err
		}
		for _, st := range ReadSteps(ctx, w, s, new(Pending)) {
			into := act.steps
			if st.By == byPerson {
				into = act.PersonSteps
			}
			for _, p := range st.Paths {
				into[p] = append(into[p], StepMark{st.At, st.Turn})
			}
		}
		all = append(all, act)
	}
	return all, nil
}

// readActivity reads the transcripts of a session and of its subagents. Those that can't be
// read are skipped: most of the evidence is in the snapshots.
func readActivity(ctx context.Context, w *workspace.Workspace, act *Activity, s *session.State, target bands.Snapshot) error {
	offset := int64(0)
	if target.Causality.Session == s.ID && target.Causality.TranscriptPath == s.TranscriptPath {
		offset = target.Causality.TranscriptBytes
	}
	files := []string{s.TranscriptPath}
	agents, err := s.Recorder.SubagentFiles(s.TranscriptPath)
	if err != nil {
		w.Log.InfoContext(ctx, "subagents not read", "session_id", s.ID, "error", err.Error())
	}
	for _, f := range agents {
		if !f.Changed.Before(target.Created.Add(-settle)) {
			files = append(files, f.Path)
		}
	}
	act.subagents = len(agents) > 0
	for i, file := range files {
		if i > 0 {
			offset = 0
		}
		scan, err := transcript.ReadFrom(ctx, file, offset)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			w.Log.InfoContext(ctx, "transcript not read", "session_id", s.ID, "error", err.Error())
			continue
		}
		act.Timed = act.Timed || !scan.LastTime.IsZero()
		act.AddScan(w.Repo, Own(w.Repo, s, scan), target.Created.Add(-settle))
	}
	return nil
}

// AddScan adds the edits and calls of a scan that didn't end before since.
func (a *Activity) AddScan(repo *git.Repo, scan transcript.Scan, since time.Time) {
	over := func(s Span) bool { return !s.End.IsZero() && s.End.Before(since) }
	for _, e := range scan.Edits {
		s := Span{e.Start, e.End}
		if over(s) {
			continue
		}
		if p, ok := workspace.RelativePath(repo, e.Path); ok {
			a.Edits[p] = append(a.Edits[p], s)
		}
	}
	for _, c := range scan.Calls {
		s := Span{c.Start, c.End}
		switch {
		case over(s) || c.Start.IsZero():
			continue
		case c.Background:
			a.background = append(a.background, c.Start)
		case transcript.IsTask(c.Tool) && a.subagents: // each has a transcript of its own
		default:
			a.calls = append(a.calls, s)
		}
		if c.Command != "" {
			a.commands = append(a.commands, shellCommand{s, wordsOf(repo, c.Command)})
		}
	}
	a.calls = mergeSpans(a.calls)
}

// separators are the characters at which wordsOf splits a command.
const separators = " \t\n\r'\"`;|&<>()=,:$"

func isSeparator(c rune) bool { return strings.ContainsRune(separators, c) }

// wordsOf splits a command into words that may be paths below the worktree, sorted.
func wordsOf(repo *git.Repo, command string) []string {
	words := strings.FieldsFunc(command, isSeparator)
	found := words[:0]
	for _, word := range words {
		if word = cleanWord(repo, word); word != "." && word != ".." && word != "/" && !strings.HasPrefix(word, "-") {
			found = append(found, word)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// cleanWord returns a word of a command as a path below the worktree, if it may be one.
func cleanWord(repo *git.Repo, word string) string {
	return strings.TrimPrefix(path.Clean(strings.TrimPrefix(word, repo.Root+"/")), "./")
}
