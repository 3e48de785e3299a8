package authorship

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// largestFile is the maximum size of a file whose lines are followed.
	largestFile = 4 << 20
	// mostContent is the maximum size of all contents that are read.
	mostContent = 48 << 20
)

// Attribute determines for each session of a commit which lines it wrote, and stores the result in
// todo. A checkpoint is complete without it, so errors are only logged.
func Attribute(ctx context.Context, w *workspace.Workspace, d tracking.Decision, head git.Commit, m Committed, todo []Slot) {
	m.Lines.Group.Wait()
	if m.Lines.failed != nil {
		w.Log.WarnContext(ctx, "commit not attributed", "checkpoint", string(d.ID), "error", m.Lines.failed.Error())
		return
	}
	a := newAttributing(w)
	a.replaced, a.others, a.head = replacedCommits(ctx, w, d, head), m.Lines.others, head.OID
	a.sessions, a.decided, a.changes = todo, d.Shares, m.Changes
	if len(d.Copies) > 1 {
		a.copied = map[string]map[string]bool{}
	}
	if len(head.Parents) > 0 {
		if c, err := a.w.Repo.Commit(ctx, string(head.Parents[0])); err == nil {
			a.base = c
		}
	}
	for _, old := range a.replaced {
		for _, slot := range old.slots {
			if slot.title != "" {
				a.writers.turns = append(a.writers.turns, askedTurn{session: slot.session, id: old.turn(), prompt: slot.title})
			}
			for _, t := range slot.recorded.Turns {
				a.writers.turns = append(a.writers.turns, askedTurn{session: slot.session, id: t.ID, prompt: t.Title, line: t.Line})
			}
		}
	}
	seen := map[string]bool{}
	for _, c := range a.sessions {
		seen[c.State.ID] = true
		steps := tracking.ReadSteps(ctx, a.w, c.State, c.Notes)
		a.addSession(c.State, steps)
	}
	for _, s := range a.w.PendingSessions(ctx) {
		if !seen[s.ID] {
			a.addSession(s, tracking.ReadSteps(ctx, a.w, s, new(tracking.Pending)))
		}
	}
	// The prompts of steps were redacted when these were recorded; more may be known by now.
	if slices.ContainsFunc(todo, func(c Slot) bool { return len(c.State.Recorder.Known) > 0 }) {
		for i, t := range a.writers.turns {
			a.writers.turns[i].prompt = w.Redact.Text(t.prompt)
		}
	}
	// A session that changed files of the commit without a step has their contents on its shadow
	// branch.
	for _, c := range a.sessions {
		a.gatherRest(ctx, c)
	}
	for _, f := range m.Lines.files {
		// The diff of a merge also contains the changes of its other parents.
		c, ok := m.Changes[f.Path]
		if !ok && f.OldPath != "" {
			_, ok = m.Changes[f.OldPath]
		}
		if ok && c.NewMode != git.ModeModule && c.OldMode != git.ModeModule && !a.isOurs(f.Path) {
			a.file(ctx, f, m.Lines.counted)
		}
	}
	a.followMoves(ctx)
	for _, l := range a.found {
		a.splitOverlaps(ctx, l)
		a.lines(ctx, l)
	}
	for i := range todo {
		raw, err := a.result(d, todo[i].State.ID)
		if err != nil {
			w.Log.WarnContext(ctx, "commit not attributed", "checkpoint", string(d.ID), "error", err.Error())
			return
		}
		todo[i].Attribution, todo[i].Title = raw, a.title(todo[i].State.ID)
	}
}

// attributing is the attribution of one commit.
type attributing struct {
	shares

	w         *workspace.Workspace
	steps     tracking.PathSteps
	mayChange func(command string, names []string) bool
	replaced  []replacedCommit
	// copied holds, if git copied or folded commits, the lines of each file that their sessions
	// wrote: states of several commits don't follow one another.
	copied  map[string]map[string]bool
	others  [][]git.FileDiff // of a merge: the diffs against its other parents
	base    git.Commit
	past    []git.Commit // ancestors of base, newest first, as far as they were read
	lookups int          // number of lookups in past
	head    git.OID      // the commit
	contents
	tallies
	writers writerIndex
	pending []*session.State // the sessions whose steps are known
	resting []*session.State // other sessions that were at work at the same time
	found   []authoredLines
	soFar   []string                         // files with steps of running turns
	running map[string]*tracking.TurnChanges // the running turns of sessions
}

func newAttributing(w *workspace.Workspace) *attributing {
	return &attributing{
		w: w, writers: writerIndex{w: w}, steps: tracking.PathSteps{}, mayChange: tracking.MayChange(w.Repo),
		contents: contents{repo: w.Repo, room: mostContent}, tallies: tallies{own: map[string]tally{}},
	}
}

// addSession adds the steps of a session, and its turns, including a running one.
func (a *attributing) addSession(s *session.State, steps []tracking.Step) {
	a.pending = append(a.pending, s)
	turns := &a.writers.turns
	for _, step := range steps {
		if step.Prompt != "" || step.Line > 0 || !step.Begun.IsZero() {
			*turns = append(*turns, askedTurn{
				session: s.ID, id: step.Turn, prompt: step.Prompt, line: step.Line, from: step.Begun, to: step.At,
				beside: step.Beside, mixed: step.Mixed,
			})
		}
	}
	for i, t := range s.Recorder.Unclosed {
		*turns = append(*turns, askedTurn{session: s.ID, id: t.ID, line: t.Line, from: t.Start, to: s.Recorder.Turns()[i+1].Start})
	}
	if workspace.IsBusy(s) {
		t := s.Recorder.Turn
		*turns = append(*turns, askedTurn{
			session: s.ID, id: s.TurnID, prompt: tracking.TitleOf(s), line: t.Line, from: t.Start, mixed: t.Mixed,
		})
	}
	a.steps.AddSession(s.ID, steps)
}

// gatherRest adds the known changes to a session's files that no step records. Changes by persons
// before a running turn are otherwise recorded only when the turn ends.
func (a *attributing) gatherRest(ctx context.Context, c Slot) {
	var without []string
	for _, p := range c.Files {
		isPending := workspace.ContainsPath(c.Pending, p) || workspace.ContainsPath(c.Share.Files, p) // else it is another session's
		if isPending && len(a.steps[p]) == 0 && len(a.steps[c.Share.NameBefore(p)]) == 0 {
			without = append(without, p)
		}
	}
	since := c.State.StartedAt
	if workspace.IsBusy(c.State) {
		since = c.State.Recorder.Turn.Start
		a.steps.AddSession(c.State.ID, a.stepsSoFar(ctx, c))
		// The shadow branch may have checkpoints of the turn's subagents. They are older than the
		// turn's own step of the file.
		without = slices.DeleteFunc(without, func(p string) bool {
			return slices.ContainsFunc(a.steps[p], func(s tracking.AuthoredStep) bool { return s.By == c.State.ID })
		})
	}
	if len(without) == 0 {
		return
	}
	shadow, err := a.w.ShadowTree(ctx, c.State)
	if err != nil {
		return
	}
	for _, p := range without {
		e, found, err := a.w.Lookup(ctx, shadow, c.Share.NameBefore(p))
		if was, _, failed := a.w.Lookup(ctx, a.base.Tree, p); err == nil && failed == nil && found && e.OID != was.OID {
			at := since
			for _, s := range a.steps.Of(p, c.Share.NameBefore(p)) { // what others wrote is in it
				if !s.At.Before(at) {
					at = s.At.Add(1)
				}
			}
			a.steps[p] = append(a.steps[p], tracking.AuthoredStep{At: at, By: c.State.ID, Blob: e.OID, Turn: a.turnOf(attribution.Author(c.State.ID))})
		}
	}
}

// stepsSoFar returns the steps of a session's running turn in files of the commit, as if it ended
// now.
func (a *attributing) stepsSoFar(ctx context.Context, c Slot) []tracking.Step {
	s := c.State
	so := a.changesSoFar(ctx, s)
	t := tracking.StepTurn{Base: a.base, Work: so.Work, Unsure: map[string]bool{}, Raw: true}
	others := t
	for _, p := range c.Files {
		is, unsure := so.Judge(p)
		if !is {
			others.Touched = append(others.Touched, p)
			continue
		}
		t.Touched, t.Unsure[p] = append(t.Touched, p), unsure
	}
	var err error
	if t.Entries, err = tracking.WorktreeEntries(a.w, t.Touched, func(p string) git.OID { return a.changes[p].New }); err != nil {
		a.w.Log.WarnContext(ctx, "changes of the running turn not read", "session_id", s.ID, "error", err.Error())
	}
	t.Touched = slices.DeleteFunc(t.Touched, func(p string) bool {
		_, known := t.Entries[p]
		if !known {
			others.Touched = append(others.Touched, p)
		}
		return !known
	})
	a.soFar = append(a.soFar, t.Touched...)
	before := tracking.StepBefore(ctx, a.w, s, c.Notes, others)
	return append([]tracking.Step{before}, tracking.TurnSteps(ctx, a.w, s, c.Notes, t)...)
}

// author returns the author of a path's content in the commit if no step records it: the agent
// whose running turn changed it, else a person. A turn changed it if it would be the turn's at a stop,
// or if the agent's own commit took it up and the transcript may lack the call that wrote it.
func (a *attributing) author(ctx context.Context, path string) attribution.Author {
	for _, c := range a.sessions {
		if !workspace.IsBusy(c.State) || slices.Contains(a.soFar, path) {
			continue
		}
		by := attribution.Author(c.State.ID)
		so := a.changesSoFar(ctx, c.State)
		if is, _ := so.Judge(path); is {
			return by
		}
		for _, share := range a.decided {
			isOwn := share.Session == c.State.ID && workspace.ContainsPath(share.Files, path) && !workspace.ContainsPath(c.Pending, path)
			if isOwn && !so.IsShown(path) {
				return by
			}
		}
	}
	return attribution.Person
}

// changesSoFar returns the changes of a session's running turn.
func (a *attributing) changesSoFar(ctx context.Context, s *session.State) *tracking.TurnChanges {
	if known := a.running[s.ID]; known != nil {
		return known
	}
	if a.running == nil {
		a.running = map[string]*tracking.TurnChanges{}
	}
	t := s.Recorder.Turn
	so := &tracking.TurnChanges{Repo: a.w.Repo, Turn: t, Named: a.w.RelativePaths(t.Edits), Work: tracking.WorkOf(ctx, a.w, s, s.Recorder.Cursor, t, nil)}
	a.running[s.ID] = so
	return so
}

// file adds the lines of a file.
func (a *attributing) file(ctx context.Context, f git.FileDiff, counted bool) {
	// The steps are those of its own name and of its previous name, as recorded by git or the
	// decision.
	before := f.OldPath
	var base git.OID
	for _, share := range a.decided {
		if from, ok := share.RenamedFrom(f.Path); ok && before == "" {
			before, base = from, a.changes[from].Old
		}
	}
	if before != "" {
		if a.before == nil {
			a.before = map[string]string{}
		}
		a.before[f.Path] = before
	}
	steps := a.steps.Of(f.Path, before)
	if base != "" { // git treats the file as new, with all of its lines
		steps = slices.Insert(steps, 0, tracking.AuthoredStep{Blob: base})
	}
	for i, s := range steps {
		steps[i].By = string(a.sharer(f.Path, attribution.Author(s.By)))
		steps[i].Unsure = steps[i].By != s.By
	}
	by, unproven := lastAuthor(steps, a.sharer(f.Path, a.author(ctx, f.Path)))
	switch {
	case f.Binary:
		for _, s := range steps {
			if s.Blob == f.New && by == attribution.Person {
				by = attribution.Author(s.By)
			}
		}
		if a.decidedSharer(f.Path, by) == attribution.Person {
			a.total.humanFiles++
		} else {
			a.total.agentFiles++
		}
	case f.Added+f.Removed == 0:
	case counted:
		a.estimate(f, steps, a.decidedSharer(f.Path, newest(steps, by)))
	default:
		file, ok := a.versions(ctx, f, steps)
		if !ok {
			a.estimate(f, steps, a.decidedSharer(f.Path, newest(steps, by)))
			return
		}
		file.By, file.Turn, file.Unproven = by, a.turnOf(by), unproven
		lines := a.ownOfMerge(ctx, f, file.Base, a.attributeShared(f.Path, file))
		a.found = append(a.found, authoredLines{names: a.namesOf(f.Path), diff: f, lines: lines, texts: splitLines(file.Final)})
	}
}

// lastAuthor returns the author of what no known state has: by, or if that is a person, the author of
// the last step if its content isn't known. Such lines are the author's only if a call wrote them.
func lastAuthor(steps []tracking.AuthoredStep, by attribution.Author) (author attribution.Author, unproven bool) {
	if n := len(steps); n > 0 && steps[n-1].Blob == tracking.UnknownBlob && by == attribution.Person {
		return attribution.Author(steps[n-1].By), steps[n-1].Unproven
	}
	return by, false
}

// isOurs reports whether a file is one that enabling writes, and is no session's share.
func (sh *shares) isOurs(path string) bool {
	return agent.IsOwnFile(path) && !slices.ContainsFunc(sh.decided, func(s tracking.Share) bool { return workspace.ContainsPath(s.Files, path) })
}

// newest returns the author of the last step.
func newest(steps []tracking.AuthoredStep, by attribution.Author) attribution.Author {
	if n := len(steps); n > 0 && by == attribution.Person {
		return attribution.Author(steps[n-1].By)
	}
	return by
}

// versions reads the states of a file. It returns false if they are too large.
func (a *attributing) versions(ctx context.Context, f git.FileDiff, steps []tracking.AuthoredStep) (attribution.File, bool) {
	info, err := os.Lstat(filepath.Join(a.w.Repo.Root, filepath.FromSlash(f.Path)))
	if err == nil && info.Size() > largestFile || a.room <= 0 {
		return attribution.File{}, false
	}
	file := attribution.File{Hunks: f.Hunks}
	var ok [2]bool
	file.Base, ok[0] = a.read(ctx, f.Old)
	file.Final, ok[1] = a.read(ctx, f.New)
	if !ok[0] || !ok[1] {
		return file, false
	}
	for i := range a.replaced {
		old := &a.replaced[i]
		name, now, errA := old.lookup(ctx, a, f.Path)
		before, _, errB := a.w.Lookup(ctx, old.parent.Tree, name)
		if errA != nil || errB != nil || now.OID == before.OID || now.Mode == git.ModeTree || now.Mode == git.ModeModule {
			continue
		}
		content, ok := a.read(ctx, now.OID)
		if !ok {
			continue
		}
		s := attribution.State{By: attribution.Person, Turn: old.turn(), Content: content}
		a.addKnown(&s, *old, name, before.OID == f.Old)
		if a.copied != nil {
			a.addCopied(f.Path, s)
		}
		file.States = append(file.States, s)
	}
	file.States = append(file.States, a.states(ctx, steps, f.New, file.Final)...)
	file.Earlier = a.earlier(ctx, cmp.Or(f.OldPath, f.Path), f.Old, steps, file)
	return file, true
}

// addCopied adds the lines of a copied commit's file that sessions wrote.
func (a *attributing) addCopied(path string, s attribution.State) {
	if a.copied[path] == nil {
		a.copied[path] = map[string]bool{}
	}
	texts := splitLines(s.Content)
	for line := range s.Known.Written {
		if line < len(texts) {
			a.copied[path][string(bytes.TrimSpace(texts[line]))] = true
		}
	}
}

// result returns the attribution in the form stored in a session's slot.
func (a *attributing) result(d tracking.Decision, id string) (json.RawMessage, error) {
	own := a.own[id]
	out := checkpoint.Attribution{
		CalculatedAt: d.Created, AgentLines: a.total.agentLines, HumanAdded: a.total.humanAdded,
		HumanModified: a.total.humanModified, HumanRemoved: a.total.humanRemoved,
		SessionLines: own.agentLines, UnknownLines: a.total.unknownLines, AgentRemoved: a.total.agentRemoved,
		AgentReplaced: a.total.agentReplaced, HumanReplaced: a.total.humanReplaced,
		AgentFiles: a.total.agentFiles, HumanFiles: a.total.humanFiles, Estimated: a.total.estimated,
	}
	out.TotalCommitted = out.AgentLines + out.HumanAdded + out.HumanModified + out.UnknownLines
	if out.TotalCommitted > 0 {
		const percent = 100
		out.AgentPercentage = float64(out.AgentLines) / float64(out.TotalCommitted) * percent
	}
	if a.total.tooMany {
		return out.Raw()
	}
	out.Files = slices.Clone(own.files)
	for i, f := range out.Files {
		out.Files[i].Path = session.Path(a.w.Redact.Path(string(f.Path)))
	}
	if w := a.writers.slots[id]; w != nil && len(out.Files) > 0 {
		out.Turns, out.Writers = w.turns, w.writers
	}
	return out.Bounded()
}
