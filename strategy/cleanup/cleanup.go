// Package cleanup removes orphaned items from a repository's records, and resets sessions'
// uncommitted work. It decides which items are orphaned; items in doubt are kept.
// docs/formats/clean.md describes the rules.
//
// Finding writes nothing. Removal holds the repository's lock, and is limited to items that
// are still found then.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Kind is the kind of an orphaned item.
type Kind string

// The kinds, in the order in which they are found.
const (
	// Shadow is a shadow branch.
	Shadow Kind = "shadow-branch"
	// Rescue is a ref that keeps the commits left by a rewind or a reset.
	Rescue Kind = "rescue-ref"
	// State is a session's state.
	State Kind = "session-state"
	// Checkpoint is a checkpoint of the auto-commit strategy.
	Checkpoint Kind = "checkpoint"
	// Transcript is a copy of a transcript that a rewind replaced.
	Transcript Kind = "transcript-copy"
	// Leftover is a damaged file, a temporary file, or a file of a removed session.
	Leftover Kind = "leftover-file"
)

// The ages up to which items are kept.
const (
	// endedAge is for states of sessions that ended, quietAge for those that
	// never reported it.
	endedAge = 7 * 24 * time.Hour
	quietAge = 30 * 24 * time.Hour
	// copyAge is for copies: transcripts, damaged files, rescues without a
	// snapshot.
	copyAge = 30 * 24 * time.Hour
	// deadAge is for records of sessions on this machine whose agents exited without an end.
	deadAge = 24 * time.Hour
	// writeAge is the age above which no hook is still writing a file.
	writeAge = time.Hour
)

// Item is an orphaned item, and why it is orphaned.
type Item struct {
	Kind Kind
	// Name is a ref without refs/heads/, an id, or a file's path.
	Name string
	Why  string

	oid git.OID // of a ref, or of a checkpoint's tree
}

// Cleaner finds and removes orphaned items in a repository.
type Cleaner struct {
	// Progress is called with the number of processed items, unless it is nil.
	Progress func(done, total int64)

	w *workspace.Workspace
}

// New returns a cleaner for the workspace's repository, all its worktrees included.
func New(w *workspace.Workspace) Cleaner { return Cleaner{w: w} }

// Find returns the orphaned items. It writes nothing.
func (c Cleaner) Find(ctx context.Context) ([]Item, error) {
	var items, stored []Item
	var both errgroup.Group // git reads history in a process of its own
	both.Go(func() (err error) {
		items, err = c.findLocal(ctx)
		return err
	})
	both.Go(func() (err error) {
		stored, err = c.checkpoints(ctx)
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(items, stored), nil
}

// findLocal returns the orphaned items other than checkpoints, which only this clone has.
func (c Cleaner) findLocal(ctx context.Context) ([]Item, error) {
	v := &view{w: c.w, now: c.w.Env.Now()}
	var failed []error
	v.states, failed = c.w.Sessions.All()
	v.unread = len(failed)
	var err error
	if v.refs, err = git.ListRefs(ctx, c.w.Repo, workspace.Refs(workspace.Own)...); err != nil {
		return nil, err
	}
	if v.heads, err = heads(ctx, c.w.Repo); err != nil {
		return nil, err
	}
	items, err := v.shadows(ctx)
	if err != nil {
		return nil, err
	}
	rescues, err := v.rescues(ctx)
	if err != nil {
		return nil, err
	}
	items = append(items, rescues...)
	// The last session of each worktree is kept, to be resumed.
	last := map[string]*session.State{}
	for _, s := range v.states {
		if l := last[s.WorktreePath]; l == nil || heardOf(s).After(heardOf(l)) {
			last[s.WorktreePath] = s
		}
	}
	isKept := func(s *session.State) bool { // its shadow branch exists and is kept
		return slices.ContainsFunc(v.refs, func(ref git.Ref) bool {
			base, worktree, ok := checkpoint.ParseShadow(ref.Name)
			isOwn := ok && hangsOn(base, git.OID(s.BaseCommit)) && (worktree == "" || worktree == checkpoint.WorktreeHash(s.WorktreeID))
			return isOwn && !slices.ContainsFunc(items, func(i Item) bool { return i.Kind == Shadow && fullName(i.Name) == ref.Name })
		})
	}
	var states []Item
	for _, s := range v.states {
		why, over := v.over(s)
		if over && last[s.WorktreePath] != s && !isKept(s) {
			states = append(states, Item{Kind: State, Name: s.ID, Why: why})
		}
	}
	items = append(items, states...)
	files, err := c.files(v)
	return append(items, files...), err
}

// Removal is the result of removing items.
type Removal struct {
	Removed []Item
	// Kept are no longer orphaned: they are in use now.
	Kept []Item
	// Failed are those that could not be removed; the errors have the reasons.
	Failed []Item
}

// Remove deletes those of the items that are still orphaned when it holds the repository's
// lock. If an item can't be deleted it continues with the others; the error joins all
// failures.
func (c Cleaner) Remove(ctx context.Context, items []Item) (Removal, error) {
	var done Removal
	err := c.w.WithLock(ctx, func() error {
		fresh := New(c.anew())
		now, err := fresh.findLocal(ctx)
		if err != nil {
			return err
		}
		var stored []Item
		var failed []error
		for i, item := range items {
			if c.Progress != nil {
				c.Progress(int64(i), int64(len(items)))
			}
			if item.Kind == Checkpoint {
				stored = append(stored, item)
				continue
			}
			at := slices.IndexFunc(now, func(i Item) bool { return i.Kind == item.Kind && i.Name == item.Name })
			if at < 0 {
				done.Kept = append(done.Kept, item)
				continue
			}
			if err := fresh.remove(ctx, now[at]); err != nil {
				done.Failed = append(done.Failed, item)
				failed = append(failed, fmt.Errorf("%s: %w", item.Name, err))
				continue
			}
			done.Removed = append(done.Removed, item)
		}
		failed = append(failed, fresh.removeCheckpoints(ctx, stored, &done))
		return errors.Join(failed...)
	})
	return done, err
}

// anew returns the workspace without its cached session states.
func (c Cleaner) anew() *workspace.Workspace {
	fresh := c.w.At(c.w.Repo)
	fresh.Sessions = session.Open(fresh.Repo.CommonDir)
	return fresh
}

func (c Cleaner) remove(ctx context.Context, item Item) error {
	switch item.Kind {
	case Shadow, Rescue:
		return git.UpdateRefs(ctx, c.w.Repo, "entire: clean", []git.RefChange{{Name: fullName(item.Name), Old: item.oid}})
	case State:
		return c.w.Sessions.Remove(item.Name)
	case Transcript, Leftover:
		return disk.Remove(item.Name)
	case Checkpoint:
	}
	return fmt.Errorf("%s can't be removed here", item.Kind)
}

func shortName(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

func fullName(name string) string {
	if strings.HasPrefix(name, "refs/") {
		return name
	}
	return "refs/heads/" + name
}

// view is the state of a repository at one moment.
type view struct {
	w      *workspace.Workspace
	now    time.Time
	states []*session.State
	// unread is the number of states that can't be read: their needs are unknown.
	unread int
	refs   []git.Ref
	heads  []head
}

// head is the commit at a worktree's HEAD, empty on an unborn branch.
type head struct {
	worktree string // its hash
	commit   git.OID
}

// heads returns HEAD of every worktree that git lists.
func heads(ctx context.Context, repo *git.Repo) ([]head, error) {
	specs := map[string]string{"": "main-worktree/HEAD", repo.WorktreeID: "HEAD"}
	linked, err := os.ReadDir(filepath.Join(repo.CommonDir, "worktrees"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range linked {
		if e.Name() != repo.WorktreeID {
			specs[e.Name()] = "worktrees/" + e.Name() + "/HEAD"
		}
	}
	var list []head
	for id, spec := range specs {
		at, err := repo.Commit(ctx, spec)
		if err != nil && !errors.Is(err, git.ErrMissing) {
			return nil, fmt.Errorf("read %s: %w", spec, err)
		}
		list = append(list, head{checkpoint.WorktreeHash(id), at.OID})
	}
	return list, nil
}

// files lists the copies and leftover files that have reached their age limit.
func (c Cleaner) files(v *view) ([]Item, error) {
	dirs := []remains{
		{workspace.TranscriptCopies(c.w.Repo), copyAge, Transcript, "older than 30 days", func(name string) bool { return strings.HasSuffix(name, ".jsonl") }},
		{c.w.Sessions.Dir(), copyAge, Leftover, "damaged, moved aside more than 30 days ago", isAside},
		{c.w.Sessions.SideDir(), copyAge, Leftover, "of a session forgotten more than 30 days ago", v.isForgotten},
		{workspace.JournalDir(c.w.Repo), copyAge, Leftover, "damaged, moved aside more than 30 days ago", isAside},
	}
	if m := c.w.Env.Machine; m != nil {
		isKnown := func(known bool) func(string) bool {
			return func(name string) bool {
				id, isRecord := strings.CutSuffix(name, ".json")
				r, err := m.Load(id)
				return isRecord && err == nil && (r.Agent.PID != 0) == known && !c.w.Env.Alive(r.Agent.PID, r.Agent.Start)
			}
		}
		dirs = append(dirs,
			remains{m.Dir(), deadAge, Leftover, "of a session whose agent is not running", isKnown(true)},
			remains{m.Dir(), quietAge, Leftover, "of a session without an event for 30 days", isKnown(false)})
	}
	if v.unread == 0 {
		dirs = append(dirs, remains{c.w.Sessions.SideDir(), writeAge, Leftover, "its session no longer exists", v.stateless})
		dirs = append(dirs, c.handedOver(v)...)
	}
	dirs = append(dirs, c.goneWorktrees()...)
	var items []Item
	for _, d := range dirs {
		entries, err := os.ReadDir(d.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !d.is(e.Name()) {
				continue
			}
			if info, err := e.Info(); err == nil && v.now.Sub(info.ModTime()) > d.age {
				items = append(items, Item{Kind: d.kind, Name: filepath.Join(d.dir, e.Name()), Why: d.why})
			}
		}
	}
	temporary, err := record.TempFiles(c.w)
	if err != nil {
		return nil, err
	}
	for _, path := range temporary {
		items = append(items, Item{Kind: Leftover, Name: path, Why: "left by a process that was killed"})
	}
	return items, nil
}

// goneWorktrees returns the folders of logs and the like that are in the git directory for worktrees
// which no longer exist.
func (c Cleaner) goneWorktrees() []remains {
	worktrees := git.Worktrees(c.w.Repo)
	known := make([]string, 0, len(worktrees))
	for _, w := range worktrees {
		known = append(known, settings.GitFolder(c.w.Repo.CommonDir, checkpoint.WorktreeHash(w.ID)).Path())
	}
	var dirs []remains
	for _, dir := range disk.Glob(filepath.Join(c.w.RecordsDir(), "worktree"), "*") {
		if slices.Contains(known, dir) {
			continue
		}
		for _, name := range []string{"logs", "tmp"} {
			dirs = append(dirs, remains{filepath.Join(dir, name), copyAge, Leftover, "its worktree no longer exists", func(string) bool { return true }})
		}
	}
	return dirs
}

// handedOver returns the folders of transcripts that were written from data handed over by
// agents, and their subfolders for subagents.
func (c Cleaner) handedOver(v *view) []remains {
	const why = "its session ended more than 30 days ago"
	var dirs []remains
	for _, a := range agent.All() {
		if !a.HandsOver() {
			continue
		}
		dir := filepath.Join(c.w.RecordsDir(), a.Name)
		isGone := func(name string) bool {
			id, _, _ := strings.Cut(name, ".")
			return v.stateless(id + ".jsonl")
		}
		dirs = append(dirs, remains{dir, copyAge, Leftover, why, func(name string) bool { return name != "lock" && isGone(name) }})
		entries, _ := os.ReadDir(dir) // without it there are none
		for _, e := range entries {
			if e.IsDir() && isGone(e.Name()) {
				dirs = append(dirs, remains{filepath.Join(dir, e.Name(), "subagents"), copyAge, Leftover, why, func(string) bool { return true }})
			}
		}
	}
	return dirs
}

// remains selects the files of one folder that may be removed, by name and age.
type remains struct {
	dir  string
	age  time.Duration
	kind Kind
	why  string
	is   func(name string) bool
}

func isAside(name string) bool { return strings.HasSuffix(name, ".corrupt") }

func isForgotten(name string) bool { return strings.HasSuffix(name, "."+session.ForgottenKind) }

// isForgotten reports whether a side file is the note of a forgotten session that hasn't
// continued since.
func (v *view) isForgotten(name string) bool {
	id := strings.TrimSuffix(name, "."+session.ForgottenKind)
	return isForgotten(name) && !slices.ContainsFunc(v.states, func(s *session.State) bool { return s.ID == id })
}

// stateless reports whether a side file belongs to no known session.
func (v *view) stateless(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || session.CheckID(name[:dot]) != nil || strings.Contains(name, ".entire-tmp-") || isForgotten(name) {
		return false
	}
	return !slices.ContainsFunc(v.states, func(s *session.State) bool { return s.ID == name[:dot] })
}
