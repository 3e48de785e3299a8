package agenthook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// serverTable is our server as a table of a TOML file. The table is put at the end and taken out
// as text, so that every byte of what else is in the file stays.
type serverTable struct{ path, name string }

// text is the table as it is written.
func (t serverTable) text() string {
	return "[" + t.name + "]\ncommand = \"entire\"\nargs = [\"mcp\"]\n"
}

// read returns the file, nil if there is none.
func (t serverTable) read() ([]byte, error) {
	data, err := disk.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

func (t serverTable) install() (changed bool, err error) {
	data, err := t.read()
	if err != nil {
		return false, err
	}
	switch s, found := t.find(data); {
	case found && s.Ours():
		return false, nil
	case found:
		return false, fmt.Errorf("%s: another server is called %q", t.path, claude.ServerName)
	}
	text := t.text()
	if len(data) > 0 {
		text = "\n" + text // a blank line, or the end of the last one
	}
	if err := disk.MkdirAll(filepath.Dir(t.path), 0o755); err != nil {
		return false, err
	}
	return true, disk.WriteDurable(t.path, append(data, text...), 0o644)
}

// uninstall takes the table out as install wrote it, and a file that had nothing else.
func (t serverTable) uninstall() (changed bool, err error) {
	data, err := t.read()
	if err != nil {
		return false, err
	}
	rest, found := data, false
	for _, text := range []string{"\n" + t.text(), t.text()} {
		before, after, ok := bytes.Cut(data, []byte(text))
		if ok && (len(before) == 0 || bytes.HasSuffix(before, []byte("\n")) || text[0] == '\n') {
			rest, found = slices.Concat(before, after), true
			break
		}
	}
	switch {
	case !found:
		return false, nil
	case len(rest) > 0:
		return true, disk.WriteDurable(t.path, rest, 0o644)
	}
	if err := disk.Remove(t.path); err != nil {
		return false, err
	}
	_ = os.Remove(filepath.Dir(t.path)) // only if nothing else is in it
	return true, disk.SyncDir(filepath.Dir(filepath.Dir(t.path)))
}

func (t serverTable) server() (claude.Server, bool, error) {
	data, err := t.read()
	s, found := t.find(data)
	return s, found, err
}

// find returns the server of the file that is called as ours is. One that isn't written as ours
// is has no command here.
func (t serverTable) find(data []byte) (claude.Server, bool) {
	if bytes.Contains(data, []byte(t.text())) {
		return claude.Server{Command: "entire", Args: []string{"mcp"}}, true
	}
	list, name, _ := strings.Cut(t.name, ".")
	forms := []string{"[" + t.name + "]", "[" + list + `."` + name + `"]`, t.name + "=", t.name + "."}
	for line := range strings.Lines(string(data)) {
		line = strings.Join(strings.Fields(line), "")
		for _, form := range forms {
			if strings.HasPrefix(line, form) {
				return claude.Server{}, true
			}
		}
	}
	return claude.Server{}, false
}
