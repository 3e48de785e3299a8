package forget

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// gcLockAge is the age above which git ignores the lock of its gc.
const gcLockAge = 12 * time.Hour

// excludeGC prevents git's gc from running until release is called, with the file by which one gc
// excludes another. While a gc is running it returns an error.
func (pr *pruner) excludeGC() (release func() error, err error) {
	path := filepath.Join(pr.w.Repo.CommonDir, "gc.pid")
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && pr.w.Env.Now().Sub(info.ModTime()) <= gcLockAge {
		var pid int
		var at string
		data, err := disk.ReadFile(path)
		if n, _ := fmt.Sscanf(string(data), "%d %s", &pid, &at); err == nil && n == 2 && (at != host || pr.w.Env.Alive(pid, 0)) {
			return nil, errors.New("git gc is running")
		}
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, errors.New("git gc is starting")
	}
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(lock, "%d %s", os.Getpid(), host)
	if err = errors.Join(err, lock.Close()); err == nil {
		err = os.Rename(lock.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(lock.Name()))
	}
	return func() error { return disk.Remove(path) }, nil
}
