//go:build linux || darwin

package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
)

// What an editor saves between the check of a file and its replacement stays.
func TestRestoreKeepsWhatIsSavedMeanwhile(t *testing.T) { //nolint:paralleltest // it sets a hook of the package
	r := newRig(t)
	for _, name := range []string{"rewritten", "renamed", "plain"} {
		r.write(name, "one")
	}
	r.must(os.Symlink("one", r.path("link")))
	v := r.take()
	for _, name := range []string{"rewritten", "renamed", "plain", "deleted", "deleted-too"} {
		r.write(name, "two")
	}
	r.must(errors.Join(os.Remove(r.path("link")), os.Symlink("two", r.path("link"))))
	end := bands.SetBeforeReplace(func(dir, name string) {
		if dir != r.root || strings.HasPrefix(name, ".entire-tmp-") {
			return
		}
		switch name {
		case "rewritten", "deleted":
			r.write(name, "saved")
		case "renamed", "deleted-too":
			r.write("temp", "saved")
			r.must(os.Rename(r.path("temp"), r.path(name)))
		case "link":
			r.must(errors.Join(os.Remove(r.path(name)), os.Symlink("saved", r.path(name))))
		}
	})
	defer end()
	done, err := r.try(v, bands.Scope{})
	if !errors.Is(err, bands.ErrIncomplete) {
		t.Errorf("%v", err)
	}
	var failed []string
	for _, f := range done.Failed {
		failed = append(failed, f.Path)
	}
	if len(failed) != 5 {
		t.Errorf("failed: %q", failed)
	}
	for _, name := range []string{"rewritten", "deleted", "renamed", "deleted-too"} {
		r.is(name, "saved")
	}
	if to, err := os.Readlink(r.path("link")); err != nil || to != "saved" {
		t.Errorf("%q, %v", to, err)
	}
	r.is("plain", "one")
	if left, _ := filepath.Glob(r.path(".entire-tmp-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A file with its former size and time, but other content, was changed.
func TestRestoreSeesAChangeThatKeepsTheTime(t *testing.T) { //nolint:paralleltest // it sets a hook of the package
	r := newRig(t)
	r.write("file", "one")
	r.write("other", "one")
	v := r.take()
	r.write("file", "two")
	r.write("other", "two")
	end := bands.SetBeforeReplace(func(dir, name string) {
		if dir == r.root && name == "file" { // "other" comes after it
			info, err := os.Stat(r.path("other"))
			r.must(err)
			r.write("other", "own")
			r.must(os.Chtimes(r.path("other"), info.ModTime(), info.ModTime()))
		}
	})
	defer end()
	done, err := r.try(v, bands.Scope{})
	if !errors.Is(err, bands.ErrIncomplete) || len(done.Failed) != 1 {
		t.Errorf("%v: %v", err, done.Failed)
	}
	r.is("file", "one")
	r.is("other", "own")
}

// On a file system that distinguishes case, .GIT and .Entire are the user's.
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
	r.restore(v, bands.Scope{})
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
	in := bands.Scope{Root: r.root, Paths: []string{"dir", "dir/was", "new"}}
	r.must(r.store.CheckPaths(snapshot, in))
	in.Paths = append(in.Paths, "typo", "dir/typo", "new/below")
	missing, ok := errors.AsType[*bands.PathsError](r.store.CheckPaths(snapshot, in))
	if diff := cmp.Diff(&bands.PathsError{Paths: []string{"dir/typo", "new/below", "typo"}, Target: v}, missing); !ok || diff != "" {
		t.Error(diff)
	}
}

// A journal that another version wrote is named, and nothing overwrites it.
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
		j, found := r.store.Interrupted(bands.PlainLineage)
		if !found || !j.Other() {
			t.Errorf("%s: %v, %+v", text, found, j)
		}
		if _, err := r.try(v, bands.Scope{}); !errors.Is(err, bands.ErrOtherJournal) {
			t.Errorf("%s: restore: %v", text, err)
		}
		if _, err := r.undoing(bands.Scope{}); !errors.Is(err, bands.ErrOtherJournal) {
			t.Errorf("%s: undo: %v", text, err)
		}
		r.is("a", "two")
	}
}
