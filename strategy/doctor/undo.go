package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// undoCode is the code of the backups made by Undo.
const undoCode = "undo"

// ErrNoBackup means that there is no such backup, or that all backups have been undone.
var ErrNoBackup = errors.New("no repair to undo")

// ChangedError lists what has changed since a repair. Undoing the repair would lose these changes.
type ChangedError struct {
	Backup string
	Items  []string
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: changed since the repair: %s", e.Backup, some(e.Items))
}

// UndoOptions are the options of an undo.
type UndoOptions struct {
	// Name is the name of the backup; empty for the newest that isn't undone.
	Name string
	// Force restores items that have changed since the repair, too.
	Force bool
}

// Undo restores the state before a repair: files and refs directly, and checkpoints by a commit on
// their branch, which doesn't change other checkpoints. The current state is backed up, so that an
// undo can be undone by its name. If something has changed since the repair it returns a
// *ChangedError and changes nothing.
func (d *Doctor) Undo(ctx context.Context, o UndoOptions) (undone Backup, err error) {
	err = d.Workspace.WithLock(ctx, func() error {
		if undone, err = d.findBackup(o.Name); err != nil {
			return err
		}
		if undone.Repository != d.Workspace.Repo.CommonDir {
			return fmt.Errorf("backup %s was made when the repository was in %s", undone.Name, undone.Repository)
		}
		if err := d.unchanged(ctx, &undone); err != nil && !o.Force {
			return err
		}
		all := &Repair{}
		for _, f := range undone.Files {
			all.Files = append(all.Files, f.Path)
		}
		for _, ref := range undone.Refs {
			all.Refs = append(all.Refs, ref.Name)
		}
		for _, c := range undone.Checkpoints {
			all.Checkpoints = append(all.Checkpoints, c.ID)
		}
		now, err := d.back(ctx, undoCode, []string{undone.Name}, []*Repair{all})
		if err != nil {
			return err
		}
		if err := d.putCheckpoints(ctx, &undone); err != nil {
			return fmt.Errorf("restore checkpoints: %w", err)
		}
		// Restore refs before files: a broken ref can't be written by git, and is restored as a
		// file.
		if err := d.putRefs(ctx, &undone, now); err != nil {
			return fmt.Errorf("restore refs: %w", err)
		}
		for _, f := range undone.Files {
			if err := d.putFile(&undone, f); err != nil {
				return fmt.Errorf("restore %s: %w", f.Path, err)
			}
		}
		at := d.Workspace.Env.Now().UTC()
		undone.Undone = &at
		return errors.Join(d.seal(ctx, now), d.writeBackup(&undone))
	})
	return undone, err
}

func (d *Doctor) findBackup(name string) (Backup, error) {
	if name != "" {
		if name[0] == '.' || filepath.Base(name) != name {
			return Backup{}, fmt.Errorf("%q: %w", name, ErrNoBackup)
		}
		b, err := d.readBackup(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: %w", name, ErrNoBackup)
		}
		return b, err
	}
	var newest Backup
	for _, b := range d.Backups() {
		if b.Undone == nil && b.Code != undoCode {
			newest = b
		}
	}
	if newest.Name == "" {
		return newest, ErrNoBackup
	}
	return newest, nil
}

// unchanged compares the current state with that after the repair. It returns an error for a repair
// that was interrupted, because its result is not recorded.
func (d *Doctor) unchanged(ctx context.Context, b *Backup) error {
	if !b.Done {
		return &ChangedError{b.Name, []string{"the repair was interrupted"}}
	}
	var items []string
	for _, f := range b.Files {
		if now, err := fileNow(f.Path); err != nil || now != f.After {
			items = append(items, f.Path)
		}
	}
	for _, ref := range b.Refs {
		if now, err := refNow(ctx, d.Workspace.Repo, ref.Name); err != nil || now != ref.After {
			items = append(items, ref.Name)
		}
	}
	_, stored, err := d.stored(ctx, b)
	if err != nil {
		return err
	}
	for i, c := range b.Checkpoints {
		if stored[i].Dir != c.After {
			items = append(items, string(c.ID))
		}
	}
	if len(items) > 0 {
		return &ChangedError{b.Name, items}
	}
	return nil
}

// putCheckpoints restores the backup's checkpoints, each by a commit.
func (d *Doctor) putCheckpoints(ctx context.Context, b *Backup) error {
	if len(b.Checkpoints) == 0 {
		return nil
	}
	changes := make([]checkpoint.Change, len(b.Checkpoints))
	for i, c := range b.Checkpoints {
		changes[i] = checkpoint.Change{ID: c.ID, Imported: c.Imported, Next: func(context.Context, checkpoint.Present) (git.OID, string, error) {
			return c.Before, "Undo repair " + b.Name + "\n", nil
		}}
	}
	return d.Workspace.UpdateRecords(ctx, changes)
}

// putRefs restores the backup's refs. now is the backup of the current state.
func (d *Doctor) putRefs(ctx context.Context, b, now *Backup) error {
	var updates []git.RefChange
	for i, ref := range b.Refs {
		is, to := now.Refs[i].Before, ref.Before
		if _, err := d.Workspace.Repo.Commit(ctx, string(to)); to != "" && errors.Is(err, git.ErrMissing) {
			to = "" // it was broken: its file is restored
		}
		if is != to {
			updates = append(updates, git.RefChange{Name: ref.Name, New: to, Old: is})
		}
	}
	return git.UpdateRefs(ctx, d.Workspace.Repo, "entire: undo repair", updates)
}

func (d *Doctor) putFile(b *Backup, f savedFile) error {
	now, err := fileNow(f.Path)
	mode := fs.FileMode(0) // zero for no file
	if info, failed := os.Lstat(f.Path); failed == nil {
		mode = info.Mode()
	}
	switch {
	case err != nil:
		return err
	case now == f.Before && f.Mode == mode:
		return nil
	case f.Before == "":
		return disk.Remove(f.Path)
	case f.Mode&fs.ModeSymlink != 0:
		if err := disk.Remove(f.Path); err != nil {
			return err
		}
		return os.Symlink(f.Before, f.Path)
	}
	data, err := disk.ReadFile(filepath.Join(d.folder(b), f.Copy))
	if err != nil {
		return err
	}
	if disk.Digest(data) != f.Before {
		return fmt.Errorf("its copy in %s has changed", d.folder(b))
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	return disk.WriteDurable(f.Path, data, f.Mode.Perm())
}
