//go:build linux || darwin

package bands_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
)

// A turn that deletes, rewrites, renames and installs files is undone completely, and the
// restore is undone and redone.
func TestRestoreUndoAndRedo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(".env", "SECRET=1")
	r.write("src/a.go", "package a")
	r.write("src/b.go", "package b")
	r.write("node_modules/x/index.js", "x")
	v := r.take()
	r.remove(".env")
	r.write("src/a.go", "broken")
	r.remove("node_modules")
	r.write("node_modules/y/index.js", "y")
	r.write("new.txt", "new")

	want := []string{"create .env", "delete new.txt", "create node_modules/x", "create node_modules/x/index.js", "delete node_modules/y", "delete node_modules/y/index.js", "rewrite src/a.go"}
	if diff := cmp.Diff(want, steps(r.plan(v, restore.Scope{}))); diff != "" {
		t.Error(diff)
	}
	r.is("new.txt", "new") // a plan changes nothing
	done := r.restore(v, restore.Scope{})
	if done.Verified != 3 {
		t.Errorf("%d files were verified", done.Verified)
	}
	after := func() {
		t.Helper()
		r.is(".env", "SECRET=1")
		r.is("src/a.go", "package a")
		r.is("node_modules/x/index.js", "x")
		r.is("node_modules/y/index.js", "")
		r.is("new.txt", "")
	}
	before := func() {
		t.Helper()
		r.is(".env", "")
		r.is("src/a.go", "broken")
		r.is("node_modules/x/index.js", "")
		r.is("node_modules/y/index.js", "y")
		r.is("new.txt", "new")
	}
	after()
	for range 2 {
		r.run(restore.Undo)
		before()
		r.run(restore.Redo)
		after()
	}
	r.run(restore.Undo)
	h := r.hold()
	defer func() { r.must(h.Release()) }()
	if _, err := restore.Undo(t.Context(), h, restore.Options{Options: r.opts}); !errors.Is(err, bands.ErrNoHistory) {
		t.Errorf("one undo too many: %v", err)
	}
}

// run runs Undo, Redo or Finish, which must succeed.
func (r *rig) run(do func(context.Context, *bands.Held, restore.Options) (restore.Result, error)) restore.Result {
	r.t.Helper()
	h := r.hold()
	done, err := do(r.t.Context(), h, restore.Options{Options: r.opts})
	r.must(errors.Join(err, h.Release()))
	return done
}

func TestRestoreRewritesOnlyChangedFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("same", "same")
	r.write("dir/other", "one")
	v := r.take()
	same, err := os.Stat(r.path("same"))
	r.must(err)
	r.write("dir/other", "two")
	r.restore(v, restore.Scope{})
	now, err := os.Stat(r.path("same"))
	r.must(err)
	if !os.SameFile(same, now) || !same.ModTime().Equal(now.ModTime()) {
		t.Error("a file that did not differ was written")
	}
	r.is("dir/other", "one")
}

func TestRestoreOfAttributes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("run.sh", "#!/bin/sh")
	old := time.Date(1985, 3, 4, 5, 6, 7, 89, time.UTC)
	r.must(errors.Join(os.Chmod(r.path("run.sh"), 0o754), os.Chtimes(r.path("run.sh"), old, old)))
	r.write("dir/file", "x")
	r.must(os.Chtimes(r.path("dir"), old, old))
	v := r.take()
	r.must(errors.Join(os.Chmod(r.path("run.sh"), 0o600), os.Chmod(r.path("dir"), 0o700)))
	r.write("dir/more", "y")
	before, err := os.Stat(r.path("run.sh"))
	r.must(err)
	if diff := cmp.Diff([]string{"attributes dir", "delete dir/more", "attributes run.sh"}, steps(r.plan(v, restore.Scope{}))); diff != "" {
		t.Error(diff)
	}
	r.restore(v, restore.Scope{})
	for name, mode := range map[string]os.FileMode{"run.sh": 0o754, "dir": os.ModeDir | 0o755} {
		info, err := os.Stat(r.path(name))
		r.must(err)
		if info.Mode() != mode || !info.ModTime().Equal(old) {
			t.Errorf("%s has %v of %v", name, info.Mode(), info.ModTime())
		}
	}
	if after, err := os.Stat(r.path("run.sh")); err != nil || !os.SameFile(before, after) {
		t.Error("a file was rewritten for its attributes")
	}
}

// A restore must not write through a tracked link that leads out of the tree.
func TestRestoreNeverFollowsSymlinks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	outside := filepath.Join(t.TempDir(), "outside")
	r.must(os.Mkdir(outside, 0o755))
	r.must(os.WriteFile(filepath.Join(outside, "file"), []byte("theirs"), 0o644))
	r.write("dir/file", "ours")
	r.write("plain", "ours")
	r.must(os.Symlink("/nowhere", r.path("link")))
	v := r.take()
	r.remove("dir")
	r.remove("plain")
	r.remove("link")
	r.must(errors.Join(os.Symlink(outside, r.path("dir")), os.Symlink(filepath.Join(outside, "file"), r.path("plain")), os.Symlink(outside, r.path("link"))))
	r.restore(v, restore.Scope{})
	r.is("dir/file", "ours")
	r.is("plain", "ours")
	if got, err := os.Readlink(r.path("link")); err != nil || got != "/nowhere" {
		t.Errorf("the link leads to %q, %v", got, err)
	}
	if info, err := os.Lstat(r.path("plain")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
	if got, err := os.ReadFile(filepath.Join(outside, "file")); err != nil || string(got) != "theirs" {
		t.Errorf("the file outside is %q, %v", got, err)
	}
	r.run(restore.Undo)
	if got, err := os.Readlink(r.path("dir")); err != nil || got != outside {
		t.Errorf("the undone link leads to %q, %v", got, err)
	}
}

func TestRestoreKeepsUnknownPaths(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("dir/file", "one")
	r.write("was", "a file")
	v := r.take()
	r.remove("was")
	r.write("new/file", "two")
	for _, name := range []string{"was", "new/socket"} {
		if err := syscall.Mknod(r.path(name), syscall.S_IFSOCK|0o644, 0); err != nil {
			t.Skip("a socket can't be made here:", err)
		}
	}
	planned := r.plan(v, restore.Scope{})
	if diff := cmp.Diff([]string{"new/socket", "was"}, planned.Unknown); diff != "" {
		t.Error(diff)
	}
	r.restore(v, restore.Scope{})
	for _, name := range []string{"was", "new/socket"} {
		if info, err := os.Lstat(r.path(name)); err != nil || info.Mode().Type() != os.ModeSocket {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	r.is("new/file", "")
}

func TestRestoreKeepsPathsLeftOutOfTarget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("cache/big", "one")
	r.opts.Exclude = []string{"cache/"}
	v := r.take()
	r.opts.Exclude = nil
	r.write("cache/big", "two")
	planned := r.plan(v, restore.Scope{})
	if diff := cmp.Diff([]string{"cache"}, planned.Unknown); diff != "" || !planned.Empty() {
		t.Error(diff, steps(planned))
	}
	r.restore(v, restore.Scope{})
	r.is("cache/big", "two")
}

func TestRestoreKeepsLaterFilesIfAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "1")
	v := r.take()
	r.write("agent/made", "2")
	r.write("mine/notes", "3")
	r.write("mine/more", "4")
	r.write("both/made", "5")
	r.write("both/notes", "6")
	in := restore.Scope{Delete: func(path string, _ band.Entry) bool { return strings.HasSuffix(path, "made") }}
	planned := r.plan(v, in)
	if diff := cmp.Diff([]string{"both/notes", "mine"}, planned.Kept); diff != "" {
		t.Error(diff)
	}
	r.restore(v, in)
	r.is("mine/notes", "3")
	r.is("both/notes", "6")
	r.is("both/made", "")
	if _, err := os.Lstat(r.path("agent")); err == nil {
		t.Error("the emptied directory is still there")
	}
}

func TestRestoreOfPaths(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "1")
	r.write("dir/b", "1")
	r.write("dir/deep/c", "1")
	v := r.take()
	for _, name := range []string{"a", "dir/b", "dir/d"} {
		r.write(name, "2")
	}
	r.remove("dir/deep")
	r.restore(v, restore.Scope{Paths: []string{"dir/deep/c", "./a"}})
	r.is("a", "1")
	r.is("dir/b", "2")
	r.is("dir/d", "2")
	r.is("dir/deep/c", "1")
	if planned := r.plan(v, restore.Scope{Paths: []string{"nowhere", "a"}}); !planned.Empty() {
		t.Errorf("%+v", planned)
	}
	for _, bad := range []string{"../x", "/etc/passwd", "a/../../b", ""} {
		if _, err := r.try(v, restore.Scope{Paths: []string{bad}}); err == nil {
			t.Errorf("%q was taken for a path of the tree", bad)
		}
	}
	r.run(restore.Undo)
	r.is("a", "2")
	r.is("dir/deep/c", "")
}

func TestRestoreKeepsNestedRepositoriesUnlessAsked(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]struct {
		scope restore.Scope
		want  string
	}{
		"by itself": {restore.Scope{}, "2"},
		"asked":     {restore.Scope{Nested: true}, "1"},
		"named":     {restore.Scope{Paths: []string{"vendor/lib"}}, "1"},
		"above":     {restore.Scope{Paths: []string{"vendor"}}, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("vendor/lib/.git/HEAD", "ref")
			r.write("vendor/lib/code", "1")
			v := r.take()
			r.write("vendor/lib/code", "2")
			r.write("fresh/.git/HEAD", "ref")
			r.write("fresh/work", "mine")
			planned := r.plan(v, in.scope)
			r.restore(v, in.scope)
			r.is("vendor/lib/code", in.want)
			if name == "by itself" {
				r.is("fresh/work", "mine")
				if diff := cmp.Diff([]string{"fresh", "vendor/lib"}, planned.Nested); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestRestoreKeepsAgentSettingsUnlessNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(".claude/settings.json", "1")
	r.write(".git/HEAD", "1")
	r.write(".entire/settings.json", "1")
	v := r.take()
	for _, name := range []string{".claude/settings.json", ".git/HEAD", ".entire/settings.json"} {
		r.write(name, "2")
	}
	planned := r.plan(v, restore.Scope{})
	if diff := cmp.Diff([]string{".claude"}, planned.Unnamed); diff != "" || !planned.Empty() {
		t.Error(diff, steps(planned))
	}
	r.restore(v, restore.Scope{Nested: true})
	r.is(".claude/settings.json", "2")
	r.restore(v, restore.Scope{Paths: []string{".claude"}})
	r.is(".claude/settings.json", "1")
	r.is(".git/HEAD", "2")
	r.is(".entire/settings.json", "2")
}

// A snapshot taken before a path was hidden must not restore the path.
func TestRestoreNeverTouchesGit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(".git/HEAD", "old")
	r.opts.Hidden = nil
	v := r.take()
	r.opts.Hidden = []string{".git", ".entire"}
	r.write(".git/HEAD", "new")
	r.restore(v, restore.Scope{Nested: true})
	r.is(".git/HEAD", "new")
	r.restore(v, restore.Scope{Paths: []string{".git"}})
	r.is(".git/HEAD", "new")
}

func TestRestoreOfChangedKinds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("file", "1")
	r.write("dir/a/b", "1")
	r.must(os.Symlink("file", r.path("link")))
	v := r.take()
	r.remove("file")
	r.write("file/now/a/dir", "2")
	r.remove("dir")
	r.must(os.Symlink("elsewhere", r.path("dir")))
	r.remove("link")
	r.write("link", "now a file")
	r.restore(v, restore.Scope{})
	r.is("file", "1")
	r.is("dir/a/b", "1")
	if got, err := os.Readlink(r.path("link")); err != nil || got != "file" {
		t.Errorf("%q, %v", got, err)
	}
	r.run(restore.Undo)
	r.is("file/now/a/dir", "2")
	r.is("link", "now a file")
}

func TestRestoreOfHardLinks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "shared")
	r.must(errors.Join(os.Mkdir(r.path("d"), 0o755), os.Link(r.path("a"), r.path("d/b")), os.Link(r.path("a"), r.path("c"))))
	r.write("x", "own")
	r.write("y", "own")
	stamp := time.Unix(1_600_000_000, 5)
	r.must(errors.Join(os.Chtimes(r.path("x"), stamp, stamp), os.Chtimes(r.path("y"), stamp, stamp)))
	v := r.take()
	r.remove("d/b")
	r.write("d/b", "rewritten")
	r.remove("c")
	r.remove("y")
	r.must(os.Link(r.path("x"), r.path("y")))
	r.restore(v, restore.Scope{})
	same := func(one, two string) bool {
		i, err := os.Lstat(r.path(one))
		r.must(err)
		j, err := os.Lstat(r.path(two))
		r.must(err)
		return os.SameFile(i, j)
	}
	if !same("a", "d/b") || !same("a", "c") || same("x", "y") {
		t.Error("the names are not joined as they were")
	}
	r.is("d/b", "shared")
	r.is("y", "own")
	if diff := cmp.Diff([]string(nil), steps(r.plan(v, restore.Scope{}))); diff != "" {
		t.Errorf("something is left to do: %s", diff)
	}
}

// The attributes of a file with a hard link outside the tree are not changed there.
func TestRestoreKeepsLinksOutsideTree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "1")
	v := r.take()
	outside := filepath.Join(filepath.Dir(r.root), "outside")
	r.must(errors.Join(os.Link(r.path("a"), outside), os.Chmod(outside, 0o600)))
	r.restore(v, restore.Scope{})
	if info, err := os.Stat(outside); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(r.path("a")); err != nil || info.Mode() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestRestoreOfMissingVersion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "1")
	r.take()
	if _, err := r.try(99, restore.Scope{}); !errors.Is(err, bands.ErrNoSnapshot) {
		t.Error(err)
	}
	if versions, err := r.store.Versions(); err != nil || len(versions) != 1 {
		t.Errorf("a rescue was taken for nothing: %v, %v", versions, err)
	}
}

func TestRestoreRemovesLeftovers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"dir/a", "dir/b", "dir/c", "dir/d"} {
		r.write(name, "1")
	}
	v := r.take()
	r.write("dir/a", "2")
	r.write("dir/b", "2")
	r.interrupt(v)
	r.write("other/.entire-tmp-0123456789abcdef", "half")
	r.write("dir/.entire-tmp-notours", "mine")
	r.run(restore.Finish)
	r.is("other/.entire-tmp-0123456789abcdef", "")
	r.is("dir/.entire-tmp-notours", "mine")
	r.is("dir/a", "1")
	r.is("dir/b", "1")
}

// With PresentTime, a file with older content is newer than the files built from it.
func TestRestoreWithPresentTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old := time.Date(2020, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, name := range []string{"main.c", "touched.c", "gone.c", "moded.c"} {
		r.write(name, "good")
		r.must(os.Chtimes(r.path(name), old, old))
	}
	v := r.take()
	began := time.Now().Add(-time.Second)
	r.write("main.c", "bad")
	r.must(os.Chtimes(r.path("main.c"), old, old))
	r.must(os.Chtimes(r.path("touched.c"), began, began))
	r.must(os.Chmod(r.path("moded.c"), 0o600))
	r.remove("gone.c")
	in := restore.Scope{PresentTime: true}
	if diff := cmp.Diff([]string{"create gone.c", "rewrite main.c", "attributes moded.c"}, steps(r.plan(v, in))); diff != "" {
		t.Error(diff)
	}
	r.restore(v, in)
	for name, fresh := range map[string]bool{"main.c": true, "touched.c": true, "gone.c": true, "moded.c": false} {
		r.is(name, "good")
		info, err := os.Stat(r.path(name))
		r.must(err)
		if got := !info.ModTime().Before(began); got != fresh {
			t.Errorf("%s has the time %v", name, info.ModTime())
		}
	}
	if again := r.plan(v, in); !again.Empty() {
		t.Errorf("there would be more to do: %q", steps(again))
	}
	done := r.undo(in)
	r.is("main.c", "bad")
	if len(done.Plan.ChangedSince) > 0 {
		t.Errorf("changed since: %q", done.Plan.ChangedSince)
	}
}
