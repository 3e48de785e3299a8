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

// frozen calls clone while the file system at dir is frozen, and does nothing else meanwhile. If
// this process is killed, a guard that outlives it thaws the file system. If the guard is killed
// too, the next command does, which finds the file that records the freeze. If this process is
// stopped until the guard has thawed the file system, frozen fails.
func (d Image) frozen(dir string, clone func() error) (err error) {
	mark, owner := filepath.Join(d.Store, frozenFile), rand.Text()
	release, err := guard(dir, mark, owner)
	if err != nil {
		return err
	}
	defer release()
	if err := loopfs.Sync(dir); err != nil { // syncs most of it while processes can still write
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

// guardSeconds is the maximum duration of a freeze.
const guardSeconds = 20

// guard starts a process that thaws the file system at dir when this process has exited, or after
// guardSeconds, if the file mark then has the line owner: by then the next snapshot may have frozen
// the file system.
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

// Thaw ends the freeze of a killed process.
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
