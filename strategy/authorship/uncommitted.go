package authorship

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// UncommittedLine records who wrote a line of the worktree that HEAD doesn't have.
type UncommittedLine struct {
	// Session is empty for a person.
	Session, Agent string
	Turn           checkpoint.Turn
	// Number is the number of the turn in the session, from 1; 0 if unknown.
	Number int
	Writer checkpoint.Writer
}

// WorktreeFile is a file of the worktree.
type WorktreeFile struct {
	Path    string
	Content []byte
	// Added are the lines that HEAD doesn't have.
	Added checkpoint.LineRanges
}

// Uncommitted returns who wrote the lines of a file that HEAD doesn't have, by their numbers from
// 1. The authors of missing lines aren't known. It writes nothing.
func Uncommitted(ctx context.Context, w *workspace.Workspace, f WorktreeFile) (map[int]UncommittedLine, error) {
	if len(f.Content) > largestFile {
		return nil, nil //nolint:nilnil // it isn't known
	}
	a := newAttributing(w)
	if head, ok, err := w.Head(ctx); err != nil {
		return nil, err
	} else if ok {
		a.base = head
	}
	prompts := map[string]func(line int) int{}
	for _, s := range w.PendingSessions(ctx) {
		notes := new(tracking.Pending)
		if err := tracking.CatchUp(ctx, w, s, notes); err != nil {
			w.Log.InfoContext(ctx, "session not brought up to date", "session_id", s.ID, "error", err.Error())
		}
		steps := tracking.ReadSteps(ctx, w, s, notes)
		files := s.FilesTouched
		if workspace.IsBusy(s) && !workspace.ContainsPath(files, f.Path) { // its running turn may have changed it
			files = slices.Sorted(slices.Values(append(slices.Clone(files), f.Path)))
		}
		c := Slot{State: s, Notes: notes, Pending: s.FilesTouched, Files: files}
		a.sessions = append(a.sessions, c)
		a.addSession(s, steps)
		prompts[s.ID] = tracking.TurnNumbers(w, s, notes)
	}
	for _, c := range a.sessions {
		a.gatherRest(ctx, c)
	}
	if from := a.movedFrom(ctx, f); from != "" {
		a.before = map[string]string{f.Path: from}
	}
	file, ok := a.worktreeFile(ctx, f)
	if !ok {
		return nil, nil //nolint:nilnil // it isn't known
	}
	texts := splitLines(f.Content)
	found := map[int]UncommittedLine{}
	lines := authoredLines{names: a.namesOf(f.Path), lines: file.Attribute(), texts: texts}
	a.splitOverlaps(ctx, lines)
	for _, l := range lines.lines.Added {
		if l.Unsure {
			continue
		}
		var line UncommittedLine
		for _, c := range a.sessions {
			if attribution.Author(c.State.ID) != l.By {
				continue
			}
			sw := a.writers.of(ctx, c.State)
			var text []byte
			if l.Number < len(texts) {
				text = texts[l.Number]
			}
			line = UncommittedLine{Session: c.State.ID, Agent: c.State.AgentType, Writer: a.writers.writer(c, sw, lines.names, l, text)}
			if at := line.Writer.Turn; at >= 0 {
				line.Turn = sw.turns[at]
				line.Number = prompts[c.State.ID](line.Turn.Line)
			}
		}
		found[l.Number+1] = line
	}
	return found, nil
}

// movedFrom returns the name under which sessions left a file that HEAD doesn't have: that of a
// file that no longer exists and has most of its lines. It is empty if there is none.
func (a *attributing) movedFrom(ctx context.Context, f WorktreeFile) string {
	if _, found, err := a.w.Lookup(ctx, a.base.Tree, f.Path); err != nil || found {
		return ""
	}
	var sources []tracking.LineSource
	for _, p := range slices.Sorted(maps.Keys(a.steps)) {
		held := a.steps.Of("", p) // without removals, which a later turn may have noticed
		if n := len(held); n > 0 && held[n-1].Blob != tracking.UnknownBlob && !a.w.HasFile(p) {
			sources = append(sources, tracking.LineSource{Path: p, Left: held[n-1].Blob, Gone: true})
		}
	}
	read := func(blob git.OID) ([]byte, error) {
		data, _ := a.read(ctx, blob)
		return data, nil
	}
	lines, err := tracking.NewSourceLines(sources[:min(len(sources), tracking.MostRenames)], read)
	if err != nil {
		return ""
	}
	from, found := lines.Closest(f.Content, path.Base(f.Path))
	left, isRead := a.read(ctx, from.Left)
	if !found || !isRead {
		return ""
	}
	moved := attribution.File{Final: f.Content, States: []attribution.State{{By: "session", Content: left}}}
	if !moved.Shares()["session"].IsCopy() {
		return ""
	}
	return from.Path
}

// worktreeFile returns the states of a file from HEAD to the worktree, or false if its lines
// can't be followed.
func (a *attributing) worktreeFile(ctx context.Context, f WorktreeFile) (attribution.File, bool) {
	file := attribution.File{Final: f.Content}
	var base git.OID
	if a.base.Tree != "" {
		was, found, err := a.w.Lookup(ctx, a.base.Tree, a.namesOf(f.Path)[0])
		base = was.OID
		if err != nil || found && !workspace.IsBlob(was.Mode) {
			return file, false
		}
		var ok bool
		if file.Base, ok = a.read(ctx, was.OID); found && !ok {
			return file, false
		}
	}
	steps := a.steps.Of(f.Path, a.before[f.Path])
	newest := git.OID("")
	for _, s := range steps {
		data, ok := a.read(ctx, s.Blob)
		if s.Blob == tracking.UnknownBlob || !ok {
			continue
		}
		newest = s.Blob
		file.States = append(file.States, attribution.State{By: attribution.Author(s.By), Turn: s.Turn, Content: data, Raw: s.Raw, Early: s.Early, Unproven: s.Unproven})
	}
	if newest != a.w.Repo.Format.HashBlob(f.Content) { // changed since the last step
		file.By, file.Unproven = lastAuthor(steps, a.author(ctx, f.Path))
		file.Turn = a.turnOf(file.By)
	}
	file.Earlier = a.earlier(ctx, a.namesOf(f.Path)[0], base, steps, file)
	for _, r := range f.Added {
		file.Hunks = append(file.Hunks, git.Hunk{Old: 1, New: r.First, NewLines: r.Last - r.First + 1})
	}
	return file, true
}
