package tracking

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// TakeNowFiles is the maximum number of changed files that a stop reads itself. If more
	// have changed, a child takes the snapshot.
	TakeNowFiles = 2000
	// TakeNowBytes is the maximum of their bytes.
	TakeNowBytes = 32 << 20
	// quickWalk is the duration of the last walk below which a commit's hook takes the
	// snapshot itself.
	quickWalk = 3 * time.Millisecond
	// HookWait is how long a hook waits for a lock that a child may hold.
	HookWait = 2 * time.Millisecond
)

// TakeSnapshot takes a snapshot under the store's lock and records how long the walk took, so that the
// next commit can decide which process takes its snapshot.
func TakeSnapshot(ctx context.Context, w *workspace.Workspace, held *bands.Held, o capture.TakeOptions) (capture.Taken, error) {
	o.Options = TreeOptions(w)
	if w.Repo.RefStorage == "files" { // no git process is started for a snapshot
		if head, err := w.Repo.ResolveRef("HEAD"); err == nil && o.Causality.Commit == "" {
			o.Causality.Commit = string(head)
		}
		if branch, err := git.HeadBranch(ctx, w.Repo); err == nil && o.Causality.Branch == "" {
			o.Causality.Branch = branch
		}
	}
	taken, err := capture.Take(ctx, held, o)
	if err != nil {
		return taken, err
	}
	if err := disk.WriteCache(walkPath(w), strconv.AppendInt(nil, walkTime(taken).Microseconds(), 10), 0o600); err != nil {
		w.Log.DebugContext(ctx, "duration of the walk not recorded", "error", err.Error())
	}
	if !taken.Unchanged {
		w.Log.InfoContext(ctx, "snapshot", "version", taken.Snapshot.Version.String(), "cause", string(o.Cause), "changes", taken.Changes)
	}
	return taken, nil
}

// walkTime returns how long the walk took, limited by its number of entries: a longer walk of
// a small tree waited for the processor or the disk, and must not make later hooks treat the
// worktree as a large one.
func walkTime(taken capture.Taken) time.Duration {
	const mostPerEntry = 50 * time.Microsecond
	return min(taken.Walk, time.Duration(taken.Entries)*mostPerEntry)
}

// TakeFirstSnapshot takes the first snapshot of this worktree and reports its progress.
func TakeFirstSnapshot(ctx context.Context, w *workspace.Workspace, store *bands.Store, progress func(bands.Progress)) (capture.Taken, error) {
	held, err := HoldStore(ctx, store, HoldWait)
	if err != nil {
		return capture.Taken{}, err
	}
	taken, err := TakeSnapshot(ctx, w, held, capture.TakeOptions{
		Cause: bands.Auto, Message: "enabled", SkipUnchanged: true, Progress: progress,
	})
	return taken, errors.Join(err, held.Release())
}

// TreeOptions returns the capture options of this worktree. If the list of forgotten files
// can't be read, they refuse every snapshot, including that of a restore, as it could contain
// them again.
func TreeOptions(w *workspace.Workspace) bands.Options {
	b := w.Options.Bands
	forgotten, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	var others []string // the repository's other worktrees
	for _, wt := range git.Worktrees(w.Repo) {
		if wt.ID != w.Repo.WorktreeID {
			others = append(others, wt.Root)
		}
	}
	return bands.Options{
		Refuse: err,
		Root:   w.Repo.Root, Lineage: Lineage(w), Cap: b.Cap, Floor: b.Floor, Exclude: b.Exclude, Forgotten: forgotten.FilePaths(),
		Hidden: []string{".git", ".entire"}, Worktrees: others,
		Ignored: func(ctx context.Context, paths []string) ([]string, error) {
			return git.IgnoredPaths(ctx, w.Repo, paths)
		},
		Now: w.Env.Now, Home: w.Env.Home,
	}
}

// Causality returns the cause of a snapshot of the session's turn.
func Causality(w *workspace.Workspace, s *session.State, in workspace.Input) bands.Causality {
	c := bands.Causality{
		Agent: agent.Of(s.AgentType).Name, Session: s.ID, Turn: s.TurnID, TranscriptPath: s.TranscriptPath, Prompt: s.FirstPrompt,
	}
	if n := len(s.Recorder.Turn.Prompts); n > 0 {
		c.Prompt = checkpoint.FirstPrompt(s.Recorder.Turn.Prompts[n-1])
	} else if in.Prompt != "" {
		c.Prompt = w.FirstPrompt(in.Prompt)
	}
	if info, err := os.Stat(s.TranscriptPath); err == nil {
		c.TranscriptBytes = info.Size()
	}
	return c
}

func walkPath(w *workspace.Workspace) string { return filepath.Join(StoreDir(w), "walk-"+Lineage(w)) }

// LastWalk returns how long the last walk of this worktree took, false if that isn't
// recorded.
func LastWalk(w *workspace.Workspace) (time.Duration, bool) {
	data, err := disk.ReadFile(walkPath(w))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(data), 10, 64)
	return time.Duration(n) * time.Microsecond, err == nil
}
