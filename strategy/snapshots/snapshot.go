package snapshots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// takeNow bounds what a stop reads while somebody waits; a child takes what
	// is more.
	TakeNowFiles = 2000
	TakeNowBytes = 32 << 20
	// quickWalk is the time of the last walk below which a commit's snapshot is
	// taken in its hook.
	quickWalk = 3 * time.Millisecond
	// HookWait is how long a hook waits for a lock that a child may hold.
	HookWait = 2 * time.Millisecond
)

// ErrNoBands means that there is no store to take a snapshot into.
var ErrNoBands = errors.New("no snapshots here")

// StoreDir is the folder of the repository's snapshots.
func (r *Snapshots) StoreDir() string { return bands.RepositoryDir(r.Repo.CommonDir) }

// Lineage names this worktree in the store.
func (r *Snapshots) Lineage() string { return checkpoint.WorktreeHash(r.Repo.WorktreeID) }

// Store opens the repository's store: errNoBands where the settings or the
// user want none.
func (r *Snapshots) Store() (*bands.Store, error) {
	if !r.Options.Bands.Enabled {
		return nil, ErrNoBands
	}
	store, err := bands.Open(r.StoreDir())
	if errors.Is(err, bands.ErrNoStore) {
		return nil, ErrNoBands
	}
	return store, err
}

// TreeOptions say how this worktree is captured.
func (r *Snapshots) TreeOptions() bands.Options {
	b := r.Options.Bands
	return bands.Options{
		Root: r.Repo.Root, Lineage: r.Lineage(), Cap: b.Cap, Floor: b.Floor, Exclude: b.Exclude,
		Hidden: []string{".git", ".entire"}, Worktrees: r.otherWorktrees(),
		Ignored: r.Repo.Ignored, Now: r.Env.Now, Home: r.Env.Home,
	}
}

// otherWorktrees are the roots of the repository's worktrees but this one.
func (r *Snapshots) otherWorktrees() []string {
	var roots []string
	for _, w := range r.Repo.Worktrees() {
		if w.ID != r.Repo.WorktreeID {
			roots = append(roots, w.Root)
		}
	}
	return roots
}

// Take takes a snapshot under the store's lock. The time of the walk is kept for
// the next commit.
func (r *Snapshots) Take(ctx context.Context, held *bands.Held, o bands.TakeOptions) (bands.Taken, error) {
	o.Options = r.TreeOptions()
	taken, err := held.Take(ctx, o)
	if err != nil {
		return taken, fmt.Errorf("take snapshot: %w", err)
	}
	if err := r.noteWalk(taken.Walk); err != nil {
		r.Log.DebugContext(ctx, "time of the walk not kept", "error", err.Error())
	}
	if !taken.Unchanged {
		r.Log.InfoContext(ctx, "snapshot", "version", taken.Snapshot.Version.String(), "cause", string(o.Cause), "changes", taken.Changes)
	}
	return taken, nil
}

// Causality tells who is behind a snapshot of the session's turn.
func (r *Snapshots) Causality(s *session.State, in workspace.Input) bands.Causality {
	c := bands.Causality{
		Agent: workspace.AgentName, Session: s.ID, Turn: s.TurnID, TranscriptPath: s.TranscriptPath, Prompt: s.FirstPrompt,
	}
	if n := len(s.Recorder.Turn.Prompts); n > 0 {
		c.Prompt = checkpoint.FirstPrompt(s.Recorder.Turn.Prompts[n-1])
	} else if in.Prompt != "" {
		c.Prompt = r.FirstPrompt(in.Prompt)
	}
	if info, err := os.Stat(s.TranscriptPath); err == nil {
		c.TranscriptBytes = info.Size()
	}
	return c
}

func (r *Snapshots) walkPath() string { return filepath.Join(r.StoreDir(), "walk-"+r.Lineage()) }

func (r *Snapshots) noteWalk(took time.Duration) error {
	return disk.WriteCache(r.walkPath(), strconv.AppendInt(nil, took.Microseconds(), 10), 0o600)
}

// WalkTime is what the last walk of this worktree took, false if that isn't
// known.
func (r *Snapshots) WalkTime() (time.Duration, bool) {
	data, err := os.ReadFile(r.walkPath())
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(data), 10, 64)
	return time.Duration(n) * time.Microsecond, err == nil
}

// MakeStore opens the repository's store, which it makes and names if it isn't
// there.
func (r *Snapshots) MakeStore(ctx context.Context) (*bands.Store, error) {
	store, err := bands.Open(r.StoreDir())
	if !errors.Is(err, bands.ErrNoStore) {
		return store, err
	}
	root := r.Repo.MainRoot()
	if root == "" {
		root = r.Repo.Root
	}
	if r.Env.Registry == nil {
		return bands.Create(r.StoreDir())
	}
	if _, err := r.Env.Registry.RepositoryStore(ctx, r.Repo.CommonDir, root); err != nil {
		return nil, err
	}
	return bands.Open(r.StoreDir())
}

// How long a command waits for the store: a rewind doesn't wait for another one,
// which it would undo at once.
const (
	HoldWait   = 10 * time.Second
	RewindWait = 500 * time.Millisecond
)

// Hold takes the store's lock, or says within the time given that somebody else
// has it.
func Hold(ctx context.Context, store *bands.Store, wait time.Duration) (*bands.Held, error) {
	soon, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return store.Hold(soon)
}

// TakeFirst takes the first snapshot of this worktree, which somebody watches.
func (r *Snapshots) TakeFirst(ctx context.Context, store *bands.Store, tick func(done, total int64)) (bands.Taken, error) {
	held, err := Hold(ctx, store, HoldWait)
	if err != nil {
		return bands.Taken{}, err
	}
	taken, err := r.Take(ctx, held, bands.TakeOptions{
		Cause: bands.Auto, Message: "enabled", SkipUnchanged: true, Progress: tick,
	})
	return taken, errors.Join(err, held.Release())
}
