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
				return s, busy(s) || r.commitsTurnOf(s)
			}
		}
		s, err := r.Sessions.Load(id)
		return s, err == nil && (busy(s) || r.commitsTurnOf(s))
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

func busy(s *session.State) bool { return s.Phase == session.Active || s.Recorder.Background }

// shares decides which sessions a commit belongs to and what each has in it.
func (r *Recorder) shares(ctx context.Context, here []*session.State, changes staged) ([]Share, error) {
	var shares []Share
	agent, byAgent := r.agentSession(here)
	if byAgent {
		files, err := r.agentFiles(ctx, agent, changes)
		if err != nil {
			return nil, err
		}
		shares = append(shares, Share{Session: agent.ID, Files: files})
	}
	alone := !byAgent && r.Env.Getenv("CLAUDECODE") != "1" && !r.Env.Terminal()
	for _, s := range here {
		if byAgent && s.ID == agent.ID {
			continue
		}
		var files []string
		var err error
		if alone && s.Phase == session.Active {
			files, err = r.namedFiles(ctx, s, changes)
		} else {
			files, err = r.overlap(ctx, s, changes)
		}
		if err != nil {
			return nil, err
		}
		if len(files) > 0 {
			shares = append(shares, Share{Session: s.ID, Files: files})
		}
	}
	return shares, nil
}

// overlap answers the session's pending files that a commit contains, and of a
// session at work those that its edit tools have named so far. A file
// that the parent has counts whatever became of it; a new one counts if it is
// what the session wrote, or that as a pre-commit hook has just formatted it, or
// if that isn't known.
func (r *Recorder) overlap(ctx context.Context, s *session.State, changes staged) ([]string, error) {
	var files []string
	var shadow git.OID
	pending := s.FilesTouched
	if s.Phase == session.Active {
		edits, err := r.editsSoFar(ctx, s)
		if err != nil {
			return nil, err
		}
		named := slices.Collect(maps.Keys(r.inWorktree(edits)))
		pending = slices.Compact(slices.Sorted(slices.Values(slices.Concat(pending, named))))
	}
	for _, p := range pending {
		c, ok := changes[p]
		if !ok {
			continue
		}
		if c.OldMode != 0 {
			files = append(files, p)
			continue
		}
		if shadow == "" {
			tree, err := r.shadowTree(ctx, s)
			if err != nil {
				return nil, err
			}
			shadow = tree
		}
		entry, found, err := r.lookup(ctx, shadow, p)
		if err != nil {
			return nil, err
		}
		if !found || entry.OID == c.New || r.changedByHook(p) {
			files = append(files, p)
		}
	}
	return files, nil
}

// changedByHook says whether the file changed since git began to make this
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

// namedFiles answers which files of a commit a session at work has touched,
// in earlier turns or by an edit tool in this one.
func (r *Recorder) namedFiles(ctx context.Context, s *session.State, changes staged) ([]string, error) {
	edits, err := r.editsSoFar(ctx, s)
	if err != nil {
		return nil, err
	}
	named := r.inWorktree(edits)
	var files []string
	for p := range changes {
		if among(s.FilesTouched, p) || named[p] {
			files = append(files, p)
		}
	}
	slices.Sort(files)
	return files, nil
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

// agentFiles answers which files of its own commit an agent has changed: those
// it touched before, those its edit tools named, and those that changed since
// the turn began or are gone.
func (r *Recorder) agentFiles(ctx context.Context, s *session.State, changes staged) ([]string, error) {
	files, err := r.namedFiles(ctx, s, changes)
	if err != nil {
		return nil, err
	}
	named := files
	for p, c := range changes {
		if !among(named, p) && r.sinceTurn(s, p, c) {
			files = append(files, p)
		}
	}
	slices.Sort(files)
	return files, nil
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
