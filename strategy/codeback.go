package strategy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// CodePlan is what going back to a shadow checkpoint without a snapshot
// changes: only files that sessions have touched are in such a checkpoint.
type CodePlan struct {
	Steps []CodeStep
	// Skipped can't be restored: the path leads through a symlink, or is a
	// directory now.
	Skipped []string
}

// CodeStep is a path, and what becomes of it.
type CodeStep struct {
	Path string
	Kind bands.StepKind // StepCreate, StepRewrite or StepDelete

	was disk.Stat // what is there, which the rescue holds
}

// CodeRewound is what going back did. Rescue is a commit that holds what was
// there, and is itself a point.
type CodeRewound struct {
	Plan   CodePlan
	Rescue git.OID
}

// PreviewCode says what RewindCodeOnly would change, and writes nothing.
func (r *Recorder) PreviewCode(ctx context.Context, p Point) (CodePlan, error) {
	var plan CodePlan
	c, err := r.Repo.Commit(ctx, string(p.Shadow))
	if err != nil {
		return plan, fmt.Errorf("read shadow checkpoint: %w", err)
	}
	paths, err := r.codePaths(ctx, c)
	if err != nil {
		return plan, err
	}
	present, err := r.Repo.HashFiles(ctx, git.HashOnly, r.regular(paths))
	if err != nil {
		return plan, err
	}
	for _, name := range paths {
		wanted, found, err := r.lookup(ctx, c.Tree, name)
		if err != nil {
			return plan, err
		}
		r.planCode(&plan, name, wanted, found, present[name])
	}
	return plan, nil
}

// codePaths are the files that the checkpoint, its branch or a session knows as
// touched.
func (r *Recorder) codePaths(ctx context.Context, c git.Commit) ([]string, error) {
	head, born, err := r.head(ctx)
	if err != nil || !born {
		return nil, err
	}
	var paths []string
	trees := []git.OID{c.OID}
	if tip, err := r.Repo.Commit(ctx, checkpoint.ShadowBranch(head.OID, r.Repo.WorktreeID)); err == nil {
		trees = append(trees, tip.OID)
	}
	for _, t := range trees {
		changes, err := r.Repo.Changes(ctx, head.OID, t)
		if err != nil {
			return nil, err
		}
		for _, ch := range changes {
			paths = append(paths, ch.Path)
		}
	}
	for _, s := range r.sessionsHere(ctx) {
		paths = append(paths, s.FilesTouched...)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == ".entire" || strings.HasPrefix(p, ".entire/") })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// regular are those of the paths that are regular files.
func (r *Recorder) regular(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		info, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(p)))
		return err != nil || !info.Mode().IsRegular()
	})
}

// planCode adds what becomes of one path.
func (r *Recorder) planCode(plan *CodePlan, name string, wanted git.TreeEntry, found bool, present git.OID) {
	info, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(name)))
	missing := errors.Is(err, fs.ErrNotExist) || isNotDir(err)
	switch {
	case missing && !found:
	case r.throughLink(name), !missing && info.IsDir(), found && wanted.Mode == git.ModeModule:
		plan.Skipped = append(plan.Skipped, name)
	case missing:
		plan.Steps = append(plan.Steps, CodeStep{Path: name, Kind: bands.StepCreate, was: r.statBelow(name)})
	case !found:
		plan.Steps = append(plan.Steps, CodeStep{Path: name, Kind: bands.StepDelete, was: r.statBelow(name)})
	case present != wanted.OID || fileMode(info) != wanted.Mode:
		plan.Steps = append(plan.Steps, CodeStep{Path: name, Kind: bands.StepRewrite, was: r.statBelow(name)})
	}
}

// throughLink says whether a directory of the path is a symlink.
func (r *Recorder) throughLink(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(dir)))
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// RewindCodeOnly goes back to a shadow checkpoint that has no snapshot. What it
// overwrites or removes is in a commit of its own first.
func (r *Recorder) RewindCodeOnly(ctx context.Context, p Point) (CodeRewound, error) {
	plan, err := r.PreviewCode(ctx, p)
	if err != nil {
		return CodeRewound{}, err
	}
	done := CodeRewound{Plan: plan}
	if len(plan.Steps) == 0 {
		return done, nil
	}
	if done.Rescue, err = r.rescueCode(ctx, p, plan); err != nil {
		return done, fmt.Errorf("nothing changed: %w", err)
	}
	var write []string
	for _, s := range plan.Steps {
		if err := r.isAsPlanned(s); err != nil {
			return done, err
		}
	}
	for _, s := range plan.Steps {
		if s.Kind != bands.StepDelete {
			write = append(write, s.Path)
			continue
		}
		if err := r.removePlanned(s); err != nil {
			return done, err
		}
	}
	c, err := r.Repo.Commit(ctx, string(p.Shadow))
	if err != nil {
		return done, err
	}
	if err := r.Repo.Checkout(ctx, c.Tree, write); err != nil {
		return done, err
	}
	return done, r.locked(ctx, func() error { return r.alignCode(ctx, c, p) })
}

// errCodeChanged means that a file is no longer what the rescue holds.
var errCodeChanged = errors.New("it changed meanwhile; nothing more was restored")

// parentOf opens the directory of a path of the worktree and follows no link. The
// caller closes it.
func (r *Recorder) parentOf(name string) (*disk.DirFD, error) {
	dir, err := disk.OpenRoot(r.Repo.Root)
	if err != nil || path.Dir(name) == "." {
		return dir, err
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		next, err := dir.Open(part)
		_ = dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// statBelow is what is at a path of the worktree, zero if nothing is or a link
// leads there.
func (r *Recorder) statBelow(name string) (st disk.Stat) {
	dir, err := r.parentOf(name)
	if err != nil {
		return disk.Stat{}
	}
	defer func() { _ = dir.Close() }()
	if dir.Stat(path.Base(name), &st) != nil {
		return disk.Stat{}
	}
	st.Blocks = 0 // they may be allocated later
	return st
}

// isAsPlanned fails if a file is no longer what it was when the plan was made.
func (r *Recorder) isAsPlanned(s CodeStep) error {
	if now := r.statBelow(s.Path); now != s.was {
		return fmt.Errorf("%s: %w", s.Path, errCodeChanged)
	}
	return nil
}

// removePlanned removes a file that is still what the rescue holds. No link that
// somebody put into its path meanwhile leads elsewhere.
func (r *Recorder) removePlanned(s CodeStep) error {
	dir, err := r.parentOf(s.Path)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	var now disk.Stat
	if err := dir.Stat(path.Base(s.Path), &now); err != nil {
		return err
	}
	now.Blocks = 0
	if now != s.was {
		return fmt.Errorf("%s: %w", s.Path, errCodeChanged)
	}
	return dir.Unlink(path.Base(s.Path))
}

// rescueCode makes a commit of the files as they are, under a ref that keeps it.
func (r *Recorder) rescueCode(ctx context.Context, p Point, plan CodePlan) (git.OID, error) {
	head, _, err := r.head(ctx)
	if err != nil {
		return "", err
	}
	paths := make([]string, len(plan.Steps))
	for i, s := range plan.Steps {
		paths[i] = s.Path
	}
	entries, err := r.contents(ctx, paths)
	if err != nil {
		return "", err
	}
	if len(entries) < len(paths) {
		return "", errors.New("some files can't be kept")
	}
	by, err := r.identity(ctx)
	if err != nil {
		return "", err
	}
	tree, err := r.Repo.EditTree(ctx, head.Tree, editsOf(entries, paths))
	if err != nil {
		return "", err
	}
	oid, err := r.Repo.WriteCommit(git.Commit{
		Tree: tree, Parents: []git.OID{head.OID}, Author: by, Committer: by,
		Message: "before rewind to " + p.Shadow.Short() + "\n\n" + checkpoint.SessionKey + ": " + p.Session + "\n",
	})
	if err != nil {
		return "", err
	}
	name := HeldRefs + r.Lineage() + "-" + strconv.FormatInt(r.Env.Now().UnixNano(), 10)
	return oid, r.Repo.UpdateRefs(ctx, "entire: rewind", []git.RefUpdate{{Name: name, New: oid}})
}

// alignCode lets the sessions agree with a shadow checkpoint: the branch ends
// there, and what no longer differs from HEAD isn't pending.
func (r *Recorder) alignCode(ctx context.Context, c git.Commit, p Point) error {
	head, _, err := r.head(ctx)
	if err != nil {
		return err
	}
	branch := checkpoint.ShadowBranch(head.OID, r.Repo.WorktreeID)
	log, err := r.Repo.Log(ctx, branch, pointCommits)
	if err != nil {
		return nil //nolint:nilerr // there is no such branch
	}
	at := slices.IndexFunc(log, func(o git.Commit) bool { return o.OID == c.OID })
	if at < 0 { // a rescue, not a checkpoint of the branch
		states := r.sessionsHere(ctx)
		var pending []string
		for _, s := range states {
			pending = append(pending, s.FilesTouched...)
		}
		if len(pending) > 0 {
			_, err = r.dropClean(ctx, states, pending)
		}
		return err
	}
	refs := newRefPlan(r.Repo)
	if err := errors.Join(refs.set(ctx, branch, p.Shadow), refs.set(ctx, HeldRefs+r.Lineage()+"-"+log[0].OID.Short(), log[0].OID)); err != nil {
		return err
	}
	if err := r.Repo.UpdateRefs(ctx, "entire: rewind", refs.updates()); err != nil {
		return err
	}
	counts := map[string]int{}
	for _, o := range log[:at] {
		counts[trailer(o.Message, checkpoint.SessionKey)]++
	}
	for _, s := range r.sessionsHere(ctx) {
		entries, err := r.Repo.Changes(ctx, head.OID, c.OID)
		if err != nil {
			return err
		}
		s.Keep(slices.DeleteFunc(slices.Clone(s.FilesTouched), func(f string) bool {
			return !slices.ContainsFunc(entries, func(ch git.Change) bool { return ch.Path == f })
		}))
		s.CheckpointCount = max(0, s.CheckpointCount-counts[s.ID])
		if err := r.Sessions.Save(s); err != nil {
			return err
		}
	}
	return nil
}
