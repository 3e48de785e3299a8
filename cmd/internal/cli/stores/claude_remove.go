package stores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// claudeRecord lists the hooks that were added to a settings file of the agent. The records are in
// claude-hooks.json beside the catalog.
type claudeRecord struct {
	Path   string             `json:"path"`
	Absent bool               `json:"absent,omitempty"` // the file didn't exist
	Hooks  []claudeHookRecord `json:"hooks"`
}

type claudeHookRecord struct {
	Event   string `json:"event"`
	Matcher string `json:"matcher,omitempty"`
	Command string `json:"command"`
}

func claudeRecordPath(f *Command) string {
	return filepath.Join(f.Registry().Home, "claude-hooks.json")
}

func claudeRecords(f *Command) ([]claudeRecord, error) {
	if f.Registry().Home == "" {
		return nil, nil
	}
	var all []claudeRecord
	if _, err := disk.ReadJSON(claudeRecordPath(f), &all); err != nil {
		return nil, fmt.Errorf("%s: %w", claudeRecordPath(f), err)
	}
	return all, nil
}

// noteClaudeHooks records the hooks before they are added to a settings file.
func noteClaudeHooks(f *Command, path string, absent bool, added []claudeHook) error {
	all, err := claudeRecords(f)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(r claudeRecord) bool { return r.Path == path })
	if at < 0 {
		all, at = append(all, claudeRecord{Path: path, Absent: absent}), len(all)
	}
	for _, hook := range added {
		one := claudeHookRecord{hook.event, hook.Matcher, hook.Hooks[0].Command}
		if !slices.Contains(all[at].Hooks, one) {
			all[at].Hooks = append(all[at].Hooks, one)
		}
	}
	if err := os.MkdirAll(filepath.Dir(claudeRecordPath(f)), 0o700); err != nil {
		return err
	}
	return disk.WriteJSON(claudeRecordPath(f), all)
}

// removeClaudeHooks removes the hooks that were installed with stores, if the last store was
// deleted. A repository's own store doesn't need them.
func removeClaudeHooks(ctx context.Context, f *Command) error {
	all, err := claudeRecords(f)
	if err != nil || len(all) == 0 {
		return err
	}
	entries, err := f.Registry().List(ctx)
	if err != nil {
		return nil //nolint:nilerr // a store that can't be read may need them; the next deletion tries again
	}
	own := registry.RepositoryDir("")
	if slices.ContainsFunc(entries, func(e registry.Entry) bool { return !strings.HasSuffix(e.Dir, string(filepath.Separator)+own) }) {
		return nil
	}
	if err := removeRecordedHooks(f); err != nil {
		return err
	}
	for _, record := range all {
		f.Streams.Notef("Removed hooks from %s", f.ShortPath(record.Path))
	}
	return nil
}

func removeRecordedHooks(f *Command) error {
	all, err := claudeRecords(f)
	if err != nil {
		return err
	}
	for _, record := range all {
		if err := record.remove(); err != nil {
			return app.WithHint(fmt.Errorf("hooks in %s are kept: %w", record.Path, err), "remove the hooks that run agentfs by hand")
		}
	}
	return disk.Remove(claudeRecordPath(f))
}

// remove removes the hooks from the settings file, and the values that become empty by that.
func (r claudeRecord) remove() error {
	text, err := os.ReadFile(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(r.Path)
	if err != nil {
		return err
	}
	document, err := hujson.Parse(text)
	if err != nil {
		return err
	}
	for _, hook := range r.Hooks {
		for { // an entry may occur more than once
			is, err := readClaudeSettings(&document)
			if err != nil {
				return err
			}
			path, found := hook.find(is)
			if !found {
				break
			}
			patch, err := json.Marshal([]map[string]string{{"op": "remove", "path": path}})
			if err != nil {
				return err
			}
			if err := document.Patch(patch); err != nil {
				return err
			}
		}
	}
	edited := document.Pack()
	if r.Absent && strings.Join(strings.Fields(string(edited)), "") == "{}" {
		return disk.Remove(r.Path)
	}
	return disk.WriteDurable(r.Path, edited, info.Mode().Perm())
}

// find returns the JSON pointer of the largest value that contains only this hook.
func (h claudeHookRecord) find(is claudeSettingsFile) (string, bool) {
	groups := is.Hooks[h.Event]
	for i, group := range groups {
		for j, command := range group.Hooks {
			if group.Matcher != h.Matcher || command.Command != h.Command {
				continue
			}
			switch {
			case len(group.Hooks) > 1:
				return fmt.Sprintf("/hooks/%s/%d/hooks/%d", h.Event, i, j), true
			case len(groups) > 1:
				return fmt.Sprintf("/hooks/%s/%d", h.Event, i), true
			case len(is.Hooks) > 1:
				return "/hooks/" + h.Event, true
			default:
				return "/hooks", true
			}
		}
	}
	return "", false
}
