package bands_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands/apply"
	"github.com/seed-3aff656d/entire/bands/plan"
)

const (
	accessACL  = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"
)

// acl is an access list: owner rwx, user 1000 rw, group r, mask rw, others none.
func acl() []byte {
	const none = 0xffffffff
	var b bytes.Buffer
	b.Write([]byte{2, 0, 0, 0})
	for _, e := range [][3]uint32{{1, 7, none}, {2, 6, 1000}, {4, 4, none}, {0x10, 6, none}, {0x20, 0, none}} {
		b.Write([]byte{byte(e[0]), 0, byte(e[1]), 0, byte(e[2]), byte(e[2] >> 8), byte(e[2] >> 16), byte(e[2] >> 24)})
	}
	return b.Bytes()
}

// A restored file has no ACL that only its directory gives.
func TestRestoreRemovesInheritedACLs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("dir/secret", "one")
	r.write("dir/sub/deep", "one")
	r.must(os.Chmod(r.path("dir/secret"), 0o664))
	if err := unix.Setxattr(r.path("dir"), defaultACL, acl(), 0); err != nil {
		t.Skip("no ACLs here:", err)
	}
	v := r.take()
	r.write("dir/secret", "two")
	r.remove("dir/sub")
	r.restore(v, plan.Scope{})
	for _, name := range []string{"dir/secret", "dir/sub/deep", "dir/sub"} {
		for _, attr := range []string{accessACL, defaultACL} {
			if n, err := unix.Getxattr(r.path(name), attr, make([]byte, 256)); err == nil {
				t.Errorf("%s has %s of %d bytes", name, attr, n)
			}
		}
	}
	info, err := os.Stat(r.path("dir/secret"))
	r.must(err)
	if info.Mode().Perm() != 0o664 {
		t.Errorf("mode %v", info.Mode())
	}
	if planned := r.plan(v, plan.Scope{}); !planned.Empty() {
		t.Errorf("still to do: %q", steps(planned))
	}
}

// In an append-only folder nothing can be replaced, and nothing is left.
func TestRestoreInAnAppendOnlyFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("dir/file", "one")
	r.write("dir/gone", "one")
	v := r.take()
	r.write("dir/file", "two")
	r.remove("dir/gone")
	r.write("dir/new", "two")
	if !r.flag("dir", 0x20 /* FS_APPEND_FL */) {
		t.Skip("folders can't be made append-only here")
	}
	done, err := r.try(v, plan.Scope{})
	if !r.flag("dir", 0) {
		t.Fatal("the flag can't be removed")
	}
	if !errors.Is(err, apply.ErrIncomplete) || len(done.Failed) < 2 {
		t.Errorf("%v: %v", err, done.Failed)
	}
	r.is("dir/file", "two")
	r.is("dir/gone", "one")
	r.is("dir/new", "two")
	if left, _ := filepath.Glob(r.path("dir/.entire-tmp-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// flag sets the flags of a folder, and reports whether that worked.
func (r *rig) flag(name string, flags int) bool {
	r.t.Helper()
	f, err := os.Open(r.path(name))
	r.must(err)
	defer func() { _ = f.Close() }()
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags) == nil
}
