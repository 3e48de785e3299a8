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
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// CodePlan lists the changes of a rewind to a point without a snapshot. They are limited to
// files that sessions touched, as a turn checkpoint has no others.
type CodePlan struct {
	Steps []restore.Step // created, rewritten or deleted
	// Skipped paths can't be restored: they lead through a link or a file, or are directories
	// now.
	Skipped []string

	touched []string // all paths that were compared
	present map[string]presentFile
	wanted  []git.TreeEdit
}

// CodeRewound is the result of a rewind to a point without a snapshot.
type CodeRewound struct {
	Rewound

	Skipped []string
	// Before is a commit with the former files, itself a point; empty if nothing was changed.
	Before git.OID
}

// PreviewCode returns what RewindCode would change, and writes nothing.
func PreviewCode(ctx context.Context, w *workspace.Workspace, p Point) (planned CodePlan, err error) {
	c, err := w.Repo.Commit(ctx, string(p.Shadow))
	if err != nil {
		return planned, fmt.Errorf("read turn checkpoint: %w", err)
	}
	if planned.touched, err = touchedPaths(ctx, w, c); err != nil {
		return planned, err
	}
	present, err := presentFiles(ctx, w, planned.touched)
	if err != nil {
		return planned, err
	}
	planned.present = present
	removed := map[string]bool{}
	var steps []restore.Step
	for _, name := range planned.touched {
		wanted, _, err := w.Lookup(ctx, c.Tree, name)
		if err != nil {
			return planned, err
		}
		now, after := present[name], git.TreeEdit{Path: name, Mode: wanted.Mode, OID: wanted.OID}
		step := restore.Step{Path: name, Kind: restore.StepRewrite}
		switch {
		case now.blocked || after.Mode == git.ModeModule:
			planned.Skipped = append(planned.Skipped, name)
			continue
		case now.Mode == after.Mode && now.OID == after.OID:
			continue
		case now.Mode == 0:
			step.Kind = restore.StepCreate
		case after.Mode == 0:
			step.Kind, removed[name] = restore.StepDelete, true
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
	planned.wanted = slices.DeleteFunc(planned.wanted, func(e git.TreeEdit) bool { return inTheWay(e.Path) })
	return planned, nil
}

// touchedPaths returns the files touched according to the checkpoint, its branch or a session.
func touchedPaths(ctx context.Context, w *workspace.Workspace, c git.Commit) ([]string, error) {
	head, born, err := w.Head(ctx)
	if err != nil || !born {
		return nil, err
	}
	var paths []string
	trees := []git.OID{c.OID}
	if tip, err := w.Repo.Commit(ctx, checkpoint.ShadowBranch(head.OID, w.Repo.WorktreeID)); err == nil {
		trees = append(trees, tip.OID)
	}
	for _, t := range trees {
		changes, err := git.Changes(ctx, w.Repo, head.OID, t)
		if err != nil {
			return nil, err
		}
		for _, ch := range changes {
			paths = append(paths, ch.Path)
		}
	}
	for _, s := range w.AllSessions(ctx) {
		paths = append(paths, s.FilesTouched...)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == ".entire" || strings.HasPrefix(p, ".entire/") })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// presentFile is the git entry of the file at a path.
type presentFile struct {
	git.TreeEdit

	blocked bool     // it can't be restored
	files   []string // files in the place of a folder of the path
}

// presentFiles returns the files at the paths.
func presentFiles(ctx context.Context, w *workspace.Workspace, paths []string) (map[string]presentFile, error) {
	present := make(map[string]presentFile, len(paths))
	var regular []string
	for _, name := range paths {
		now := presentFile{}
		full := filepath.Join(w.Repo.Root, filepath.FromSlash(name))
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			info, err := os.Lstat(filepath.Join(w.Repo.Root, filepath.FromSlash(dir)))
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
			now.Mode, now.OID = git.ModeLink, w.Repo.Format.HashBlob([]byte(target))
		default:
			now.blocked = true
		}
		present[name] = now
	}
	oids, err := git.HashFiles(ctx, w.Repo, git.HashOnly, regular)
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

// RestoreCode rewinds to a point that has no snapshot. The point's files become a partial
// snapshot, which is restored like any other, so the store is created even if snapshots are
// disabled. An interrupted rewind to the same commit is completed.
func RestoreCode(ctx context.Context, w *workspace.Workspace, p Point, o Options) (done CodeRewound, err error) {
	store, err := tracking.MakeStore(ctx, w)
	if err != nil {
		return done, err
	}
	if _, _, err := finish(ctx, w, store); err != nil {
		return done, err
	}
	done.Rewound, err = restoreFiles(ctx, w, store, o, func(held *bands.Held) (restore.Result, error) {
		opts := restoreOptions(w, o)
		opts.Message = "before rewind to " + p.Shadow.Short()
		left, found := bands.InterruptedRestore(store, opts.Lineage)
		if found = found && !left.Other(); found { // does it restore the files of the same point?
			target, err := store.Snapshot(left.Target)
			found = err == nil && len(target.Only) > 0 && target.Causality.Shadow == string(p.Shadow)
		}
		if found {
			if before, err := store.Snapshot(left.Rescue); err == nil {
				done.Before = git.OID(before.Causality.Shadow)
			}
			opts.Causality.Shadow = string(done.Before)
			if left.Op == bands.OpRestore {
				return restore.Run(ctx, held, left.Target, opts)
			}
			opts.Follow = withoutConversation(left.Op, nil)
			return restore.Finish(ctx, held, opts)
		}
		planned, err := PreviewCode(ctx, w, p)
		if done.Skipped = planned.Skipped; err != nil || len(planned.Steps) == 0 {
			return restore.Result{}, err
		}
		target, err := importCode(ctx, w, held, p, planned)
		if err == nil {
			done.Before, err = rescueCode(ctx, w, p, planned)
		}
		if err != nil {
			return restore.Result{}, fmt.Errorf("nothing changed: %w", err)
		}
		opts.Causality.Shadow = string(done.Before)
		return restore.Run(ctx, held, target.Version, opts)
	})
	former, found := tracking.ReadFormerRewind(w.Repo.CommonDir, tracking.Lineage(w))
	if err == nil && found && (p.Shadow == former.From || p.Shadow == former.To) {
		err = disk.Remove(tracking.FormerPath(w.Repo.CommonDir, tracking.Lineage(w)))
	}
	return done, err
}

// importCode takes a partial snapshot of the files that a plan restores. Git writes them to a
// directory beside the tree, through its filters.
func importCode(ctx context.Context, w *workspace.Workspace, held *bands.Held, p Point, planned CodePlan) (_ bands.Snapshot, err error) {
	stage := workspace.CheckoutDir(w.Repo, w.Repo.WorktreeID)
	if err := os.RemoveAll(stage); err != nil { // left by a killed run
		return bands.Snapshot{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	files := filepath.Join(stage, "files")
	if err := git.CheckoutInto(ctx, w.Repo, files, planned.wanted); err != nil {
		return bands.Snapshot{}, err
	}
	take := capture.TakeOptions{
		Options: tracking.TreeOptions(w), Message: "files of " + p.Shadow.Short(), Cause: bands.Rescue, Force: true,
		Causality: bands.Causality{Action: "rewind", Session: p.Session, Shadow: string(p.Shadow)},
	}
	take.Root, take.Lineage, take.Exclude = files, tracking.PartialLineage(w.Repo.WorktreeID), nil
	for _, s := range planned.Steps {
		take.Only = append(take.Only, s.Path)
	}
	taken, err := capture.Take(ctx, held, take)
	return taken.Snapshot, err
}

// rescueCode commits the touched files as they are, under a ref of its own. The commit has all
// of them and not only those of the plan: a rewind to it would reset missing ones to HEAD.
func rescueCode(ctx context.Context, w *workspace.Workspace, p Point, planned CodePlan) (git.OID, error) {
	head, _, err := w.Head(ctx)
	if err != nil {
		return "", err
	}
	entries, err := w.StoreContents(ctx, planned.touched)
	if err != nil {
		return "", err
	}
	by, err := w.Identity(ctx)
	if err != nil {
		return "", err
	}
	tree, err := git.EditTree(ctx, w.Repo, head.Tree, workspace.EditsOf(entries, planned.touched))
	if err != nil {
		return "", err
	}
	oid, err := w.Repo.WriteCommit(git.Commit{
		Tree: tree, Parents: []git.OID{head.OID}, Author: by, Committer: by,
		Message: "before rewind to " + p.Shadow.Short() + "\n\n" + checkpoint.SessionKey + ": " + p.Session + "\n",
	})
	if err != nil {
		return "", err
	}
	name := checkpoint.HeldRefs + tracking.Lineage(w) + "-" + strconv.FormatInt(w.Env.Now().UnixNano(), 10)
	return oid, git.UpdateRefs(ctx, w.Repo, "entire: rewind", []git.RefChange{{Name: name, New: oid}})
}
