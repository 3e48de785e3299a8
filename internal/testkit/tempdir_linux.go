package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	memoryMount = "/dev/shm"
	memoryNames = "go-test-tmp-" // without the program's name, for which scripts search
	memoryNeeds = 4 << 30        // free bytes of the file system, and of the machine
)

// memoryDir makes a directory in memory; "" if there is no tmpfs with enough room and the features
// that tests need. It removes the directories of killed tests.
func memoryDir() (dir string, remove func()) {
	none := func() {}
	if !memoryHasRoom() {
		return "", none
	}
	old, err := filepath.Glob(memoryMount + "/" + memoryNames + "*")
	if err != nil {
		return "", none
	}
	for _, path := range old {
		if lock := lockDir(path); lock != nil {
			_ = os.RemoveAll(path)
			_ = lock.Close()
		}
	}
	dir, err = os.MkdirTemp(memoryMount, memoryNames)
	if err != nil {
		return "", none
	}
	lock := lockDir(dir)
	if lock == nil || unix.Setxattr(dir, "user.test", []byte("1"), 0) != nil {
		_ = os.RemoveAll(dir)
		return "", none
	}
	return dir, func() {
		_ = os.RemoveAll(dir)
		_ = lock.Close()
	}
}

func memoryHasRoom() bool {
	var mount unix.Statfs_t
	if unix.Statfs(memoryMount, &mount) != nil || mount.Type != unix.TMPFS_MAGIC {
		return false
	}
	return mount.Bavail*uint64(mount.Bsize) >= memoryNeeds && availableMemory() >= memoryNeeds
}

// availableMemory returns MemAvailable from /proc/meminfo, in bytes.
func availableMemory() uint64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		var kilobytes uint64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}

// lockDir locks a directory until this process exits or closes the file; nil if it is locked.
func lockDir(dir string) *os.File {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = f.Close()
		return nil
	}
	return f
}
