package cli

import (
	"os"
	"path/filepath"
)

// onPath says whether a program is on the PATH of the environment given.
func onPath(getenv func(string) string, program string) bool {
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
