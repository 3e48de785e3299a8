package strategy

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// activity is what a session wrote since a moment, as its transcripts and steps
// say.
type activity struct {
	session string
	active  bool // its turn is under way
	timed   bool // its transcript has times
	// subagents reports whether there are transcripts of what its subagents did.
	subagents bool
	// edits are the uses of edit tools, by path; calls those of tools that write
	// without naming anything, in order and apart from each other; background the
	// beginnings of those that went on in the background.
	edits      map[string][]span
	calls      []span
	background []time.Time
	commands   []shellCommand
	// steps are the stops after which the session had changed a path, personSteps
	// the prompts at which a person had.
	steps, personSteps map[string][]stepMark
}

// span is the time of a tool call; end is zero while it runs.
type span struct{ start, end time.Time }

// shellCommand is a command of a shell and when it ran.
type shellCommand struct {
	span

	words []string
}

// stepMark is the turn of a step.
type stepMark struct {
	at   time.Time
	turn string
}

// settle is how long after an edit tool's result its own work, such as formatting
// by a hook, may change the file.
const settle = 2 * time.Second

// covers reports whether a time is within the span or shortly after.
func (s span) covers(at time.Time, after time.Duration) bool {
	return s.start.IsZero() || !at.Before(s.start.Add(-slack)) && (s.end.IsZero() || !at.After(s.end.Add(after)))
}

// within reports whether the span and the stretch overlap.
func (s span) within(st *stretch) bool {
	if s.start.IsZero() {
		return true
	}
	return (st.to.IsZero() || !s.start.After(st.to)) && (s.end.IsZero() || s.end.After(st.from))
}

// names reports whether an edit tool named the path in the stretch, and whether
// that explains a change at a time.
func (act *activity) names(name string, st *stretch, at time.Time) (named, covers bool) {
	for _, edit := range act.edits[name] {
		if edit.within(st) {
			named = true
			covers = covers || edit.covers(at, settle)
		}
	}
	return named, covers
}

// wrote reports whether a tool ran in the stretch, at that time, that can write
// anything, or one in the background.
func (act *activity) wrote(st *stretch, at time.Time) (during, background bool) {
	i, found := slices.BinarySearchFunc(act.calls, at, func(s span, at time.Time) int { return s.start.Add(-slack).Compare(at) })
	if !found {
		i--
	}
	during = i >= 0 && act.calls[i].within(st) && act.calls[i].covers(at, slack)
	background = slices.ContainsFunc(act.background, func(start time.Time) bool {
		return span{start: start}.within(st) && !at.Before(start.Add(-slack))
	})
	return during, background
}

// mentions reports whether a command in the stretch has a word that names the
// path, a directory above it, or a pattern that it matches.
func (act *activity) mentions(name string, st *stretch) bool {
	return slices.ContainsFunc(act.commands, func(c shellCommand) bool {
		return c.within(st) && slices.ContainsFunc(c.words, func(word string) bool { return wordNames(word, name) })
	})
}

// wordNames reports whether a word of a command may name the path. The command's
// working directory isn't known, so the end of the path is enough.
func wordNames(word, name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		if at == word || strings.HasSuffix(at, "/"+word) {
			return true
		}
		if strings.ContainsAny(word, "*?[") {
			whole, _ := path.Match(word, at)
			base, _ := path.Match(word, path.Base(at))
			if whole || base {
				return true
			}
		}
	}
	return false
}

// stepped reports whether a step records that the session changed the path in the
// stretch.
func (act *activity) stepped(name string, st *stretch) bool {
	return slices.ContainsFunc(act.steps[name], st.hasStep)
}

// hasStep reports whether a step is about the stretch: that of the turn whose
// beginning the later snapshot missed, or one of which no snapshot was taken.
func (st *stretch) hasStep(m stepMark) bool {
	return st.late && m.turn == st.begun || !st.snapped[m.turn] && st.holds(m.at)
}

// activitySince reads what the sessions of this worktree did since a snapshot.
func (r *Recorder) activitySince(ctx context.Context, target bands.Snapshot) ([]*activity, error) {
	var all []*activity
	for _, s := range r.sessionsHere(ctx) {
		active := s.Phase == session.Active
		if !active && s.LastInteraction != nil && s.LastInteraction.Before(target.Created.Add(-settle)) {
			continue
		}
		act := &activity{session: s.ID, active: active, edits: map[string][]span{}, steps: map[string][]stepMark{}, personSteps: map[string][]stepMark{}}
		if err := r.readActivity(ctx, act, s, target); err != nil {
			return nil, err
		}
		for _, st := range r.readSteps(ctx, s, new(notes)) {
			into := act.steps
			if st.By == byPerson {
				into = act.personSteps
			}
			for _, p := range st.Paths {
				into[p] = append(into[p], stepMark{st.At, st.Turn})
			}
		}
		all = append(all, act)
	}
	return all, nil
}

// readActivity reads the transcripts of a session and of its subagents. Those
// that can't be read are left out: the snapshots know the most.
func (r *Recorder) readActivity(ctx context.Context, act *activity, s *session.State, target bands.Snapshot) error {
	offset := int64(0)
	if target.Causality.Session == s.ID && target.Causality.TranscriptPath == s.TranscriptPath {
		offset = target.Causality.TranscriptBytes
	}
	files := []string{s.TranscriptPath}
	agents, err := transcript.AgentFiles(s.TranscriptPath)
	if err != nil {
		r.Log.InfoContext(ctx, "subagents not read", "session_id", s.ID, "error", err.Error())
	}
	for _, t := range s.Recorder.Tasks { // where older agents have them
		if f, found := transcript.FindAgent(s.TranscriptPath, t.Agent); found && !slices.ContainsFunc(agents, func(o transcript.AgentFile) bool { return o.Path == f.Path }) {
			agents = append(agents, f)
		}
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
			r.Log.InfoContext(ctx, "transcript not read", "session_id", s.ID, "error", err.Error())
			continue
		}
		act.timed = act.timed || !scan.LastTime.IsZero()
		act.take(r, scan, target.Created.Add(-settle))
	}
	act.calls = joined(act.calls)
	return nil
}

// take adds what a scan found and what didn't end before a time.
func (act *activity) take(r *Recorder, scan transcript.Scan, since time.Time) {
	over := func(s span) bool { return !s.end.IsZero() && s.end.Before(since) }
	for _, e := range scan.Edits {
		s := span{e.Start, e.End}
		if over(s) {
			continue
		}
		for p := range r.inWorktree([]string{e.Path}) {
			act.edits[p] = append(act.edits[p], s)
		}
	}
	for _, c := range scan.Calls {
		s := span{c.Start, c.End}
		switch {
		case over(s) || c.Start.IsZero():
			continue
		case c.Background:
			act.background = append(act.background, c.Start)
		case transcript.IsTask(c.Tool) && act.subagents: // each has a transcript of its own
		default:
			act.calls = append(act.calls, s)
		}
		if c.Command != "" {
			act.commands = append(act.commands, shellCommand{s, wordsOf(r, c.Command)})
		}
	}
}

// joined orders spans and makes one of those that overlap.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.start.Compare(b.start) })
	var apart []span
	for _, s := range spans {
		n := len(apart)
		if n == 0 || !apart[n-1].end.IsZero() && s.start.After(apart[n-1].end) {
			apart = append(apart, s)
			continue
		}
		if last := &apart[n-1]; !last.end.IsZero() && (s.end.IsZero() || s.end.After(last.end)) {
			last.end = s.end
		}
	}
	return apart
}

// wordsOf takes a command apart into what may be paths below the worktree.
func wordsOf(r *Recorder, command string) []string {
	words := strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t\n\r'\"`;|&<>()=,:$", c) })
	found := words[:0]
	for _, word := range words {
		word = strings.TrimPrefix(word, r.Repo.Root+"/")
		if word = path.Clean(word); word != "." && word != ".." && word != "/" && !strings.HasPrefix(word, "-") {
			found = append(found, strings.TrimPrefix(word, "./"))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
