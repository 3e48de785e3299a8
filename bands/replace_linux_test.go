package bands_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands/restore"
)

const (
	accessACL  = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"
)

// acl returns an ACL: owner rwx, user 1000 rw, group r, mask rw, others none.
func acl() []byte {
	const none = 0xffffffff
	var b bytes.Buffer
	b.Write([]byte{2, 0, 0, 0})
	for _, e := range [][3]uint32{{1, 7, none}, {2, 6, 1000}, {4, 4, none}, {0x10, 6, none}, {0x20, 0, none}} {
		b.Write([]byte{byte(e[0]), 0, byte(e[1]), 0, byte(e[2]), byte(e[2] >> 8), byte(e[2] >> 16), byte(e[2] >> 24)})
	}
	return b.Bytes()
}

// A restored file doesn't have the ACL that it inherited from its directory.
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
	r.restore(v, restore.Scope{})
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
	if planned := r.plan(v, restore.Scope{}); !planned.Empty() {
		t.Errorf("still to do: %q", steps(planned))
	}
}

// In an append-only folder, a restore replaces nothing and leaves no temporary files.
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
	done, err := r.try(v, restore.Scope{})
	if !r.flag("dir", 0) {
		t.Fatal("the flag can't be removed")
	}
	if !errors.Is(err, restore.ErrIncomplete) || len(done.Failed) < 2 {
		t.Errorf("%v: %v", err, done.Failed)
	}
	r.is("dir/file", "two")
	r.is("dir/gone", "one")
	r.is("dir/new", "two")
	if left, _ := filepath.Glob(r.path("dir/.entire-tmp-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A replaced file keeps the flags set by chattr.
func TestRestoreKeepsFlags(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("file", "one")
	v := r.take()
	r.write("file", "two")
	const noDump = 0x40
	if !r.flag("file", noDump) {
		t.Skip("files have no flags here")
	}
	done := r.restore(v, restore.Scope{})
	r.is("file", "one")
	f, err := os.Open(r.path("file"))
	r.must(err)
	got, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	r.must(errors.Join(err, f.Close()))
	if got&noDump == 0 || len(done.Unset) > 0 {
		t.Errorf("flags %#x, unset %v", got, done.Unset)
	}
}

// Immutable and append-only files are reported and stay unchanged.
func TestRestoreReportsImmutableFiles(t *testing.T) {
	t.Parallel()
	for _, flag := range []int{0x10 /* FS_IMMUTABLE_FL */, 0x20 /* FS_APPEND_FL */} {
		r := newRig(t)
		r.write("changed", "one")
		r.write("other", "one")
		v := r.take()
		r.write("changed", "two")
		r.write("new", "two")
		r.write("other", "two")
		if !r.flag("changed", flag) || !r.flag("new", flag) {
			t.Skip("files can't be made immutable here")
		}
		done, err := r.try(v, restore.Scope{})
		if !r.flag("changed", 0) || !r.flag("new", 0) {
			t.Fatal("the flag can't be removed")
		}
		if !errors.Is(err, restore.ErrIncomplete) || len(done.Failed) != 2 {
			t.Errorf("%v: %v", err, done.Failed)
		}
		r.is("changed", "two")
		r.is("new", "two")
		r.is("other", "one")
		if left, _ := filepath.Glob(r.path(".entire-tmp-*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

// Times outside the range of 64 bits of nanoseconds are restored exactly, those of folders and
// links too, where the file system supports them.
func TestRestoreOfExtremeTimes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	names := map[string]int64{"dir/late": 10_413_792_000, "dir/early": -11_676_096_000, "dir": 20_000_000_000, "link": -20_000_000_000, "y2039": 2_200_000_000}
	r.write("dir/late", "one")
	r.write("dir/early", "one")
	r.write("y2039", "one")
	r.must(os.Symlink("dir", r.path("link")))
	for name, sec := range names {
		times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Sec: sec, Nsec: 123_000_000}}
		r.must(unix.UtimesNanoAt(unix.AT_FDCWD, r.path(name), times, unix.AT_SYMLINK_NOFOLLOW))
	}
	mtimes := func() map[string]unix.StatxTimestamp {
		all := map[string]unix.StatxTimestamp{}
		for name := range names {
			var st unix.Statx_t
			r.must(unix.Statx(unix.AT_FDCWD, r.path(name), unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &st))
			all[name] = st.Mtime
		}
		return all
	}
	before := mtimes()
	v := r.take()
	if planned := r.plan(v, restore.Scope{}); !planned.Empty() {
		t.Errorf("unchanged, but to do: %q", steps(planned))
	}
	r.remove("dir")
	r.remove("link")
	r.write("y2039", "two")
	done := r.restore(v, restore.Scope{})
	if diff := cmp.Diff(before, mtimes()); diff != "" || len(done.Unset) > 0 {
		t.Errorf("unset %v: %s", done.Unset, diff)
	}
}

// flag sets the flags of a file or folder, and reports whether it succeeded.
func (r *rig) flag(name string, flags int) bool {
	r.t.Helper()
	f, err := os.Open(r.path(name))
	r.must(err)
	defer func() { _ = f.Close() }()
	const ours = 0x10 | 0x20 | 0x40
	have, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	return err == nil && unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, int(have&^ours)|flags) == nil
}
