package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// back makes a backup of everything that the repairs may change: copies of files, and a ref for
// every commit, so that git's gc keeps it. The manifest is written last.
func (d *Doctor) back(ctx context.Context, code string, subjects []string, repairs []*Repair) (*Backup, error) {
	b, err := d.newBackup(code, subjects)
	if err != nil {
		return nil, fmt.Errorf("back up: %w", err)
	}
	for _, rep := range repairs {
		for _, path := range rep.Files {
			if err := d.saveFile(b, path); err != nil {
				return nil, fmt.Errorf("back up %s: %w", path, err)
			}
		}
		for _, name := range rep.Refs {
			if slices.ContainsFunc(b.Refs, func(r savedRef) bool { return r.Name == name }) {
				continue
			}
			oid, err := refNow(ctx, d.Workspace.Repo, name)
			if err != nil {
				return nil, fmt.Errorf("back up %s: %w", name, err)
			}
			b.Refs = append(b.Refs, savedRef{Name: name, Before: oid})
		}
		for _, id := range rep.Checkpoints {
			if !slices.ContainsFunc(b.Checkpoints, func(c savedCheckpoint) bool { return c.ID == id }) {
				b.Checkpoints = append(b.Checkpoints, savedCheckpoint{ID: id})
			}
		}
	}
	tips, stored, err := d.stored(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("back up checkpoints: %w", err)
	}
	for i := range b.Checkpoints {
		b.Checkpoints[i].Before, b.Checkpoints[i].Imported = stored[i].Dir, stored[i].Imported
	}
	commits := tips
	for _, ref := range b.Refs {
		commits = append(commits, ref.Before)
	}
	slices.Sort(commits)
	var updates []git.RefChange
	for i, oid := range slices.Compact(commits) {
		if _, err := d.Workspace.Repo.Commit(ctx, string(oid)); oid != "" && err == nil {
			updates = append(updates, git.RefChange{Name: checkpoint.BackupRefs + b.Name + "/" + strconv.Itoa(i), New: oid})
		}
	}
	if err := git.UpdateRefs(ctx, d.Workspace.Repo, "entire: doctor", updates); err != nil {
		return nil, fmt.Errorf("back up refs: %w", err)
	}
	return b, d.writeBackup(b)
}

// newBackup creates the folder. Two repairs within a second get different names.
func (d *Doctor) newBackup(code string, subjects []string) (*Backup, error) {
	if err := disk.MkdirAll(d.backups(), 0o700); err != nil {
		return nil, err
	}
	now := d.Workspace.Env.Now().UTC()
	b := &Backup{
		Format: manifestFormat, Repository: d.Workspace.Repo.CommonDir, Code: code, Subjects: subjects, Created: now,
		Files: []savedFile{}, Refs: []savedRef{}, Checkpoints: []savedCheckpoint{},
	}
	for n := 1; ; n++ {
		b.Name = now.Format("20060102T150405") + "-" + code
		if n > 1 {
			b.Name += "-" + strconv.Itoa(n)
		}
		err := disk.Step("mkdir", d.folder(b))
		if err == nil {
			err = os.Mkdir(d.folder(b), 0o700)
		}
		if err == nil {
			return b, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
}

func (d *Doctor) saveFile(b *Backup, path string) error {
	if slices.ContainsFunc(b.Files, func(f savedFile) bool { return f.Path == path }) {
		return nil
	}
	saved := savedFile{Path: path}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		if saved.Before, err = os.Readlink(path); err != nil {
			return err
		}
		saved.Mode = info.Mode()
		b.Files = append(b.Files, saved)
		if target, err := filepath.EvalSymlinks(path); err == nil { // writes go through it
			return d.saveFile(b, target)
		}
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w", dirfd.ErrNotRegular)
	default:
		data, err := disk.ReadFile(path)
		if err != nil {
			return err
		}
		saved.Mode, saved.Before, saved.Copy = info.Mode(), disk.Digest(data), strconv.Itoa(len(b.Files))
		if err := disk.WriteDurable(filepath.Join(d.folder(b), saved.Copy), data, 0o600); err != nil {
			return err
		}
	}
	b.Files = append(b.Files, saved)
	return nil
}

// fileNow returns the digest of the current file, empty if it doesn't exist.
func fileNow(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return os.Readlink(path)
	}
	data, err := disk.ReadFile(path)
	return disk.Digest(data), err
}

// stored locates the backup's checkpoints; those that don't exist have no directory. It also returns the
// commits of the branch and of the refs that have them.
func (d *Doctor) stored(ctx context.Context, b *Backup) (tips []git.OID, located []checkpoint.Located, err error) {
	located = make([]checkpoint.Located, len(b.Checkpoints))
	if len(located) == 0 {
		return nil, located, nil
	}
	records, err := d.Workspace.LocalRecords(ctx)
	if err != nil {
		return nil, nil, err
	}
	keep := map[git.OID]bool{}
	for i, c := range b.Checkpoints {
		at, err := records.Locate(ctx, c.ID)
		if errors.Is(err, checkpoint.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		located[i] = at
		ref := checkpoint.MetadataBranch
		switch {
		case at.InRef:
			ref = c.ID.Ref()
		case at.Imported:
			ref = checkpoint.ImportedRef
		}
		tip, found, err := git.RefCommit(ctx, d.Workspace.Repo, ref)
		if err != nil {
			return nil, nil, err
		}
		keep[tip.OID] = found
	}
	return slices.Sorted(maps.Keys(keep)), located, nil
}

// seal records the state after the repair.
func (d *Doctor) seal(ctx context.Context, b *Backup) error {
	var err error
	for i, f := range b.Files {
		if b.Files[i].After, err = fileNow(f.Path); err != nil {
			return err
		}
	}
	for i, ref := range b.Refs {
		if b.Refs[i].After, err = refNow(ctx, d.Workspace.Repo, ref.Name); err != nil {
			return err
		}
	}
	_, stored, err := d.stored(ctx, b)
	if err != nil {
		return err
	}
	for i := range b.Checkpoints {
		b.Checkpoints[i].After = stored[i].Dir
	}
	b.Done = true
	return d.writeBackup(b)
}
