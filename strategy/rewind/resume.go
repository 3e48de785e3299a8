package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ErrUncommitted means that a branch is not checked out because tracked files have uncommitted
// changes.
var ErrUncommitted = errors.New("you have uncommitted changes")

// ErrNoCheckpoint means that a commit has no checkpoint.
var ErrNoCheckpoint = errors.New("has no checkpoint")

// ErrAmbiguousCheckpoint means that several checkpoints begin with a text.
var ErrAmbiguousCheckpoint = errors.New("is ambiguous")

// resumeDepth is the number of commits from a branch's tip that are searched for a checkpoint.
const resumeDepth = 100

// ResumeBranch is a branch on which a session is resumed.
type ResumeBranch struct {
	Name string
	// Current reports whether it is checked out here.
	Current bool
	// Remote is the remote that has it, empty for a local branch.
	Remote string
}

// ref returns the branch's full name.
func (b ResumeBranch) ref() string {
	if b.Remote != "" {
		return "refs/remotes/" + b.Remote + "/" + b.Name
	}
	return "refs/heads/" + b.Name
}

// Carrier is a carrier of checkpoints: a commit, or an id named by the user.
type Carrier struct {
	// IDs are the checkpoints, the decisive one first.
	IDs    []checkpoint.ID
	Commit git.Commit // without an OID if only an id was named
	// Newer is the number of commits without a checkpoint, merges not counted, between it and
	// the branch's tip.
	Newer int
}

// FindResumeBranch finds a branch by its name: a local one, else a remote-tracking one, origin's
// before those of other remotes.
func FindResumeBranch(ctx context.Context, w *workspace.Workspace, name string) (ResumeBranch, bool, error) {
	name = strings.TrimPrefix(name, "refs/heads/")
	if !git.ValidBranch(name) {
		return ResumeBranch{}, false, nil
	}
	current, err := git.HeadBranch(ctx, w.Repo)
	if err != nil {
		return ResumeBranch{}, false, err
	}
	b := ResumeBranch{Name: name, Current: name == current}
	if found, err := hasRef(ctx, w, b.ref()); found || err != nil {
		return b, found, err
	}
	remotes, err := remotes(ctx, w)
	if err != nil {
		return ResumeBranch{}, false, err
	}
	b.Current = false
	for _, b.Remote = range remotes {
		if found, err := hasRef(ctx, w, b.ref()); found || err != nil {
			return b, found, err
		}
	}
	return ResumeBranch{}, false, nil
}

func hasRef(ctx context.Context, w *workspace.Workspace, ref string) (bool, error) {
	_, err := w.Repo.Commit(ctx, ref)
	if errors.Is(err, git.ErrMissing) {
		return false, nil
	}
	return err == nil, err
}

// remotes returns the names of the remotes, origin first.
func remotes(ctx context.Context, w *workspace.Workspace) ([]string, error) {
	names, err := git.Remotes(ctx, w.Repo)
	if i := slices.Index(names, "origin"); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "origin")
	}
	return names, err
}

// FetchBranch fetches the branch from its remote.
func FetchBranch(ctx context.Context, w *workspace.Workspace, b ResumeBranch) error {
	return git.Fetch(ctx, w.Repo, b.Remote, "+refs/heads/"+b.Name+":"+b.ref())
}

// CanSwitch returns ErrUncommitted if tracked files have changes. Untracked files are left to
// git.
func CanSwitch(ctx context.Context, w *workspace.Workspace) error {
	entries, err := git.Status(ctx, w.Repo)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Index != '?' {
			return fmt.Errorf("%w. Please commit or stash them first", ErrUncommitted)
		}
	}
	return nil
}

// DetachedHead returns the commit of a detached HEAD, which may be unreachable after a switch;
// empty on a branch.
func DetachedHead(ctx context.Context, w *workspace.Workspace) (git.OID, error) {
	branch, err := git.HeadBranch(ctx, w.Repo)
	if branch != "" || err != nil {
		return "", err
	}
	c, _, err := w.Head(ctx)
	return c.OID, err
}

// SwitchBranch checks the branch out, and creates it if only a remote has it.
func SwitchBranch(ctx context.Context, w *workspace.Workspace, b ResumeBranch) error {
	var err error
	switch {
	case b.Current:
		return nil
	case b.Remote != "":
		err = git.SwitchTracking(ctx, w.Repo, b.Name, b.ref())
	default:
		err = git.SwitchBranch(ctx, w.Repo, b.Name)
	}
	if exit, ok := errors.AsType[*git.ExitError](err); ok {
		return fmt.Errorf("check out %s: %s", b.Name, git.TrimStderrPrefix(strings.TrimSpace(exit.Stderr)))
	}
	return err
}

// LastCheckpoint finds the newest commit with a checkpoint of the branch: its tip, or if that
// has none, a commit below it along the first parents, up to the default branch. It returns
// false if there is none.
func LastCheckpoint(ctx context.Context, w *workspace.Workspace, b ResumeBranch) (Carrier, bool, error) {
	tip, err := w.Repo.Commit(ctx, b.ref())
	if err != nil {
		return Carrier{}, false, err
	}
	commits := []git.Commit{tip}
	if len(checkpoint.IDsOf(tip)) == 0 {
		trunk, err := trunk(ctx, w, b.Name)
		if err != nil {
			return Carrier{}, false, err
		}
		if commits, err = git.FirstParents(ctx, w.Repo, tip.OID, trunk, resumeDepth); err != nil {
			return Carrier{}, false, err
		}
	}
	newer := 0
	for _, c := range commits {
		if ids := checkpoint.IDsOf(c); len(ids) > 0 {
			slices.Reverse(ids)
			return Carrier{IDs: ids, Commit: c, Newer: newer}, true, nil
		}
		if len(c.Parents) < 2 {
			newer++
		}
	}
	return Carrier{}, false, nil
}

// trunk returns the tips of the default branch, the local one and its remote's; none on the
// default branch itself, or if it isn't known.
func trunk(ctx context.Context, w *workspace.Workspace, branch string) ([]git.OID, error) {
	remotes, err := remotes(ctx, w)
	if err != nil {
		return nil, err
	}
	names, remote := []string{"main", "master"}, "origin"
	if len(remotes) > 0 {
		remote = remotes[0]
		head, err := git.RemoteHead(ctx, w.Repo, remote)
		if err != nil {
			return nil, err
		}
		if head != "" {
			names = []string{head}
		}
	}
	for _, name := range names {
		if name == branch {
			return nil, nil
		}
		var ends []git.OID
		for _, b := range []ResumeBranch{{Name: name}, {Name: name, Remote: remote}} {
			c, err := w.Repo.Commit(ctx, b.ref())
			if errors.Is(err, git.ErrMissing) {
				continue
			}
			if err != nil {
				return nil, err
			}
			ends = append(ends, c.OID)
		}
		if len(ends) > 0 {
			return ends, nil
		}
	}
	return nil, nil
}
