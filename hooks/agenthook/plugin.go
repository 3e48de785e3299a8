package agenthook

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/jsonedit"
)

// pluginMark is contained in every version of our plugins, and in no other program's.
const pluginMark = "Installed by `entire enable`."

// plugins holds the plugins: their common part, with AGENT in place of the agent's name, and the
// parts of the agents.
//
//go:embed plugin
var plugins embed.FS

// source returns the text of the agent's plugin.
func (d *dialect) source() []byte {
	name := d.agent.Name
	common, err := plugins.ReadFile("plugin/common.js")
	own, failed := plugins.ReadFile("plugin/" + name + ".js")
	if err != nil || failed != nil {
		panic("no plugin for " + name) // they are embedded
	}
	more := ""
	if d.argument != "" {
		more = ", " + jsonedit.Quote(strings.TrimSpace(d.argument))
	}
	common = bytes.ReplaceAll(common, []byte("AGENT"), []byte(name))
	return append(bytes.Replace(common, []byte(", MORE"), []byte(more), 1), own...)
}

// installPlugin writes the plugin, unless another program's file is in its place.
func (s Settings) installPlugin() (n int, changed bool, err error) {
	now, err := s.readPlugin()
	d := s.dialect()
	current := d.source()
	switch {
	case err != nil:
		return 0, false, err
	case bytes.Equal(now, current):
		return len(d.entries), false, nil
	}
	if err := disk.MkdirAll(filepath.Dir(s.Path), 0o755); err != nil {
		return 0, false, err
	}
	return len(d.entries), true, disk.WriteDurable(s.Path, current, 0o644)
}

// readPlugin returns our plugin as installed, nil if it isn't. Another program's file is an error.
func (s Settings) readPlugin() ([]byte, error) {
	data, err := disk.ReadFile(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !bytes.Contains(data, []byte(pluginMark)):
		return nil, fmt.Errorf("%s is not ours\nhint: rename it and run the command again", s.Path)
	}
	return data, nil
}

// uninstallPlugin removes the plugin, and its folders if they are empty then.
func (s Settings) uninstallPlugin() (changed bool, err error) {
	now, err := s.readPlugin()
	if err != nil || now == nil {
		return false, nil //nolint:nilerr // another program's file stays
	}
	if err := disk.Remove(s.Path); err != nil {
		return false, err
	}
	dir := filepath.Dir(s.Path)
	if os.Remove(dir) == nil { // only if it is empty
		dir = filepath.Dir(dir)
		_ = os.Remove(dir)
	}
	return true, disk.SyncDir(filepath.Dir(dir))
}
