package checkpoint

import (
	"slices"
	"strings"
)

// AddFile adds the path of a file, from the root of a worktree and with slashes.
func (t *Tombstones) AddFile(path string) {
	t.Files = slices.Compact(slices.Sorted(slices.Values(append(slices.Clip(t.Files), path))))
}

// FilePatterns returns patterns of bands.Options.Exclude that match the forgotten
// files. A database and its logs are excluded together, as they are forgotten
// together.
func (t *Tombstones) FilePatterns() []string {
	suffixes := []string{"-journal", "-wal", "-shm"}
	escape := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
	patterns := make([]string, 0, len(t.Files)*(1+len(suffixes)))
	for _, path := range t.Files {
		for _, suffix := range suffixes {
			if base, ok := strings.CutSuffix(path, suffix); ok && base != "" && !strings.HasSuffix(base, "/") {
				path = base
				break
			}
		}
		pattern := "/" + escape.Replace(path)
		patterns = append(patterns, pattern)
		for _, suffix := range suffixes {
			patterns = append(patterns, pattern+suffix)
		}
	}
	return patterns
}
