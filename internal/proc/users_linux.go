package proc

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// UsersOf returns the processes other than this one that use the folder dir. Those of
// other users that this one may not inspect aren't among them.
func UsersOf(dir string) []User {
	folders, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	var users []User
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || pid == os.Getpid() {
			continue
		}
		links := []string{filepath.Join(folder, "cwd")}
		descriptors, _ := os.ReadDir(filepath.Join(folder, "fd")) // of another user's there are none
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
