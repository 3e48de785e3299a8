package cli

import (
	"os"
	"path/filepath"
)

// onPath says whether a program is on the PATH of the environment given.
func onPath(getenv func(string) string, program string) bool {
	_, found := findOnPath(getenv, program)
	return found
}

// findOnPath is the file that stands for a program on that PATH.
func findOnPath(getenv func(string) string, program string) (string, bool) {
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}
