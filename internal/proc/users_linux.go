package proc

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// UsersOf returns the other processes that use the directory dir. Processes that this one may not
// inspect, those of other users, are not included.
func UsersOf(dir string) []User {
	folders, _ := filepath.Glob("/proc/[0-9]*") //nolint:forbidigo // the pattern is valid
	var users []User
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || pid == os.Getpid() {
			continue
		}
		links := []string{filepath.Join(folder, "cwd")}
		descriptors, _ := os.ReadDir(filepath.Join(folder, "fd")) // none for another user's
		for _, fd := range descriptors {
			links = append(links, filepath.Join(folder, "fd", fd.Name()))
		}
		for _, link := range links {
			if path, err := os.Readlink(link); err == nil && (path == dir || strings.HasPrefix(path, dir+"/")) {
				name, _ := os.ReadFile(filepath.Join(folder, "comm")) // it may have ended
				users = append(users, User{PID: pid, Name: strings.TrimSpace(string(name)), Path: path})
				break
			}
		}
	}
	slices.SortFunc(users, func(a, b User) int { return cmp.Compare(a.PID, b.PID) })
	return users
}

// Openers returns the numbers of the other processes that have the files open; known is false if
// the system doesn't report it. Processes that this one may not inspect, those of other users, are
// not included.
func Openers(files ...FileID) (pids map[FileID][]int, known bool) {
	wanted := make(map[FileID]bool, len(files))
	for _, id := range files {
		wanted[id] = true
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, false
	}
	defer func() { _ = proc.Close() }()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, false
	}
	pids = map[FileID][]int{}
	self := os.Getpid()
	for _, name := range names {
		switch pid, err := strconv.Atoi(name); {
		case err != nil:
		case pid == self:
			known = true // so this is /proc of our PID namespace
		default:
			addOpened(pid, wanted, pids)
		}
	}
	return pids, known
}

// addOpened adds pid to the entries of those wanted files that it has open.
func addOpened(pid int, wanted map[FileID]bool, pids map[FileID][]int) {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return // it has ended, or belongs to another user
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		id, ok := opened(int(dir.Fd()), name)
		if !ok || !wanted[id] {
			continue
		}
		if had := pids[id]; len(had) == 0 || had[len(had)-1] != pid {
			pids[id] = append(had, pid)
		}
	}
}

// opened returns the file that the descriptor refers to. It doesn't query a file server, which may
// be unreachable.
func opened(dir int, descriptor string) (FileID, bool) {
	var x unix.Statx_t
	err := unix.Statx(dir, descriptor, unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE|unix.STATX_INO, &x)
	if err == nil {
		return FileID{Dev: unix.Mkdev(x.Dev_major, x.Dev_minor), Ino: x.Ino}, x.Mode&unix.S_IFMT == unix.S_IFREG
	}
	if !errors.Is(err, unix.ENOSYS) {
		return FileID{}, false
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, descriptor, &st, 0); err != nil {
		return FileID{}, false
	}
	return FileID{Dev: uint64(st.Dev), Ino: uint64(st.Ino)}, st.Mode&unix.S_IFMT == unix.S_IFREG //nolint:unconvert // 32 bits on some systems
}
