package rewind

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
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/history"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/strategy/points"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// CodePlan lists the changes of a rewind to a point without a snapshot. They are limited to
// files that sessions touched, as a turn checkpoint has no others.
type CodePlan struct {
	Steps []plan.Step // created, rewritten or deleted
	// Skipped paths can't be restored: they lead through a link or a file, or are directories
	// now.
	Skipped []string

	touched []string // all paths that were compared
	present map[string]presentFile
	wanted  []gittree.Edit
}

// CodeRewound is the result of a rewind to a point without a snapshot.
type CodeRewound struct {
	Rewound

	Skipped []string
	// Before is a commit with the former files, itself a point; empty if nothing was changed.
	Before git.OID
}

// PreviewCode returns what RewindCode would change, and writes nothing.
func (r *Rewinder) PreviewCode(ctx context.Context, p points.Point) (planned CodePlan, err error) {
	c, err := r.Repo.Commit(ctx, string(p.Shadow))
	if err != nil {
		return planned, fmt.Errorf("read turn checkpoint: %w", err)
	}
	if planned.touched, err = r.touchedPaths(ctx, c); err != nil {
		return planned, err
	}
	present, err := r.presentFiles(ctx, planned.touched)
	if err != nil {
		return planned, err
	}
	planned.present = present
	removed := map[string]bool{}
	var steps []plan.Step
	for _, name := range planned.touched {
		wanted, _, err := r.Lookup(ctx, c.Tree, name)
		if err != nil {
			return planned, err
		}
		now, after := present[name], gittree.Edit{Path: name, Mode: wanted.Mode, OID: wanted.OID}
		step := plan.Step{Path: name, Kind: plan.StepRewrite}
		switch {
		case now.blocked || after.Mode == git.ModeModule:
			planned.Skipped = append(planned.Skipped, name)
			continue
		case now.Mode == after.Mode && now.OID == after.OID:
			continue
		case now.Mode == 0:
			step.Kind = plan.StepCreate
		case after.Mode == 0:
			step.Kind, removed[name] = plan.StepDelete, true
		}
		steps = append(steps, step)
		if after.Mode != 0 {
			planned.wanted = append(planned.wanted, after)
		}
	}
	inTheWay := func(name string) bool {
		return slices.ContainsFunc(present[name].files, func(above string) bool { return !removed[above] })
	}
	for _, s := range steps {
		if inTheWay(s.Path) {
			planned.Skipped = append(planned.Skipped, s.Path)
		} else {
			planned.Steps = append(planned.Steps, s)
		}
	}
	planned.wanted = slices.DeleteFunc(planned.wanted, func(e gittree.Edit) bool { return inTheWay(e.Path) })
	return planned, nil
}

// touchedPaths returns the files touched according to the checkpoint, its branch or a session.
func (r *Rewinder) touchedPaths(ctx context.Context, c git.Commit) ([]string, error) {
	head, born, err := r.Head(ctx)
	if err != nil || !born {
		return nil, err
	}
	var paths []string
	trees := []git.OID{c.OID}
	if tip, err := r.Repo.Commit(ctx, checkpoint.ShadowBranch(head.OID, r.Repo.WorktreeID)); err == nil {
		trees = append(trees, tip.OID)
	}
	for _, t := range trees {
		changes, err := gitdiff.Changes(ctx, r.Repo, head.OID, t)
		if err != nil {
			return nil, err
		}
		for _, ch := range changes {
			paths = append(paths, ch.Path)
		}
	}
	for _, s := range r.AllSessions(ctx) {
		paths = append(paths, s.FilesTouched...)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == ".entire" || strings.HasPrefix(p, ".entire/") })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// presentFile is the git entry of the file at a path.
type presentFile struct {
	gittree.Edit

	blocked bool     // it can't be restored
	files   []string // files in the place of a folder of the path
}

// presentFiles returns the files at the paths.
func (r *Rewinder) presentFiles(ctx context.Context, paths []string) (map[string]presentFile, error) {
	present := make(map[string]presentFile, len(paths))
	var regular []string
	for _, name := range paths {
		now := presentFile{}
		full := filepath.Join(r.Repo.Root, filepath.FromSlash(name))
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			info, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(dir)))
			if err == nil && info.Mode()&fs.ModeSymlink != 0 {
				now.blocked = true
			} else if err == nil && !info.IsDir() {
				now.files = append(now.files, dir)
			}
		}
		info, err := os.Lstat(full)
		switch {
		case errors.Is(err, fs.ErrNotExist) || workspace.IsNotDir(err) || now.blocked:
		case err != nil:
			return nil, err
		case info.Mode().IsRegular():
			now.Mode = workspace.GitMode(info)
			regular = append(regular, name)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(full)
			if err != nil {
				return nil, err
			}
			now.Mode, now.OID = git.ModeLink, r.Repo.Format.HashBlob([]byte(target))
		default:
			now.blocked = true
		}
		present[name] = now
	}
	oids, err := gitwork.HashFiles(ctx, r.Repo, gitwork.HashOnly, regular)
	if err != nil {
		return nil, err
	}
	for _, name := range regular {
		now := present[name]
		now.OID = oids[name]
		now.blocked = now.OID == ""
		present[name] = now
	}
	return present, nil
}

// RewindCode rewinds to a point that has no snapshot. The point's files become a partial
// snapshot, which is restored like any other, so the store is created even if snapshots are
// disabled. An interrupted rewind to the same commit is completed.
func (r *Rewinder) RewindCode(ctx context.Context, p points.Point, o Options) (done CodeRewound, err error) {
	store, err := r.snapshots.MakeStore(ctx)
	if err != nil {
		return done, err
	}
	if _, _, err := r.finisher.finish(ctx, store); err != nil {
		return done, err
	}
	done.Rewound, err = r.restore(ctx, store, o, func(held *bands.Held) (restore.Result, error) {
		opts := r.restoreOptions(o)
		opts.Message = "before rewind to " + p.Shadow.Short()
		left, found := history.Interrupted(store, opts.Lineage)
		if found = found && !left.Other(); found { // does it restore the files of the same point?
			target, err := store.Snapshot(left.Target)
			found = err == nil && len(target.Only) > 0 && target.Causality.Shadow == string(p.Shadow)
		}
		if found {
			if before, err := store.Snapshot(left.Rescue); err == nil {
				done.Before = git.OID(before.Causality.Shadow)
			}
			opts.Causality.Shadow = string(done.Before)
			if left.Op == history.OpRestore {
				return restore.Run(ctx, held, left.Target, opts)
			}
			opts.Follow = withoutConversation(left.Op, nil)
			return restore.Finish(ctx, held, opts)
		}
		planned, err := r.PreviewCode(ctx, p)
		if done.Skipped = planned.Skipped; err != nil || len(planned.Steps) == 0 {
			return restore.Result{}, err
		}
		target, err := r.importCode(ctx, held, p, planned)
		if err == nil {
			done.Before, err = r.rescueCode(ctx, p, planned)
		}
		if err != nil {
			return restore.Result{}, fmt.Errorf("nothing changed: %w", err)
		}
		opts.Causality.Shadow = string(done.Before)
		return restore.Run(ctx, held, target.Version, opts)
	})
	former, found := rewindstate.ReadFormer(r.Repo.CommonDir, r.snapshots.Lineage())
	if err == nil && found && (p.Shadow == former.From || p.Shadow == former.To) {
		err = disk.Remove(rewindstate.FormerPath(r.Repo.CommonDir, r.snapshots.Lineage()))
	}
	return done, err
}

// importCode takes a partial snapshot of the files that a plan restores. Git writes them to a
// directory beside the tree, through its filters.
func (r *Rewinder) importCode(ctx context.Context, held *bands.Held, p points.Point, planned CodePlan) (_ bands.Snapshot, err error) {
	stage := filepath.Join(r.Repo.GitDir, "entire-checkout")
	if err := os.RemoveAll(stage); err != nil { // left by a killed run
		return bands.Snapshot{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	files := filepath.Join(stage, "files")
	if err := gitwork.CheckoutInto(ctx, r.Repo, files, planned.wanted); err != nil {
		return bands.Snapshot{}, err
	}
	take := capture.TakeOptions{
		Options: r.snapshots.TreeOptions(), Message: "files of " + p.Shadow.Short(), Cause: bands.Rescue, Force: true,
		Causality: bands.Causality{Action: "rewind", Session: p.Session, Shadow: string(p.Shadow)},
	}
	take.Root, take.Lineage, take.Exclude = files, rewindstate.PartialLineage(r.Repo.WorktreeID), nil
	for _, s := range planned.Steps {
		take.Only = append(take.Only, s.Path)
	}
	taken, err := capture.Take(ctx, held, take)
	return taken.Snapshot, err
}

// rescueCode commits the touched files as they are, under a ref of its own. The commit has all
// of them and not only those of the plan: a rewind to it would reset missing ones to HEAD.
func (r *Rewinder) rescueCode(ctx context.Context, p points.Point, planned CodePlan) (git.OID, error) {
	head, _, err := r.Head(ctx)
	if err != nil {
		return "", err
	}
	entries, err := r.files.StoreContents(ctx, planned.touched)
	if err != nil {
		return "", err
	}
	by, err := r.Identity(ctx)
	if err != nil {
		return "", err
	}
	tree, err := gittree.Apply(ctx, r.Repo, head.Tree, workspace.EditsOf(entries, planned.touched))
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
	name := rewindstate.HeldRefs + r.snapshots.Lineage() + "-" + strconv.FormatInt(r.Env.Now().UnixNano(), 10)
	return oid, gitref.Update(ctx, r.Repo, "entire: rewind", []gitref.Change{{Name: name, New: oid}})
}
