//go:build linux || darwin

package restore

import (
	"syscall"
	"testing"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// SetBeforeReplace lets a test change a file between its check and its replacement. The returned
// function removes the hook.
func SetBeforeReplace(do func(dir, name string)) func() {
	beforeReplace = func(dir *dirfd.Dir, name string) { do(dir.Path(), name) }
	return func() { beforeReplace = func(*dirfd.Dir, string) {} }
}

// A setuid file whose owner can't be set would run as another user.
func TestRefusedOwnerDropsSetuid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		uid, gid        uint32
		mayGroup        bool
		want            uint32
		changed, refuse bool
	}{
		{"as it is", 1, 1, false, 0o6755, false, false},
		{"other owner", 0, 1, false, 0o2755, false, true},
		{"other group", 1, 0, false, 0o4755, false, true},
		{"both", 0, 0, false, 0o755, false, true},
		{"both, of the group", 0, 5, true, 0o2755, true, true},
	} {
		a := attributes{&outcome{}}
		set := func(uid, gid int) error {
			if uid == -1 && gid == 5 && c.mayGroup {
				return nil
			}
			return syscall.EPERM
		}
		mode, changed, err := a.chown("x", &dirfd.Stat{UID: 1, GID: 1}, &band.Attr{Mode: 0o6755, UID: c.uid, GID: c.gid}, set)
		if err != nil || mode != c.want || changed != c.changed || len(a.Unset) != map[bool]int{true: 1}[c.refuse] {
			t.Errorf("%s: %o, %v, %v, noted %v", c.name, mode, changed, err, a.Unset)
		}
	}
}
