package settings

import (
	"encoding/json"
	"path/filepath"
)

// clientFile returns the file of the worktree in which the agent's client is configured
// to set a variable for all that it runs, or "". Such a variable is the
// repository's word, although it arrives in the environment.
func (l *loader) clientFile(variable string) string {
	for _, root := range []string{l.from.Worktree, l.from.MainWorktree, l.from.Getenv("CLAUDE_PROJECT_DIR")} {
		if !filepath.IsAbs(root) {
			continue
		}
		for _, name := range []string{"settings.json", "settings.local.json"} {
			path := filepath.Join(root, ".claude", name)
			data, err := readFile(path)
			if err != nil {
				continue
			}
			var file struct {
				Env map[string]any `json:"env"`
			}
			if err := json.Unmarshal(data, &file); err != nil {
				continue // the client doesn't take such a file either
			}
			if _, ok := file.Env[variable]; ok {
				return path
			}
		}
	}
	return ""
}
