package app

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// PackageVersion returns the version of the package that a program belongs to, "" if none is found.
// It doesn't run the program: the version is in a package.json in a directory above it or, with
// some installers, the name of the file.
func PackageVersion(program string) string {
	const levels = 6
	path, err := filepath.EvalSymlinks(program)
	if err != nil || !filepath.IsAbs(path) {
		return ""
	}
	if name := filepath.Base(path); name[0] >= '0' && name[0] <= '9' {
		return name
	}
	for range levels {
		path = filepath.Dir(path)
		if info, err := os.Stat(filepath.Join(path, "package.json")); err != nil || !info.Mode().IsRegular() {
			continue
		}
		var p struct {
			Version string `json:"version"`
		}
		data, err := disk.ReadFile(filepath.Join(path, "package.json"))
		if err == nil && json.Unmarshal(data, &p) == nil && p.Version != "" {
			return p.Version
		}
	}
	return ""
}
