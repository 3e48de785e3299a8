package agenthook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// serverTable is our server as a table of a TOML file. The table is appended and removed as text,
// so that all other bytes of the file stay unchanged.
type serverTable struct{ path, list string }

// text returns the table as written.
func (t serverTable) text() string {
	return "[" + t.list + "." + claude.ServerName + "]\ncommand = \"entire\"\nargs = [\"mcp\"]\n"
}

// read returns the content of the file, nil if it is missing.
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
	switch s, found, err := t.find(data); {
	case err != nil:
		return false, err
	case found && s.IsOurs():
		return false, nil
	case found:
		return false, fmt.Errorf("%s: another server is called %q", t.path, claude.ServerName)
	}
	text := t.text()
	if len(data) > 0 {
		text = "\n" + text // a blank line, or the end of an unterminated line
	}
	for line := range bytes.Lines(data) {
		key, _, found := bytes.Cut(line, []byte("="))
		if !found || string(bytes.Trim(key, " \t\"'")) != t.list {
			continue
		}
		// An inline table can't be extended.
		return false, fmt.Errorf("%s: the servers are not a table that can be added to\nhint: add the server %q there, with the command `entire mcp`", t.path, claude.ServerName)
	}
	if err := disk.MkdirAll(filepath.Dir(t.path), 0o755); err != nil {
		return false, err
	}
	return true, disk.WriteDurable(t.path, slices.Concat(data, []byte(text)), 0o644)
}

// uninstall removes the table as written by install, and the file if it is empty then.
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
	_ = os.Remove(filepath.Dir(t.path)) // only if it is empty
	return true, disk.SyncDir(filepath.Dir(filepath.Dir(t.path)))
}

// find is Servers.Server for the text of the file. Invalid TOML is an error.
func (t serverTable) find(data []byte) (claude.Server, bool, error) {
	var lists map[string]any
	if err := toml.Unmarshal(data, &lists); err != nil {
		return claude.Server{}, false, fmt.Errorf("read %s: %w\nhint: mend the file and run the command again; nothing in it was changed", t.path, err)
	}
	list, _ := lists[t.list].(map[string]any)
	entry, found := list[claude.ServerName]
	if !found {
		return claude.Server{}, false, nil
	}
	var s claude.Server
	if of, ok := entry.(map[string]any); ok {
		s.Command, _ = of["command"].(string)
		args, _ := of["args"].([]any)
		for _, arg := range args {
			word, _ := arg.(string)
			s.Args = append(s.Args, word)
		}
	}
	return s, true, nil
}
