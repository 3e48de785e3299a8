package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// broken finds refs of this program that name no commit.
func (rc refChecks) broken(ctx context.Context) ([]Finding, error) {
	names := make([]string, 0, 4)
	for _, file := range rc.refFiles() {
		if !strings.HasSuffix(file.name, ".lock") {
			names = append(names, file.name)
		}
	}
	refs, err := git.ListRefs(ctx, rc.repo, workspace.Refs(workspace.Own)...)
	for _, ref := range refs {
		names = append(names, ref.Name)
	}
	slices.Sort(names)
	var list []Finding
	for _, name := range slices.Compact(names) {
		if id, ok := checkpoint.ParseRef(name); ok && rc.refs[id] {
			continue
		}
		// Users may have branches in our folder.
		isOwn := strings.HasPrefix(name, checkpoint.OwnRefs) || name == checkpoint.MetadataBranch || checkpoint.IsShadow(name)
		if !isOwn || !rc.isBroken(ctx, name) {
			continue
		}
		f := Finding{
			Code: BrokenRef, Severity: Error, Subject: name,
			What: "the ref points to no commit", Why: "neither git nor the hooks can read or update it",
		}
		good, found := rc.lastGood(ctx, name)
		f.Repair = &Repair{
			Files: []string{rc.refPath(name)}, Refs: []string{name},
			Do: func(ctx context.Context) error {
				return rc.w.WithLock(ctx, func() error { return rc.setRef(ctx, name, good) })
			},
		}
		switch {
		case found:
			f.Fix = "reset it to its last existing commit, " + good.Short()
		case name == checkpoint.MetadataBranch:
			f.Hint, f.Repair = "fetch the branch from a clone that has it", nil
		case strings.HasPrefix(name, checkpoint.CheckpointRefs):
			f.Fix = "remove it, so that `entire fetch` can fetch it again"
		case checkpoint.IsShadow(name):
			f.Fix = "remove it; the next turn creates it again"
		default:
			f.Fix = "remove it; its content is lost"
		}
		list = append(list, f)
	}
	return list, err
}

// isBroken reports whether a ref exists and names no commit.
func (e *exam) isBroken(ctx context.Context, name string) bool {
	if _, err := e.repo.Commit(ctx, name); !errors.Is(err, git.ErrMissing) {
		return false
	}
	_, err := os.Lstat(e.refPath(name))
	now, failed := refNow(ctx, e.repo, name)
	return err == nil || failed == nil && now != ""
}

func (e *exam) refPath(name string) string {
	return filepath.Join(e.repo.CommonDir, filepath.FromSlash(name))
}

// lastGood returns the newest commit in the reflog of a ref that still exists; for the metadata
// branch it also considers remotes.
func (rc refChecks) lastGood(ctx context.Context, name string) (git.OID, bool) {
	data, err := disk.ReadFile(filepath.Join(rc.repo.CommonDir, "logs", filepath.FromSlash(name)))
	if err == nil {
		entries := strings.Split(string(data), "\n")
		slices.Reverse(entries)
		for _, entry := range entries {
			fields := strings.Fields(entry)
			if len(fields) < 2 {
				continue
			}
			if c, err := rc.repo.Commit(ctx, fields[1]); err == nil {
				return c.OID, true
			}
		}
	}
	if name == checkpoint.MetadataBranch {
		for _, r := range rc.remotes(ctx) {
			return r.tip.OID, true
		}
	}
	return "", false
}

// setRef sets a broken ref to a commit, or removes it. If the ref contains no object id git can't
// move it, so its file is removed first.
func (e *exam) setRef(ctx context.Context, name string, to git.OID) error {
	path := e.refPath(name)
	data, err := disk.ReadFile(path)
	if err == nil && !e.repo.Format.Valid(git.OID(strings.TrimSpace(string(data)))) {
		if err := disk.Remove(path); err != nil {
			return err
		}
	}
	now, err := refNow(ctx, e.repo, name)
	if err != nil || now == to {
		return err
	}
	return git.UpdateRefs(ctx, e.repo, "entire: doctor", []git.RefChange{{Name: name, New: to, Old: now}})
}

// refNow returns the value of a ref, empty if it doesn't exist or is broken.
func refNow(ctx context.Context, repo *git.Repo, name string) (git.OID, error) {
	refs, err := git.ListRefs(ctx, repo, name)
	if err != nil {
		return "", err
	}
	for _, ref := range refs {
		if ref.Name == name {
			return ref.OID, nil
		}
	}
	return "", nil
}

// refFile is a file of a ref, or the lock of one.
type refFile struct {
	name, path string
	changed    time.Time
}

// refFiles returns the files of this program's refs; a repository with reftables has none.
func (rc refChecks) refFiles() []refFile {
	var list []refFile
	for _, prefix := range workspace.Refs(workspace.Own) {
		root := rc.refPath(prefix)
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil //nolint:nilerr // what is not there has no files
			}
			if info, err := entry.Info(); err == nil {
				name := prefix + filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
				list = append(list, refFile{name, path, info.ModTime()})
			}
			return nil
		})
	}
	return list
}

// abandoned is the age above which a lock's owner must have died: git holds a lock for
// milliseconds.
const abandoned = time.Hour

// staleLocks finds locks that git processes left when they were killed.
func (rc refChecks) staleLocks(_ context.Context) ([]Finding, error) {
	var list []Finding
	old := func(t time.Time) bool { return rc.w.Env.Now().Sub(t) > abandoned }
	for _, file := range rc.refFiles() {
		if !strings.HasSuffix(file.name, ".lock") || !old(file.changed) {
			continue
		}
		list = append(list, Finding{
			Code: StaleLock, Severity: Warning, Subject: file.name,
			What: "left by a git process that was killed",
			Why:  "the ref can't be updated while it exists",
			Fix:  "remove it",
			Repair: &Repair{Files: []string{file.path}, Do: func(ctx context.Context) error {
				return rc.w.WithLock(ctx, func() error { return disk.Remove(file.path) })
			}},
		})
	}
	for _, name := range []string{"packed-refs.lock", "config.lock"} {
		path := filepath.Join(rc.repo.CommonDir, name)
		if info, err := os.Lstat(path); err == nil && old(info.ModTime()) {
			list = append(list, Finding{
				Code: StaleLock, Severity: Warning, Subject: path,
				What: "left by a git process that was killed",
				Why:  "git can't delete branches or change its configuration while it exists",
				Hint: "if no git process is running, remove it",
			})
		}
	}
	return list, nil
}

// temporaryFiles finds the temporary files of processes that were killed.
func (rc refChecks) temporaryFiles(_ context.Context) ([]Finding, error) {
	left, err := record.TempFiles(rc.w)
	if len(left) == 0 {
		return nil, err
	}
	names := make([]string, len(left))
	for i, path := range left {
		names[i] = filepath.Base(path)
	}
	return []Finding{{
		Code: TemporaryFiles, Severity: Note, Subject: some(names),
		What:   plain.Plural(len(left), "temporary file") + " left by killed processes",
		Why:    "they are harmless; the next session removes them",
		Fix:    "remove them",
		Repair: &Repair{Files: left, Do: func(ctx context.Context) error { record.SweepTempFiles(ctx, rc.w); return nil }},
	}}, err
}
