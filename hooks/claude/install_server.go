package claude

import (
	"os"
	"path/filepath"
	"time"

	"github.com/tailscale/hujson"
)

const serversKey = "mcpServers"

// ProjectServers is a project's list of MCP servers, .mcp.json at its root, and
// the record of what we put in.
type ProjectServers struct {
	// Path is the file's. Backup is the directory of the record.
	Path, Backup string
}

// ServersFile is the file of the project at root.
func ServersFile(root string) string { return filepath.Join(root, ".mcp.json") }

// Install puts our server into the list, which is made if there is none. Another
// server of that name is an error.
func (p ProjectServers) Install() (changed bool, err error) {
	return p.file().put(func(d *document, _ *record) ([]string, error) {
		servers, made, err := d.ensureObject(serversKey)
		if err != nil {
			return nil, err
		}
		v, there := member(servers, ServerName)
		switch {
		case !there:
			return made, d.add(servers, ServerName, `{"type":"stdio","command":"entire","args":["mcp"]}`)
		case !serverOf(v).Ours():
			return nil, d.errorAt(v.StartOffset, "another server is called "+quote(ServerName))
		}
		return made, nil
	})
}

// Uninstall takes our server out again, and nothing else.
func (p ProjectServers) Uninstall() (changed bool, err error) { return p.file().takeAll() }

// Server is the one that is called as ours is; false if there is none.
func (p ProjectServers) Server() (Server, bool, error) {
	d, err := p.file().read()
	if err != nil {
		return Server{}, false, err
	}
	v, ok := d.server()
	return serverOf(v), ok, nil
}

// Sweep removes the temporary files of writers that were stopped before the time
// given. Without a record it reads no directory: the root of a worktree may be large.
func (p ProjectServers) Sweep(before time.Time) error {
	_, err := os.Lstat(p.file().recordPath())
	if err != nil {
		return ignoreMissing(err)
	}
	return p.file().sweep(before)
}

func (p ProjectServers) file() edited {
	holds := func(d *document) bool {
		v, ok := d.server()
		return ok && serverOf(v).Ours()
	}
	return edited{path: p.Path, backup: p.Backup, holds: holds, strip: stripServer}
}

func (d *document) server() (hujson.Value, bool) {
	servers, _ := member(d.root, serversKey)
	return member(servers, ServerName)
}

func stripServer(d *document, _ record, mayGo func(string) bool) error {
	v, ok := d.server()
	if !ok || !serverOf(v).Ours() {
		return nil
	}
	servers, _ := member(d.root, serversKey)
	if err := d.removeValue(servers, v); err != nil {
		return err
	}
	servers, _ = member(d.root, serversKey)
	if len(listOf(servers).items) > 0 || !mayGo(serversKey) {
		return nil
	}
	return d.removeValue(d.root, servers)
}

// serverOf reads an entry of a list of servers.
func serverOf(v hujson.Value) Server {
	command, _ := member(v, "command")
	s := Server{Command: stringOf(command)}
	args, _ := member(v, "args")
	for _, arg := range elements(args) {
		s.Args = append(s.Args, stringOf(arg))
	}
	return s
}
