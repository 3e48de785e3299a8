package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Stored is an object of the repository without its content.
type Stored struct {
	OID  OID
	Type string
	Size int64
}

// AllObjects lists every object that is stored, whether anything refers to it or
// not, those of alternates included.
func (r *Repo) AllObjects(ctx context.Context) ([]Stored, error) {
	out, err := r.Run(ctx, "cat-file", "--batch-all-objects", "--batch-check", "--buffer", "--unordered")
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	var list []Stored
	for line := range strings.Lines(string(out)) {
		const words = 3
		f := strings.Fields(line)
		if len(f) != words || !r.Format.Valid(OID(f[0])) {
			continue // a damaged one
		}
		size, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("list objects: unknown line %q", line)
		}
		list = append(list, Stored{OID(f[0]), f[1], size})
	}
	return list, nil
}

// Reachable returns every object that the revisions reach; they may be what git
// rev-list takes for them: --all, --reflog. Objects that are missing are left out.
func (r *Repo) Reachable(ctx context.Context, revs ...string) (map[OID]bool, error) {
	args := append([]string{"rev-list", "--objects", "--no-object-names", "--missing=allow-any"}, revs...)
	out, err := r.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list reachable objects: %w", err)
	}
	set := map[OID]bool{}
	for line := range strings.Lines(string(out)) {
		set[OID(strings.TrimSpace(line))] = true
	}
	return set, nil
}

// IsLoose reports whether the object is there as a file of its own.
func (r *Repo) IsLoose(oid OID) bool {
	if !r.Format.Valid(oid) {
		return false
	}
	_, err := os.Lstat(r.loosePath(oid))
	return err == nil
}

// RemoveLoose deletes the files of objects, those that have one. That nothing
// refers to them is for the caller to know.
func (r *Repo) RemoveLoose(oids []OID) error {
	for _, oid := range oids {
		if !r.Format.Valid(oid) {
			return fmt.Errorf("remove object: %q is no object id", oid)
		}
		path := r.loosePath(oid)
		if !r.IsLoose(oid) {
			continue
		}
		if err := disk.Step("remove", path); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove object %s: %w", oid, err)
		}
		r.treeMu.Lock()
		delete(r.trees, oid)
		r.treeMu.Unlock()
	}
	return nil
}
