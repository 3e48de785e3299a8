//go:build !darwin

package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Inspect returns the system's information about the process pid. It returns false if the process has
// ended, or if the system doesn't report it.
func Inspect(pid int) (Info, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return Info{}, false
	}
	// The name, in parentheses, may contain any bytes; the fields follow the last parenthesis.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const state, parent, start = 0, 1, 19
	if len(fields) <= start || fields[state] == "Z" {
		return Info{}, false
	}
	info := Info{PID: pid}
	info.Parent, _ = strconv.Atoi(fields[parent])
	info.Start, _ = strconv.ParseUint(fields[start], 10, 64)
	if line, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil {
		info.Args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	}
	return info, true
}
