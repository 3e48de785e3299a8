package agenthook

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/jsonedit"
	"github.com/seed-3aff656d/entire/session/agent"
)

// serverList describes where an agent's configuration of a project lists MCP servers. The zero
// value is for an agent without such a list.
type serverList struct {
	// file is the path in a worktree, key the name of the member with the list.
	file []string
	key  string
	// entry is our server as compact JSON. It is unused for TOML files.
	entry string
	toml  bool
}

// ourServer is the entry for most agents.
const ourServer = `{"command":"entire","args":["mcp"]}`

// Servers is an agent's list of MCP servers in a project, and the record of our changes to it.
type Servers struct {
	Agent agent.Agent
	// Path is the ServersFile of a worktree. Backup is the directory of the record.
	Path, Backup string
}

// ServersFile returns the file of a worktree in which an agent finds MCP servers, empty if it reads
// none from projects.
func ServersFile(a agent.Agent, root string) string {
	words := dialectOf(a).servers.file
	if words == nil {
		return ""
	}
	return filepath.Join(append([]string{root}, words...)...)
}

// servers returns the list of servers if it is in this file.
func (s Settings) servers() (Servers, bool) {
	d := s.dialect()
	return Servers{Agent: s.Agent, Path: s.Path, Backup: s.Backup}, len(d.files) > 0 && slices.Equal(d.files[0], d.servers.file)
}

// HasServer reports whether our MCP server is in the file.
func (s Settings) HasServer() (bool, error) {
	list, here := s.servers()
	if !here {
		return false, nil
	}
	server, found, err := list.Server()
	return found && server.IsOurs(), err
}

// InstallServer adds our MCP server to the file if it contains the agent's list.
func (s Settings) InstallServer() (changed bool, err error) {
	list, here := s.servers()
	if !here {
		return false, nil
	}
	return list.Install()
}

func (s Servers) list() serverList { return dialectOf(s.Agent).servers }

// Install adds our server to the list, which is created if missing. Another server with that name
// is an error.
func (s Servers) Install() (changed bool, err error) {
	l := s.list()
	if l.toml {
		return s.table().install()
	}
	return s.file().Put(func(d *jsonedit.Document, _ *jsonedit.Record) ([]string, error) {
		servers, made, err := d.EnsureObject(l.key)
		if err != nil {
			return nil, err
		}
		v, there := jsonedit.Member(servers, claude.ServerName)
		switch {
		case !there:
			return made, d.Add(servers, claude.ServerName, l.entry)
		case !serverOf(v).IsOurs():
			return nil, d.ErrorAt(v.StartOffset, "another server is called "+jsonedit.Quote(claude.ServerName))
		}
		return made, nil
	})
}

// Uninstall removes our server and nothing else.
func (s Servers) Uninstall() (changed bool, err error) {
	if s.list().toml {
		return s.table().uninstall()
	}
	if _, shared := s.settings().servers(); shared {
		return s.file().TakeSome(func(d *jsonedit.Document, _ jsonedit.Record, mayGo func(string) bool) error {
			return s.list().strip(d, mayGo)
		})
	}
	return s.file().TakeAll()
}

// Server returns the server with the name of ours, false if there is none.
func (s Servers) Server() (claude.Server, bool, error) {
	if s.list().toml {
		data, err := s.table().read()
		if err != nil {
			return claude.Server{}, false, err
		}
		return s.table().find(data)
	}
	d, err := s.file().Read()
	if err != nil {
		return claude.Server{}, false, err
	}
	v, ok := s.list().in(d)
	return serverOf(v), ok, nil
}

// Sweep removes temporary files of writers that were interrupted before the given time. Without a
// record it reads no directory, since the root of a worktree may be large.
func (s Servers) Sweep(before time.Time) error {
	if s.list().toml {
		return nil
	}
	if known, err := s.file().HasRecord(); err != nil || !known {
		return err
	}
	return s.file().Sweep(before)
}

func (s Servers) settings() Settings {
	return Settings{Agent: s.Agent, Path: s.Path, Backup: s.Backup}
}

func (s Servers) file() jsonedit.File { return s.settings().file() }

func (s Servers) table() serverTable {
	return serverTable{path: s.Path, list: s.list().key}
}

// in returns the server in a document with the name of ours.
func (l serverList) in(d *jsonedit.Document) (hujson.Value, bool) {
	servers, _ := jsonedit.Member(d.Root(), l.key)
	return jsonedit.Member(servers, claude.ServerName)
}

// holds reports whether our server is in a document.
func (l serverList) holds(d *jsonedit.Document) bool {
	if l.key == "" || l.toml {
		return false
	}
	v, ok := l.in(d)
	return ok && serverOf(v).IsOurs()
}

// strip removes our server from a document.
func (l serverList) strip(d *jsonedit.Document, mayGo func(string) bool) error {
	if !l.holds(d) {
		return nil
	}
	v, _ := l.in(d)
	servers, _ := jsonedit.Member(d.Root(), l.key)
	if err := d.RemoveValue(servers, v); err != nil {
		return err
	}
	servers, _ = jsonedit.Member(d.Root(), l.key)
	if len(jsonedit.MemberNames(servers)) > 0 || !mayGo(l.key) {
		return nil
	}
	return d.RemoveValue(d.Root(), servers)
}

// serverOf parses an entry of a list of servers. In some lists the command is an array that
// includes the arguments.
func serverOf(v hujson.Value) claude.Server {
	command, _ := jsonedit.Member(v, "command")
	args, _ := jsonedit.Member(v, "args")
	words := jsonedit.Elements(args)
	s := claude.Server{Command: jsonedit.StringOf(command)}
	if list := jsonedit.Elements(command); len(list) > 0 {
		s.Command, words = jsonedit.StringOf(list[0]), list[1:]
	}
	for _, arg := range words {
		s.Args = append(s.Args, jsonedit.StringOf(arg))
	}
	return s
}
