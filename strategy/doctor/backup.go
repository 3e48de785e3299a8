package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	manifestName   = "backup.json"
	manifestFormat = 1
)

// Backup is the state before a repair; docs/formats/doctor.md describes its format.
type Backup struct {
	Format int `json:"format"`
	// Name is the name of the backup's folder, Repository the common git directory.
	Name       string `json:"name"`
	Repository string `json:"repository"`

	Code     string    `json:"code"`
	Subjects []string  `json:"subjects"`
	Created  time.Time `json:"created_at"`
	// Done reports whether the repair was completed, so that the After values are valid.
	Done bool `json:"done"`
	// Undone is the time when the backup was restored.
	Undone      *time.Time        `json:"undone_at,omitempty"`
	Files       []savedFile       `json:"files"`
	Refs        []savedRef        `json:"refs"`
	Checkpoints []savedCheckpoint `json:"checkpoints"`
}

// savedFile is the former state of a file. Before and After are digests, empty for no file; for a
// symbolic link they are its target.
type savedFile struct {
	Path   string      `json:"path"`
	Copy   string      `json:"copy,omitempty"` // in the backup's folder
	Mode   fs.FileMode `json:"mode,omitempty"`
	Before string      `json:"before,omitempty"`
	After  string      `json:"after,omitempty"`
}

// savedRef is the former value of a ref, empty if it didn't exist.
type savedRef struct {
	Name   string  `json:"name"`
	Before git.OID `json:"before,omitempty"`
	After  git.OID `json:"after,omitempty"`
}

// savedCheckpoint is the former tree of a checkpoint.
type savedCheckpoint struct {
	ID     checkpoint.ID `json:"id"`
	Before git.OID       `json:"before,omitempty"`
	After  git.OID       `json:"after,omitempty"`
	// Imported reports that it was on checkpoint.ImportedRef.
	Imported bool `json:"imported,omitempty"`
}

// backups returns the folder of all backups.
func (d *Doctor) backups() string { return workspace.BackupDir(d.Workspace.Repo) }

func (d *Doctor) folder(b *Backup) string { return filepath.Join(d.backups(), b.Name) }

// Backups returns the backups of repairs, oldest first. It skips those that can't be read.
func (d *Doctor) Backups() []Backup {
	entries, err := os.ReadDir(d.backups())
	if err != nil {
		return nil
	}
	var list []Backup
	for _, entry := range entries {
		if b, err := d.readBackup(entry.Name()); err == nil {
			list = append(list, b)
		}
	}
	slices.SortStableFunc(list, func(a, b Backup) int { return a.Created.Compare(b.Created) })
	return list
}

func (d *Doctor) readBackup(name string) (Backup, error) {
	var b Backup
	found, err := disk.ReadJSON(filepath.Join(d.backups(), name, manifestName), &b)
	if err == nil && !found {
		return b, fs.ErrNotExist
	}
	if err != nil || b.Format != manifestFormat || b.Name != name {
		return b, errors.Join(fmt.Errorf("backup %s can't be read", name), err)
	}
	return b, nil
}

func (d *Doctor) writeBackup(b *Backup) error {
	return disk.WriteJSON(filepath.Join(d.folder(b), manifestName), b)
}

// keep is the time for which a backup is kept.
const keep = 30 * 24 * time.Hour

// prune removes old backups. It removes the refs first: once the folder is removed nothing names
// them.
func (d *Doctor) prune(ctx context.Context) error {
	entries, _ := os.ReadDir(d.backups()) // there may be none
	for _, entry := range entries {
		b, err := d.readBackup(entry.Name())
		if info, failed := entry.Info(); err != nil && failed == nil { // it was not completed
			b = Backup{Name: entry.Name(), Created: info.ModTime()}
		}
		if !entry.IsDir() || d.Workspace.Env.Now().Sub(b.Created) < keep {
			continue
		}
		refs, err := git.ListRefs(ctx, d.Workspace.Repo, checkpoint.BackupRefs+b.Name+"/")
		if err != nil {
			return err
		}
		if err := git.Remove(ctx, d.Workspace.Repo, "entire: doctor", refs); err != nil {
			return err
		}
		if err := disk.RemoveAll(d.folder(&b)); err != nil {
			return err
		}
	}
	return nil
}
