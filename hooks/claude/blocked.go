package claude

import (
	"encoding/json"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Block is a setting that prevents the agent from running the hooks of a project.
type Block struct{ File, Key string }

// Blocked returns such settings in files, which are the user's and the project's, and in managed,
// which are the administrator's. Missing and unreadable files are skipped.
func Blocked(files, managed []string) []Block {
	var found []Block
	for _, path := range managed {
		if set := readSwitches(path); set.OnlyManaged {
			found = append(found, Block{path, "allowManagedHooksOnly"})
		}
	}
	for _, list := range [][]string{managed, files} {
		for _, path := range list {
			if set := readSwitches(path); set.Off {
				found = append(found, Block{path, "disableAllHooks"})
			}
		}
	}
	return found
}

// switches are the settings that turn hooks off.
type switches struct {
	Off         bool `json:"disableAllHooks"`
	OnlyManaged bool `json:"allowManagedHooksOnly"`
}

func readSwitches(path string) switches {
	var set switches
	data, err := disk.ReadFile(path)
	if err != nil {
		return set
	}
	if plain, err := hujson.Standardize(data); err == nil {
		data = plain
	}
	if json.Unmarshal(data, &set) != nil {
		return switches{}
	}
	return set
}

// ManagedFiles returns the paths of the administrator's settings.
func ManagedFiles() []string {
	return []string{"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"}
}
