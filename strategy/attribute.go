package strategy

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

const (
	// largestFile is the size of a file above which its lines are not followed.
	largestFile = 4 << 20
	// mostContent is how much is read of all files together.
	mostContent = 48 << 20
)

// attribute tells for each session of a commit who wrote its lines, and leaves
// that in the sessions. Without it a checkpoint is complete all the same: what
// goes wrong is logged.
func (r *Recorder) attribute(ctx context.Context, d Decision, head git.Commit, m made, todo []condensed) {
	m.lines.group.Wait()
	if m.lines.failed != nil {
		r.Log.WarnContext(ctx, "commit not attributed", "checkpoint", string(d.ID), "error", m.lines.failed.Error())
		return
	}
	a := &attributing{r: r, steps: pathSteps{}, replaced: r.replacedCommits(ctx, d, head), room: mostContent, own: map[string]tally{}}
	a.sessions, a.decided, a.others, a.changes = todo, d.Shares, m.lines.others, m.changes
	a.gather(ctx, head)
	for _, f := range m.lines.files {
		if m.has(f) {
			a.file(ctx, f, m.lines.counted)
		}
	}
	for i := range todo {
		raw, err := a.result(d, todo[i].state.ID)
		if err != nil {
			r.Log.WarnContext(ctx, "commit not attributed", "checkpoint", string(d.ID), "error", err.Error())
			return
		}
		todo[i].attribution = raw
	}
}

// has says whether the commit itself made the change: a merge has what its
// parents bring along too.
func (m made) has(f git.FileDiff) bool {
	c, ok := m.changes[f.Path]
	if !ok && f.OldPath != "" {
		_, ok = m.changes[f.OldPath]
	}
	return ok && c.NewMode != git.ModeModule && c.OldMode != git.ModeModule
}

// attributing is the attribution of one commit.
type attributing struct {
	r        *Recorder
	sessions []condensed
	decided  []Share
	changes  staged
	steps    pathSteps
	replaced []replacedCommit
	others   [][]git.FileDiff // of a merge: the diffs against its other parents
	base     git.Commit
	room     int
	total    tally
	own      map[string]tally
}

// gather reads the steps of all sessions here. A session that was at work in
// the commit's files without a step of them has what its shadow branch holds.
func (a *attributing) gather(ctx context.Context, head git.Commit) {
	if len(head.Parents) > 0 {
		if c, err := a.r.Repo.Commit(ctx, string(head.Parents[0])); err == nil {
			a.base = c
		}
	}
	seen := map[string]bool{}
	for _, c := range a.sessions {
		seen[c.state.ID] = true
		a.steps.addSession(c.state.ID, a.r.readSteps(ctx, c.state, c.notes))
	}
	for _, s := range a.r.pendingHere(ctx) {
		if !seen[s.ID] {
			a.steps.addSession(s.ID, a.r.readSteps(ctx, s, new(notes)))
		}
	}
	for _, c := range a.sessions {
		a.gatherRest(ctx, c)
	}
}

// gatherRest adds what is known of a session's files that no step tells.
func (a *attributing) gatherRest(ctx context.Context, c condensed) {
	var without []string
	for _, p := range c.files {
		if len(a.steps[p]) == 0 {
			without = append(without, p)
		}
	}
	if len(without) == 0 {
		return
	}
	if busy(c.state) {
		before := a.r.stepBefore(ctx, c.state, c.notes, stepTurn{touched: without, base: a.base})
		a.steps.addSession(c.state.ID, []step{before})
	}
	shadow, err := a.r.shadowTree(ctx, c.state)
	if err != nil {
		return
	}
	for _, p := range without {
		e, found, err := a.r.lookup(ctx, shadow, c.share.nameBefore(p))
		if was, _, failed := a.r.lookup(ctx, a.base.Tree, p); err == nil && failed == nil && found && e.OID != was.OID {
			a.steps[p] = append(a.steps[p], authoredStep{at: c.state.StartedAt, by: c.state.ID, blob: e.OID})
		}
	}
}

// author is who made of a path what the commit has, if no step tells: the agent
// in whose running turn it was changed, else a person.
func (a *attributing) author(path string) attribution.Author {
	for _, c := range a.sessions {
		if busy(c.state) && a.changedInTurn(c, path) {
			return attribution.Author(c.state.ID)
		}
	}
	return attribution.Person
}

// changedInTurn says whether the session's running turn changed a path: a tool
// named it, it changed while a tool ran, or the commit is the agent's own and
// it was taken up for that.
func (a *attributing) changedInTurn(c condensed, path string) bool {
	t := &turnChanges{repo: a.r.Repo, turn: c.state.Recorder.Turn, named: a.r.inWorktree(c.state.Recorder.Turn.Edits)}
	if t.named[path] {
		return true
	}
	for _, share := range a.decided {
		if share.Session == c.state.ID && among(share.Files, path) && !among(c.pending, path) {
			return true
		}
	}
	info, err := os.Lstat(filepath.Join(a.r.Repo.Root, filepath.FromSlash(path)))
	if err != nil {
		return t.during(removalTime(t.repo.Root, path))
	}
	return t.during(disk.Changed(info))
}

// file adds the lines of a file.
func (a *attributing) file(ctx context.Context, f git.FileDiff, counted bool) {
	steps := a.stepsOf(f)
	by := a.sharer(f.Path, a.author(f.Path))
	if n := len(steps); n > 0 && steps[n-1].blob == unknownBlob && by == attribution.Person {
		by = attribution.Author(steps[n-1].by)
	}
	switch {
	case f.Binary:
		for _, s := range steps {
			if s.blob == f.New && by == attribution.Person {
				by = attribution.Author(s.by)
			}
		}
		a.binary(a.decidedSharer(f.Path, by))
	case f.Added+f.Removed == 0:
	case counted:
		a.estimate(f, a.decidedSharer(f.Path, newest(steps, by)))
	default:
		file, ok := a.contents(ctx, f, steps)
		if !ok {
			a.estimate(f, a.decidedSharer(f.Path, newest(steps, by)))
			return
		}
		file.By = by
		a.lines(f.Path, a.ownOfMerge(ctx, f, file.Base, a.attributeShared(f.Path, file)))
	}
}

// newest is who made the last step.
func newest(steps []authoredStep, by attribution.Author) attribution.Author {
	if n := len(steps); n > 0 && by == attribution.Person {
		return attribution.Author(steps[n-1].by)
	}
	return by
}

// contents reads what a file was; false if that is too much.
func (a *attributing) contents(ctx context.Context, f git.FileDiff, steps []authoredStep) (attribution.File, bool) {
	info, err := os.Lstat(filepath.Join(a.r.Repo.Root, filepath.FromSlash(f.Path)))
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
	file.States = a.replacedStates(ctx, f)
	for _, s := range steps {
		content, ok := file.Final, s.blob != unknownBlob
		if ok && s.blob != f.New {
			content, ok = a.read(ctx, s.blob)
		}
		if ok {
			file.States = append(file.States, attribution.State{By: attribution.Author(s.by), Content: content, Raw: s.raw})
		}
	}
	return file, true
}

// read reads a blob, or no content for none.
func (a *attributing) read(ctx context.Context, blob git.OID) ([]byte, bool) {
	if blob == goneBlob {
		return nil, true
	}
	object, err := a.r.Repo.Read(ctx, string(blob))
	if err != nil || object.Type != "blob" {
		return nil, false
	}
	a.room -= len(object.Data)
	return object.Data, len(object.Data) <= largestFile
}

// result is the attribution as a session's slot holds it.
func (a *attributing) result(d Decision, id string) (json.RawMessage, error) {
	own := a.own[id]
	out := checkpoint.Attribution{
		CalculatedAt: d.Created, AgentLines: a.total.agentLines, HumanAdded: a.total.humanAdded,
		HumanModified: a.total.humanModified, HumanRemoved: a.total.humanRemoved,
		SessionLines: own.agentLines, AgentRemoved: a.total.agentRemoved,
		AgentReplaced: a.total.agentReplaced, HumanReplaced: a.total.humanReplaced,
		AgentFiles: a.total.agentFiles, HumanFiles: a.total.humanFiles, Estimated: a.total.estimated,
	}
	out.TotalCommitted = out.AgentLines + out.HumanAdded + out.HumanModified
	if out.TotalCommitted > 0 {
		const percent = 100
		out.AgentPercentage = float64(out.AgentLines) / float64(out.TotalCommitted) * percent
	}
	if a.total.tooMany {
		return out.Raw()
	}
	out.Files = slices.Clone(own.files)
	for i, f := range out.Files {
		out.Files[i].Path = session.Path(a.r.Redact.Path(string(f.Path)))
	}
	raw, err := out.Raw()
	if err == nil && len(raw) > mostRanges {
		out.Files = nil
		return out.Raw()
	}
	return raw, err
}
