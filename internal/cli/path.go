package cli

import (
	"os"
	"path/filepath"
)

// lookPath finds a program on the PATH of the environment given.
func lookPath(getenv func(string) string, program string) (string, bool) {
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}
