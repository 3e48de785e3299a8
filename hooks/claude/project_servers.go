package claude

import (
	"path/filepath"
	"time"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/internal/jsonedit"
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
	return p.file().Put(func(d *jsonedit.Document, _ *jsonedit.Record) ([]string, error) {
		servers, made, err := d.EnsureObject(serversKey)
		if err != nil {
			return nil, err
		}
		v, there := jsonedit.Member(servers, ServerName)
		switch {
		case !there:
			return made, d.Add(servers, ServerName, `{"type":"stdio","command":"entire","args":["mcp"]}`)
		case !serverOf(v).Ours():
			return nil, d.ErrorAt(v.StartOffset, "another server is called "+jsonedit.Quote(ServerName))
		}
		return made, nil
	})
}

// Uninstall takes our server out again, and nothing else.
func (p ProjectServers) Uninstall() (changed bool, err error) { return p.file().TakeAll() }

// Server is the one that is called as ours is; false if there is none.
func (p ProjectServers) Server() (Server, bool, error) {
	d, err := p.file().Read()
	if err != nil {
		return Server{}, false, err
	}
	v, ok := serverIn(d)
	return serverOf(v), ok, nil
}

// Sweep removes the temporary files of writers that were stopped before the time
// given. Without a record it reads no directory: the root of a worktree may be large.
func (p ProjectServers) Sweep(before time.Time) error {
	if known, err := p.file().HasRecord(); err != nil || !known {
		return err
	}
	return p.file().Sweep(before)
}

func (p ProjectServers) file() jsonedit.File {
	holds := func(d *jsonedit.Document) bool {
		v, ok := serverIn(d)
		return ok && serverOf(v).Ours()
	}
	return jsonedit.File{Path: p.Path, Backup: p.Backup, Holds: holds, Strip: stripServer}
}

func serverIn(d *jsonedit.Document) (hujson.Value, bool) {
	servers, _ := jsonedit.Member(d.Root(), serversKey)
	return jsonedit.Member(servers, ServerName)
}

func stripServer(d *jsonedit.Document, _ jsonedit.Record, mayGo func(string) bool) error {
	v, ok := serverIn(d)
	if !ok || !serverOf(v).Ours() {
		return nil
	}
	servers, _ := jsonedit.Member(d.Root(), serversKey)
	if err := d.RemoveValue(servers, v); err != nil {
		return err
	}
	servers, _ = jsonedit.Member(d.Root(), serversKey)
	if len(jsonedit.MemberNames(servers)) > 0 || !mayGo(serversKey) {
		return nil
	}
	return d.RemoveValue(d.Root(), servers)
}

// serverOf reads an entry of a list of servers.
func serverOf(v hujson.Value) Server {
	command, _ := jsonedit.Member(v, "command")
	s := Server{Command: jsonedit.StringOf(command)}
	args, _ := jsonedit.Member(v, "args")
	for _, arg := range jsonedit.Elements(args) {
		s.Args = append(s.Args, jsonedit.StringOf(arg))
	}
	return s
}
