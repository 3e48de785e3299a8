//go:build linux || darwin

package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
)

// On a case-sensitive file system, .GIT and .Entire are the user's files.
func TestRestoreOfNamesLikeGit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(".git/HEAD", "ref")
	if _, err := os.Lstat(r.path(".GIT")); err == nil {
		t.Skip("this file system ignores case")
	}
	r.write(".GIT/x", "one")
	r.write(".Entire", "one")
	r.write(".Git", "one")
	v := r.take()
	r.remove(".GIT")
	r.write(".Entire", "two")
	r.remove(".Git")
	r.write(".git/HEAD", "two")
	r.restore(v, restore.Scope{})
	r.is(".GIT/x", "one")
	r.is(".Entire", "one")
	r.is(".Git", "one")
	r.is(".git/HEAD", "two")
}

func TestMissingPaths(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("dir/was", "x")
	v := r.take()
	r.remove("dir/was")
	r.write("new", "x")
	snapshot, err := r.store.Snapshot(v)
	r.must(err)
	in := restore.Scope{Root: r.root, Paths: []string{"dir", "dir/was", "new"}}
	r.must(restore.CheckPaths(r.store, snapshot, in))
	in.Paths = append(in.Paths, "typo", "dir/typo", "new/below")
	missing, ok := errors.AsType[*restore.PathsError](restore.CheckPaths(r.store, snapshot, in))
	if diff := cmp.Diff(&restore.PathsError{Paths: []string{"dir/typo", "new/below", "typo"}, Target: v}, missing); !ok || diff != "" {
		t.Error(diff)
	}
}

// A journal written by another version is reported and not overwritten.
func TestJournalOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"format":7,"op":"restore","lineage":"` + bands.PlainLineage + `","target":1}`,
		`{"format":7,"op":["other"],"lineage":"` + bands.PlainLineage + `"}`,
		`what is this`,
	} {
		r := newRig(t)
		r.write("a", "one")
		v := r.take()
		r.write("a", "two")
		path := filepath.Join(r.store.Dir(), "journal-"+bands.PlainLineage+".json")
		r.must(os.WriteFile(path, []byte(text), 0o600))
		j, found := bands.InterruptedRestore(r.store, bands.PlainLineage)
		if !found || !j.Other() {
			t.Errorf("%s: %v, %+v", text, found, j)
		}
		if _, err := r.try(v, restore.Scope{}); !errors.Is(err, bands.ErrOtherJournal) {
			t.Errorf("%s: restore: %v", text, err)
		}
		if _, err := r.tryUndo(restore.Scope{}); !errors.Is(err, bands.ErrOtherJournal) {
			t.Errorf("%s: undo: %v", text, err)
		}
		r.is("a", "two")
	}
}
