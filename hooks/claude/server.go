package claude

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/jsonedit"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// ServerName is the name of our MCP server in the agent's configuration.
const ServerName = "entire"

// registerTimeout is the time limit for the user's program to change its list of servers, which
// usually takes half a second.
const registerTimeout = 20 * time.Second

// Server is an MCP server in the agent's configuration.
type Server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// IsOurs reports whether it is `entire mcp`, whatever the program's folder.
func (s Server) IsOurs() bool {
	return filepath.Base(s.Command) == "entire" && len(s.Args) > 0 && s.Args[0] == "mcp"
}

// Client is the user's own Claude Code: its program, and its configuration file, which is read here
// and never written.
type Client struct {
	// Program is the path of the program, empty if it isn't on the PATH.
	Program string
	Environ []string
	Getenv  func(string) string
	Home    string
}

// Dir returns the folder of the user's settings.
func (c Client) Dir() string {
	return cmp.Or(c.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(c.Home, ".claude"))
}

// Scope is the scope of a server's registration.
type Scope string

// The scopes.
const (
	LocalScope   Scope = "local"   // one person in one project
	UserScope    Scope = "user"    // one person everywhere
	ProjectScope Scope = "project" // everybody who works on the project
)

// Server returns the person's server with the name of ours, registered for one of the folders of a
// project, or else everywhere; false if there is none.
func (c Client) Server(projects ...string) (Server, Scope, bool, error) {
	type servers struct {
		Servers map[string]Server `json:"mcpServers"`
	}
	var state struct {
		servers

		Projects map[string]servers `json:"projects"`
	}
	path := filepath.Join(c.Dir(), ".config.json") // of older clients
	if _, err := os.Lstat(path); err != nil {
		path = filepath.Join(cmp.Or(c.Getenv("CLAUDE_CONFIG_DIR"), c.Home), ".claude.json")
	}
	data, err := disk.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Server{}, "", false, nil
	case err != nil:
		return Server{}, "", false, err
	case !bytes.Contains(data, []byte(jsonedit.Quote(ServerName))): // it may be large
		return Server{}, "", false, nil
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return Server{}, "", false, fmt.Errorf("read %s: %w", path, err)
	}
	for _, dir := range projects {
		if s, ok := state.Projects[dir].Servers[ServerName]; ok && dir != "" {
			return s, LocalScope, true, nil
		}
	}
	s, ok := state.Servers[ServerName]
	return s, UserScope, ok, nil
}

// Register adds our server to the client's configuration of the project in dir, for this person.
// The error is proc.ErrNoProgram if the client isn't installed.
func (c Client) Register(ctx context.Context, dir string) error {
	return c.run(ctx, dir, RegisterArgs()...)
}

// Unregister removes our server from that configuration.
func (c Client) Unregister(ctx context.Context, dir string) error {
	return c.run(ctx, dir, UnregisterArgs()...)
}

// RegisterArgs returns the arguments of `claude` that register our server, also for display to the
// user.
func RegisterArgs() []string {
	return []string{"mcp", "add", ServerName, "--scope", string(LocalScope), "--", "entire", "mcp"}
}

// UnregisterArgs returns the arguments of `claude` that remove our server.
func UnregisterArgs() []string {
	return []string{"mcp", "remove", ServerName, "--scope", string(LocalScope)}
}

// run starts the client in dir, under which the client keeps the project's configuration. Neither
// the client nor the interpreter of its script may be a file in dir.
func (c Client) run(ctx context.Context, dir string, args ...string) error {
	const enough = 64 << 10
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	if c.Program == "" {
		return fmt.Errorf("claude: %w", proc.ErrNoProgram)
	}
	if isBelow(dir, c.Program) {
		return fmt.Errorf("%s lies in the project: not run", c.Program)
	}
	_, err := proc.Run{Path: c.Program, Dir: dir, Env: outsideOf(dir, askEnviron(c.Environ)), Limit: enough, Args: slices.Clone(args)}.Output(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("claude did not end in time: %w", err)
	}
	return err
}

// outsideOf returns an environment whose PATH contains no folder inside dir and no relative folder.
func outsideOf(dir string, environ []string) []string {
	env := make([]string, 0, len(environ))
	for _, entry := range environ {
		if list, found := strings.CutPrefix(entry, "PATH="); found {
			folders := slices.DeleteFunc(filepath.SplitList(list), func(folder string) bool {
				return !filepath.IsAbs(folder) || isBelow(dir, folder)
			})
			entry = "PATH=" + strings.Join(folders, string(filepath.ListSeparator))
		}
		env = append(env, entry)
	}
	return env
}

// isBelow reports whether path is dir or inside it, as written or after following symbolic links.
func isBelow(dir, path string) bool {
	physical := func(name string) string {
		if p, err := filepath.EvalSymlinks(name); err == nil {
			return p
		}
		return filepath.Clean(name)
	}
	for _, pair := range [][2]string{{filepath.Clean(dir), filepath.Clean(path)}, {physical(dir), physical(path)}} {
		if rel, err := filepath.Rel(pair[0], pair[1]); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
