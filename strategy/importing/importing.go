// Package importing reads sessions that agents kept before anything was recorded, writes them as
// checkpoints, and links them to the commits that they made.
//
// docs/formats/import.md defines what is written and what counts as evidence.
package importing

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/sessionfile"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Options select what is imported.
type Options struct {
	// Agents are the agents whose stores are searched, all if empty.
	Agents []agent.Agent
	// Since leaves out sessions that ended before it.
	Since time.Time
	// Session selects one session by its id.
	Session string
	// From are former places of the repository.
	From []string
	// Files are session files to import instead of those in the agents' stores.
	Files []string
	// DryRun leaves everything as it is.
	DryRun bool
	// Progress is called with the step, and with what is done of it. It may be called concurrently.
	Progress func(what string, done, total int64)
}

// The steps whose progress is in bytes.
const (
	Reading = "reading sessions"
	Storing = "storing sessions"
)

// State is what an import has done with a session.
type State string

// The states of sessions.
const (
	// Imported sessions were written, or would be.
	Imported State = "imported"
	// Known sessions were imported before and have not changed.
	Known State = "known"
	// Recorded sessions were recorded while they ran.
	Recorded State = "recorded"
	// Empty sessions have neither a request nor a change, or only copies of another session's.
	Empty State = "empty"
	// Forgotten sessions were removed on purpose, and are not imported again.
	Forgotten State = "forgotten"
)

// Session is a session that was found.
type Session struct {
	ID         string
	Agent      agent.Agent
	Path       string
	Start, End time.Time
	Turns      int
	State      State
	// Checkpoint has the part of the session that no commit has, "" if there is none.
	Checkpoint checkpoint.ID
	Commits    []git.OID
}

// Linked is a commit that was linked, or would be.
type Linked struct {
	Commit     git.Commit
	Checkpoint checkpoint.ID
	Sessions   []string
	Evidence   Evidence
	// Lines is the number of added lines that the sessions wrote.
	Lines int
	// Known reports that the commit was linked by an earlier import.
	Known bool
}

// Unlinked is a commit without a link although something points to a session.
type Unlinked struct {
	Commit git.OID
	Reason string
}

// Result is the result of an import.
type Result struct {
	Sessions []Session
	Commits  []Linked
	Unlinked []Unlinked
	Skipped  []sessionfile.Skipped
}

// Run imports the sessions of the workspace's repository. It can be repeated: what was imported before and
// has not changed is left as it is. A run that was stopped is continued by the next one.
func Run(ctx context.Context, w *workspace.Workspace, o Options) (Result, error) {
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if err := w.CheckTombstones(); err != nil {
		return Result{}, err
	}
	if err := w.LearnTombstonesHere(ctx); err != nil {
		return Result{}, err
	}
	im := importer{w: w, Options: o}
	if err := im.find(ctx); err != nil {
		return Result{}, err
	}
	if err := im.scanAll(ctx); err != nil {
		return Result{}, err
	}
	im.findCopies()
	if err := im.link(ctx); err != nil {
		return Result{}, err
	}
	if !o.DryRun {
		if err := im.write(ctx); err != nil {
			return Result{}, err
		}
		if err := im.rememberMessages(); err != nil {
			return Result{}, err
		}
	}
	return im.result(), nil
}

// importer is one import.
type importer struct {
	Options

	w     *workspace.Workspace
	roots []string // of the repository's worktrees and former places, the longest first
	files []sessionfile.File
	skips []sessionfile.Skipped
	// sessions are the sessions that have something, by their beginnings; states are those of all files.
	sessions []*past
	states   map[string]State
	turns    map[string]int
	// recorded are the sessions that were recorded while they ran.
	recorded map[string]bool
	register register
	links    []*link
	unlinked map[git.OID]string
	// plans are the checkpoints of each of sessions.
	plans []plan
}

// find finds the session files.
func (im *importer) find(ctx context.Context) error {
	worktrees := git.Worktrees(im.w.Repo)
	roots := make([]string, 0, 1+len(worktrees)+len(im.From))
	roots = append(roots, im.w.Repo.Root)
	for _, wt := range worktrees {
		roots = append(roots, wt.Root)
	}
	for _, dir := range im.From {
		roots = append(roots, filepath.Clean(dir))
	}
	for _, root := range roots {
		im.roots = append(im.roots, root, disk.Physical(root))
	}
	slices.SortFunc(im.roots, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	im.roots = slices.Compact(im.roots)
	if len(im.Files) > 0 {
		return im.open(ctx)
	}
	var err error
	im.files, im.skips, err = sessionfile.Find(ctx, sessionfile.Query{
		Getenv: im.w.Env.Getenv, Home: im.w.Env.Home, Roots: im.roots, Agents: im.Agents, Since: im.Since, Session: im.Session,
		Progress: func(done, total int) { im.Progress("session files", int64(done), int64(total)) },
	})
	return err
}

// open opens the session files that the user named.
func (im *importer) open(ctx context.Context) error {
	var only agent.Agent
	if len(im.Agents) == 1 {
		only = im.Agents[0]
	}
	for _, name := range im.Files {
		f, err := sessionfile.Open(ctx, name, only)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			im.skips = append(im.skips, sessionfile.Skipped{Path: name, Reason: strings.TrimPrefix(err.Error(), "read "+name+": ")})
			continue
		}
		if im.Session == "" || f.ID == im.Session {
			im.files = append(im.files, f)
		}
	}
	return nil
}

// scanAll reads the transcripts of all sessions.
func (im *importer) scanAll(ctx context.Context) error {
	var err error
	if im.recorded, err = recordedSessions(ctx, im.w); err != nil {
		return err
	}
	if im.register, err = readRegister(im.w); err != nil {
		return err
	}
	forgotten, err := forgottenSessions(ctx, im.w)
	if err != nil {
		return err
	}
	im.states, im.turns = map[string]State{}, map[string]int{}
	total, done := int64(0), int64(0)
	for _, f := range im.files {
		total += f.Size
	}
	found := make([]*past, len(im.files))
	var mu sync.Mutex
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range im.files {
		if forgotten(f.ID) {
			im.states[f.ID] = Forgotten
			continue
		}
		group.Go(func() error {
			p, err := scan(within, f)
			if within.Err() != nil {
				return within.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			done += f.Size
			im.Progress(Reading, done, total)
			if err != nil {
				im.skips = append(im.skips, sessionfile.Skipped{Path: f.Path, Reason: err.Error()})
				return nil
			}
			found[i] = p
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	byID := map[string]bool{}
	for _, p := range found {
		switch {
		case p == nil:
			continue
		case session.CheckID(p.ID) != nil:
			im.skips = append(im.skips, sessionfile.Skipped{Path: p.Path, Reason: "the session has no valid id"})
			continue
		case byID[p.ID]:
			im.skips = append(im.skips, sessionfile.Skipped{Path: p.Path, Reason: "another file has the session " + p.ID})
			continue
		}
		byID[p.ID] = true
		im.turns[p.ID] = len(p.turns)
		if len(p.turns)+len(p.calls)+len(p.shown) == 0 {
			im.states[p.ID] = Empty
			continue
		}
		p.root = rootOf(p.Dir, im.roots)
		im.sessions = append(im.sessions, p)
	}
	slices.SortFunc(im.sessions, func(a, b *past) int { return cmp.Or(a.first.Compare(b.first), strings.Compare(a.ID, b.ID)) })
	return nil
}

// rootOf returns the first root that a folder is in, "" if it is in none.
func rootOf(dir string, roots []string) string {
	for _, root := range roots {
		if dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/") {
			return root
		}
	}
	return ""
}

// recordedSessions returns the ids of the sessions that were recorded while they ran.
func recordedSessions(ctx context.Context, w *workspace.Workspace) (map[string]bool, error) {
	ids, err := checkpoint.LiveSessions(ctx, w.Repo)
	if err != nil {
		return nil, err
	}
	states, _ := w.Sessions.All() // an unreadable one counts as not recorded
	for _, s := range states {
		ids[transcript.SessionID(s.ID)] = true
	}
	return ids, nil
}

// forgottenSessions returns a function that reports whether a session was forgotten.
func forgottenSessions(ctx context.Context, w *workspace.Workspace) (func(id string) bool, error) {
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	if err != nil {
		return nil, err
	}
	return t.HasSession, ctx.Err()
}

// findCopies finds the sessions that begin with a copy of another session's history, as a session does that
// was forked or resumed into another file, by the ids of the messages. The first of several files with a
// message whose line doesn't name another session is that of the session that ended first.
func (im *importer) findCopies() {
	owner := map[uint64]*past{}
	order := slices.Clone(im.sessions)
	slices.SortStableFunc(order, func(a, b *past) int { return cmp.Or(a.last.Compare(b.last), strings.Compare(a.ID, b.ID)) })
	for _, marked := range []bool{false, true} {
		for _, p := range order {
			for _, m := range p.messages {
				if m.isMarked == marked && owner[m.id] == nil {
					owner[m.id] = p
				}
			}
		}
	}
	for _, p := range order {
		last := -1
		for _, m := range p.messages {
			if owner[m.id] != p && !m.isSub {
				last = max(last, m.line)
			}
		}
		if last < 0 {
			continue
		}
		p.own = p.lines
		if i := slices.IndexFunc(p.turns, func(t turn) bool { return t.line > last }); i >= 0 {
			p.own = p.turns[i].line
		}
		p.messages = slices.DeleteFunc(p.messages, func(m message) bool { return owner[m.id] != p })
	}
	im.sessions = slices.DeleteFunc(im.sessions, func(p *past) bool {
		if p.own >= p.lines && p.lines > 0 {
			im.states[p.ID] = Empty
			return true
		}
		return false
	})
}

// link links the sessions to commits.
func (im *importer) link(ctx context.Context) error {
	im.unlinked = map[git.OID]string{}
	if len(im.sessions) == 0 {
		return nil
	}
	im.Progress("reading the history", 0, 0)
	since := im.sessions[0].first
	h, err := readHistory(ctx, im.w, since)
	if err != nil {
		return err
	}
	at := &places{ctx: ctx, repo: im.w.Repo, roots: im.roots, known: map[string]bool{}}
	if head, found, err := im.w.Head(ctx); err == nil && found {
		at.tree = head.Tree
	}
	m := newMatcher(im.w, h, im.sessions, at)
	if err := m.findLost(ctx); err != nil {
		return err
	}
	err = m.all(ctx, func(done, total int64) { im.Progress("comparing commits", done, total) }, func(l *link) error {
		im.links = append(im.links, l)
		return nil
	})
	if err != nil {
		return err
	}
	im.unlinked = m.unlinked
	for oid, by := range m.shown {
		if reason := h.closed[oid]; reason != "" && reason != alreadyLinked && len(by) > 0 {
			im.unlinked[oid] = reason
		}
	}
	im.plan()
	return nil
}

// result returns the result for the caller.
func (im *importer) result() Result {
	r := Result{Skipped: im.skips}
	slices.SortFunc(r.Skipped, func(a, b sessionfile.Skipped) int { return strings.Compare(a.Path, b.Path) })
	commits := map[string][]git.OID{}
	for _, l := range im.links {
		one := Linked{Commit: l.commit, Checkpoint: commitID(l.commit.OID), Evidence: l.evidence, Lines: l.lines, Known: checkpoint.IsImported(l.commit)}
		for _, i := range l.order() {
			id := im.sessions[i].ID
			one.Sessions = append(one.Sessions, id)
			commits[id] = append(commits[id], l.commit.OID)
		}
		r.Commits = append(r.Commits, one)
	}
	for oid, reason := range im.unlinked {
		r.Unlinked = append(r.Unlinked, Unlinked{oid, reason})
	}
	slices.SortFunc(r.Unlinked, func(a, b Unlinked) int { return strings.Compare(string(a.Commit), string(b.Commit)) })
	listed := map[string]bool{}
	for i, p := range im.sessions {
		s := Session{
			ID: p.ID, Agent: p.Agent, Path: p.Path, Start: p.first, End: p.last, Turns: len(p.turns), State: im.states[p.ID], Commits: commits[p.ID],
		}
		if im.plans != nil && im.plans[i].rest {
			s.Checkpoint = sessionID(p.ID)
		}
		listed[p.ID] = true
		r.Sessions = append(r.Sessions, s)
	}
	for _, f := range im.files {
		if state, known := im.states[f.ID]; known && !listed[f.ID] {
			listed[f.ID] = true
			r.Sessions = append(r.Sessions, Session{ID: f.ID, Agent: f.Agent, Path: f.Path, Start: f.Start, End: f.End, Turns: im.turns[f.ID], State: state})
		}
	}
	return r
}

// errChanged means that a session file had fewer lines when it was read again.
var errChanged = errors.New("the file was changed while it was read: import it again")
