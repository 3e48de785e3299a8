package strategy

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
)

// BandOptions are the settings of snapshots.
type BandOptions struct {
	Enabled bool
	Exclude []string
	// Cap and Floor are bytes, 0 for the default of the file system.
	Cap, Floor int64
}

const (
	// takeNow bounds what a stop reads while somebody waits; a child takes what
	// is more.
	takeNowFiles = 2000
	takeNowBytes = 32 << 20
	// quickWalk is the time of the last walk below which a commit's snapshot is
	// taken in its hook.
	quickWalk = 3 * time.Millisecond
	// shortWait is how long a hook waits for a lock that a child may hold.
	shortWait = 2 * time.Millisecond
)

// errNoBands means that there is no store to take a snapshot into.
var errNoBands = errors.New("no snapshots here")

// StoreDir is the folder of the repository's snapshots.
func (r *Recorder) StoreDir() string { return bands.RepositoryDir(r.Repo.CommonDir) }

// Lineage names this worktree in the store.
func (r *Recorder) Lineage() string { return checkpoint.WorktreeHash(r.Repo.WorktreeID) }

// snapshots opens the repository's store: errNoBands where the settings or the
// user want none.
func (r *Recorder) snapshots() (*bands.Store, error) {
	if !r.Options.Bands.Enabled {
		return nil, errNoBands
	}
	store, err := bands.Open(r.StoreDir())
	if errors.Is(err, bands.ErrNoStore) {
		return nil, errNoBands
	}
	return store, err
}

// TreeOptions say how this worktree is captured.
func (r *Recorder) TreeOptions() bands.Options {
	b := r.Options.Bands
	return bands.Options{
		Root: r.Repo.Root, Lineage: r.Lineage(), Cap: b.Cap, Floor: b.Floor, Exclude: b.Exclude,
		Hidden: []string{".git", ".entire"}, Worktrees: r.otherWorktrees(),
		Ignored: r.Repo.Ignored, Now: r.Env.Now, Home: r.Env.Home,
	}
}

// otherWorktrees are the roots of the repository's worktrees but this one.
func (r *Recorder) otherWorktrees() []string {
	var roots []string
	for _, w := range r.Repo.Worktrees() {
		if w.ID != r.Repo.WorktreeID {
			roots = append(roots, w.Root)
		}
	}
	return roots
}

// take takes a snapshot under the store's lock. The time of the walk is kept for
// the next commit.
func (r *Recorder) take(ctx context.Context, held *bands.Held, o bands.TakeOptions) (bands.Taken, error) {
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

// causality tells who is behind a snapshot of the session's turn.
func (r *Recorder) causality(s *session.State, in Input) bands.Causality {
	c := bands.Causality{
		Agent: agentName, Session: s.ID, Turn: s.TurnID, TranscriptPath: s.TranscriptPath, Prompt: s.FirstPrompt,
	}
	if n := len(s.Recorder.Turn.Prompts); n > 0 {
		c.Prompt = checkpoint.FirstPrompt(s.Recorder.Turn.Prompts[n-1])
	} else if in.Prompt != "" {
		c.Prompt = r.firstPrompt(in.Prompt)
	}
	if info, err := os.Stat(s.TranscriptPath); err == nil {
		c.TranscriptBytes = info.Size()
	}
	return c
}

// agentName is how the agent is named in causality and on command lines.
const agentName = "claude-code"

func (r *Recorder) walkPath() string { return filepath.Join(r.StoreDir(), "walk-"+r.Lineage()) }

func (r *Recorder) noteWalk(took time.Duration) error {
	return disk.WriteCache(r.walkPath(), strconv.AppendInt(nil, took.Microseconds(), 10), 0o600)
}

// walkTime is what the last walk of this worktree took, false if that isn't
// known.
func (r *Recorder) walkTime() (time.Duration, bool) {
	data, err := os.ReadFile(r.walkPath())
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(data), 10, 64)
	return time.Duration(n) * time.Microsecond, err == nil
}

// MakeStore opens the repository's store, which it makes and names if it isn't
// there.
func (r *Recorder) MakeStore(ctx context.Context) (*bands.Store, error) {
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
	holdWait   = 10 * time.Second
	rewindWait = 500 * time.Millisecond
)

// hold takes the store's lock, or says within the time given that somebody else
// has it.
func hold(ctx context.Context, store *bands.Store, wait time.Duration) (*bands.Held, error) {
	soon, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return store.Hold(soon)
}

// TakeFirst takes the first snapshot of this worktree, which somebody watches.
func (r *Recorder) TakeFirst(ctx context.Context, store *bands.Store, tick func(done, total int64)) (bands.Taken, error) {
	held, err := hold(ctx, store, holdWait)
	if err != nil {
		return bands.Taken{}, err
	}
	taken, err := r.take(ctx, held, bands.TakeOptions{
		Cause: bands.Auto, Message: "enabled", SkipUnchanged: true, Progress: tick,
	})
	return taken, errors.Join(err, held.Release())
}
