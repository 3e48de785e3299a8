package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
)

// The agents by their names on the command line and as people call them.
const (
	claudeName  = "claude-code"
	claudeLabel = "Claude Code"
	geminiName  = "gemini"
)

// agentHooks is where the agent's hooks stand in a worktree.
type agentHooks struct {
	File      string // with the most of them; the project's if there are none
	Installed int
	Missing   []string // events without a hook
	// Former says that hooks are there which only the existing tool installs.
	Former bool
}

// complete says whether every hook is there.
func (h agentHooks) complete() bool { return len(h.Missing) == 0 }

// claudeFiles are the two settings files of the agent, the project's first.
func claudeFiles(root string) []string {
	return []string{filepath.Join(root, ".claude", "settings.json"), filepath.Join(root, ".claude", "settings.local.json")}
}

func claudeSettings(repo *git.Repo, path string) claude.Settings {
	return claude.Settings{Path: path, Backup: backupDir(repo.CommonDir)}
}

// checkAgent finds the agent's hooks in either file. An event counts as
// missing only if neither has its hook.
func checkAgent(repo *git.Repo) (agentHooks, error) {
	files := claudeFiles(repo.Root)
	found := agentHooks{File: files[0]}
	var failed []error
	for i, path := range files {
		n, missing, err := claudeSettings(repo, path).Check()
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if n > found.Installed {
			found.File, found.Installed = path, n
		}
		if i == 0 {
			found.Missing = missing
		} else {
			found.Missing = slices.DeleteFunc(found.Missing, func(e string) bool { return !slices.Contains(missing, e) })
		}
		found.Former = found.Former || holdsFormer(path)
	}
	return found, errors.Join(failed...)
}

// holdsFormer looks for a hook as the existing tool installs it.
func holdsFormer(path string) bool {
	data, err := os.ReadFile(path)
	return err == nil && bytes.Contains(data, []byte("hooks claude-code post-todo\""))
}
