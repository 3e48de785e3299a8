package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// nobody is a user without files, for tests that don't work as root: root may write read-only
// files.
const nobody = 65534

// TestAttackReadOnlyParts: a part of the git directory or of the worktree that its owner can't
// write.
func TestAttackReadOnlyParts(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "a repository for each part")
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	var all []siege
	for _, c := range []struct {
		path        string
		locked      bool
		uncommitted bool
	}{
		{path: ".git", uncommitted: true},
		{path: ".git/objects", uncommitted: true},
		{path: ".git/refs", uncommitted: true},
		{path: ".git/refs/heads", uncommitted: true},
		{path: ".git/logs", uncommitted: true},
		{path: ".git/HEAD"},
		{path: ".git/index"},
		{path: ".git/config"},
		{path: ".git/hooks"},
		{path: ".git/COMMIT_EDITMSG", uncommitted: true},
		{path: ".git/refs/heads/entire", locked: true},
		{path: ".git/entire", locked: true},
		{path: ".git/entire/lock", locked: true},
		{path: ".git/entire/store"},
		{path: ".git/entire/store/checkpoints"},
		{path: ".git/entire/backup"},
		{path: ".git/entire-sessions", locked: true},
		{path: ".git/entire-sessions/side", locked: true},
		{path: ".entire"},
		{path: ".claude"},
	} {
		all = append(all, siege{
			name: strings.TrimPrefix(c.path, "."), locked: c.locked, uncommitted: c.uncommitted,
			set: func(t *testing.T, p *play) func() {
				t.Helper()
				return p.readOnly(t, c.path)
			},
		})
	}
	withstandAll(t, attackTries(4), all)
}

// readOnly removes the write permission from a path and everything below it; lift restores the
// modes.
func (p *play) readOnly(t *testing.T, path string) (lift func()) {
	t.Helper()
	modes := map[string]fs.FileMode{}
	err := filepath.WalkDir(p.Path(path), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Type() != fs.ModeSymlink {
			modes[path] = info.Mode().Perm()
			err = os.Chmod(path, info.Mode().Perm()&^0o222)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		for path, mode := range modes {
			if err := os.Chmod(path, mode); err != nil && !os.IsNotExist(err) {
				t.Error(err)
			}
		}
	}
}

// asNobody runs the test again as a user who is subject to file modes.
func asNobody(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "as-nobody-") //nolint:usetesting // nobody can't enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "entire.test")
	// A child copies it: a process that another test starts at the same time would inherit the
	// open file, and a program that is open for writing can't be run.
	if out, err := exec.Command("cp", self, program).CombinedOutput(); err != nil {
		t.Fatalf("copy the test: %v\n%s", err, out)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as user %d: %v\n%s", nobody, err, out)
	}
}
