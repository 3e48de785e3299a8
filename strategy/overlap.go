package strategy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// staged is what a commit changes, by path.
type staged map[string]git.Change

func byPath(changes []git.Change) staged {
	m := make(staged, len(changes))
	for _, c := range changes {
		m[c.Path] = c
	}
	return m
}

// agentSession is the session whose agent makes this commit, if one does: the
// agent's mark is in the environment, and the session it names is at work, or
// left tasks running. An editor or a shell that the agent once started has the
// mark too, which is why the session must be known and busy, or have its turn
// committed.
func (r *Recorder) agentSession(here []*session.State) (*session.State, bool) {
	if r.Env.Getenv("CLAUDECODE") != "1" {
		return nil, false
	}
	if id := r.Env.Getenv("CLAUDE_CODE_SESSION_ID"); id != "" {
		for _, s := range here {
			if s.ID == id {
				return s, r.inTurn(s)
			}
		}
		s, err := r.Sessions.Load(id)
		return s, err == nil && r.inTurn(s)
	}
	var active []*session.State
	for _, s := range here {
		if s.Phase == session.Active {
			active = append(active, s)
		}
	}
	if len(active) != 1 {
		return nil, false
	}
	return active[0], true
}

// newestFirst returns the sessions in the order in which they were active, the
// last one first.
func newestFirst(states []*session.State) []*session.State {
	sorted := slices.Clone(states)
	slices.SortStableFunc(sorted, func(a, b *session.State) int { return lastActive(b).Compare(lastActive(a)) })
	return sorted
}

// inTurn reports whether a commit by the session's agent belongs to its turn: one
// is under way, even if its prompt could not be noted in the state, or is being
// committed.
func (r *Recorder) inTurn(s *session.State) bool {
	if busy(s) || r.commitsTurnOf(s) {
		return true
	}
	r.beginLate(s)
	_, prompted := r.promptTime(s.ID)
	return prompted
}

func busy(s *session.State) bool { return s.Phase == session.Active || s.Recorder.Background }

// shares decides which sessions a commit belongs to and what each has in it.
func (r *Recorder) shares(ctx context.Context, here []*session.State, changes staged) ([]Share, error) {
	var shares []Share
	files := r.created(changes, here)
	agent, byAgent := r.agentSession(here)
	if byAgent {
		own, err := r.agentFiles(ctx, agent, files)
		if err != nil {
			return nil, err
		}
		shares = append(shares, own)
	}
	alone := !byAgent && r.Env.Getenv("CLAUDECODE") != "1" && !r.Env.Terminal()
	for _, s := range newestFirst(here) {
		if byAgent && s.ID == agent.ID {
			continue
		}
		var share Share
		var err error
		if alone && s.Phase == session.Active {
			share, err = r.namedFiles(ctx, s, files)
		} else {
			share, err = r.overlap(ctx, s, files)
		}
		if err != nil {
			return nil, err
		}
		if len(share.Files) > 0 {
			shares = append(shares, share)
		}
	}
	return shares, nil
}

// overlap returns the session's pending files that a commit contains, and of a
// session at work those that its edit tools have named so far. A file that the
// parent has counts whatever became of it, and so does one that a tool of the
// running turn named; another counts if it is the session's share, or a
// pre-commit hook has just formatted it.
func (r *Recorder) overlap(ctx context.Context, s *session.State, files *created) (Share, error) {
	share := Share{Session: s.ID}
	pending := s.FilesTouched
	var named map[string]bool
	if s.Phase == session.Active {
		edits, err := r.editsSoFar(ctx, s)
		if err != nil {
			return share, err
		}
		named = r.inWorktree(edits)
		pending = slices.Compact(slices.Sorted(slices.Values(slices.Concat(pending, slices.Collect(maps.Keys(named))))))
	}
	for _, p := range pending {
		c, ok := files.changes[p]
		if !ok {
			continue
		}
		counts := c.OldMode != 0 || named[p]
		if !counts {
			var err error
			if counts, err = files.isShare(ctx, s, p); err != nil {
				return share, err
			}
		}
		if counts || r.changedByHook(p) {
			share.Files = append(share.Files, p)
		}
	}
	return share, files.addRenamed(ctx, s, &share)
}

// changedByHook reports whether the file changed since git began to make this
// commit: then a pre-commit hook did it, not a person who wrote something else.
func (r *Recorder) changedByHook(path string) bool {
	// Neither clock is exact to some hundredths of a second.
	const margin = 30 * time.Millisecond
	caller, ok := r.Env.Caller()
	if !ok {
		return false
	}
	age, ok := caller.Age()
	info, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(path)))
	return ok && err == nil && disk.Changed(info).After(r.Env.Now().Add(-age).Add(margin))
}

// namedFiles returns the files of a commit that an edit tool of the session's
// running turn named, and those pending from earlier turns that count.
func (r *Recorder) namedFiles(ctx context.Context, s *session.State, files *created) (Share, error) {
	share := Share{Session: s.ID}
	edits, err := r.editsSoFar(ctx, s)
	if err != nil {
		return share, err
	}
	named := r.inWorktree(edits)
	for p, c := range files.changes {
		counts := named[p] || c.OldMode != 0 && among(s.FilesTouched, p)
		if !counts && among(s.FilesTouched, p) {
			if counts, err = files.isShare(ctx, s, p); err != nil {
				return share, err
			}
		}
		if counts {
			share.Files = append(share.Files, p)
		}
	}
	slices.Sort(share.Files)
	return share, files.addRenamed(ctx, s, &share)
}

// among says whether sorted has the path: a turn may change ten thousand files.
func among(sorted []string, path string) bool {
	_, found := slices.BinarySearch(sorted, path)
	return found
}

// editsSoFar answers the paths that edit tools named in the running turn, those
// of the transcript's new lines included. It changes nothing.
func (r *Recorder) editsSoFar(ctx context.Context, s *session.State) ([]string, error) {
	edits := slices.Clone(s.Recorder.Turn.Edits)
	if s.TranscriptPath == "" {
		return edits, nil
	}
	scan, err := transcript.Read(ctx, s.TranscriptPath, s.Recorder.Cursor)
	if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrNotRegular) {
		return edits, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	for _, e := range scan.Edits {
		edits = append(edits, e.Path)
	}
	return append(edits, r.agentEdits(ctx, s)...), nil
}

// agentFiles returns the files of its own commit that an agent has changed:
// those that its edit tools named or that are pending and count, and those that
// changed since the turn began or are gone.
func (r *Recorder) agentFiles(ctx context.Context, s *session.State, files *created) (Share, error) {
	share, err := r.namedFiles(ctx, s, files)
	if err != nil {
		return share, err
	}
	named := share.Files
	for p, c := range files.changes {
		if !among(named, p) && r.sinceTurn(s, p, c) {
			share.Files = append(share.Files, p)
		}
	}
	slices.Sort(share.Files)
	return share, nil
}

func (r *Recorder) sinceTurn(s *session.State, path string, c git.Change) bool {
	if c.New == "" || c.NewMode == 0 {
		return true
	}
	info, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(path)))
	start := s.Recorder.Turn.Start
	return err == nil && !start.IsZero() && !disk.Changed(info).Before(start)
}

// inWorktree turns absolute paths into those of this worktree and leaves out
// the others.
func (r *Recorder) inWorktree(paths []string) map[string]bool {
	in := make(map[string]bool, len(paths))
	for _, p := range paths {
		if rel, ok := r.Repo.Rel(p); ok && !strings.HasPrefix(rel, ".entire/") {
			in[rel] = true
		}
	}
	return in
}

// shadowTree is the tree of the session's shadow branch, empty if there is
// none.
func (r *Recorder) shadowTree(ctx context.Context, s *session.State) (git.OID, error) {
	if s.BaseCommit == "" {
		return r.Repo.EmptyTree(), nil
	}
	return r.branchTree(ctx, checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID))
}

func (r *Recorder) branchTree(ctx context.Context, name string) (git.OID, error) {
	c, err := r.Repo.Commit(ctx, name)
	switch {
	case errors.Is(err, git.ErrMissing):
		return r.Repo.EmptyTree(), nil
	case err != nil:
		return "", fmt.Errorf("read shadow branch %s: %w", name, err)
	}
	return c.Tree, nil
}

func (r *Recorder) lookup(ctx context.Context, tree git.OID, path string) (git.TreeEntry, bool, error) {
	if tree == r.Repo.EmptyTree() {
		return git.TreeEntry{}, false, nil
	}
	return r.Repo.Lookup(ctx, tree, path)
}
