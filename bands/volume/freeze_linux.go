package volume

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-3aff656d/entire/internal/loopfs"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// frozen calls clone while the file system at dir is frozen, and nothing else. Whatever
// becomes of this process it is thawed: by a guard that outlives it, and should that be
// killed too by the next command, which finds the file that records it. A process that was
// stopped meanwhile fails.
func (d Image) frozen(dir string, clone func() error) (err error) {
	mark, owner := filepath.Join(d.Store, frozenFile), rand.Text()
	release, err := guard(dir, mark, owner)
	if err != nil {
		return err
	}
	defer release()
	if err := loopfs.Sync(dir); err != nil { // most of it, while others can still write
		return err
	}
	if err := os.WriteFile(mark, []byte(owner+"\n"), 0o600); err != nil {
		return err
	}
	if err = loopfs.Freeze(dir); err == nil {
		err = errors.Join(clone(), loopfs.Thaw(dir))
	}
	return errors.Join(err, os.Remove(mark))
}

// guardSeconds is how long a file system is frozen at most.
const guardSeconds = 20

// guard starts a process that thaws the file system at dir when this one has ended, or after
// guardSeconds, if the file mark has the line owner then: it may end when the next snapshot
// has frozen the file system.
func guard(dir, mark, owner string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	program, err := programPath("fsfreeze")
	if err != nil {
		return nil, err
	}
	const script = `timeout "$1" cat >/dev/null; read -r owner <"$2" && [ "$owner" = "$4" ] && exec "$3" --unfreeze /proc/self/fd/3`
	return proc.Guard{
		Path: "/bin/sh", Args: []string{"-c", script, "sh", strconv.Itoa(guardSeconds), mark, program, owner},
		Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, Open: []*os.File{f},
	}.Start()
}

// Thaw ends a freeze that a killed process left.
func (d Image) Thaw(root string) (bool, error) {
	mark := filepath.Join(d.Store, frozenFile)
	if _, err := os.Lstat(mark); err != nil {
		return false, nil //nolint:nilerr // there is nothing to do
	}
	err := d.Check(root)
	if err == nil {
		err = loopfs.Thaw(root)
	}
	if errors.Is(err, loopfs.ErrNotFrozen) || errors.Is(err, ErrNotOpen) {
		err = nil
	}
	return err == nil, errors.Join(err, os.Remove(mark))
}
