package claude_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestServerOfUser(t *testing.T) {
	t.Parallel()
	ours := `{"command": "/opt/entire", "args": ["mcp"]}`
	for name, c := range map[string]struct {
		text, dir string
		want      claude.Scope
		found     bool
		bad       bool
	}{
		"no file":      {},
		"not there":    {text: `{"projects": {"/a": {"mcpServers": {"other": {}}}}}`},
		"local":        {text: `{"projects": {"/main": {"mcpServers": {"entire": ` + ours + `}}}}`, want: claude.LocalScope, found: true},
		"user":         {text: `{"mcpServers": {"entire": ` + ours + `}}`, want: claude.UserScope, found: true},
		"both":         {text: `{"mcpServers": {"entire": {}}, "projects": {"/main": {"mcpServers": {"entire": ` + ours + `}}}}`, want: claude.LocalScope, found: true},
		"elsewhere":    {text: `{"projects": {"/b": {"mcpServers": {"entire": ` + ours + `}}}}`},
		"its folder":   {text: `{"mcpServers": {"entire": ` + ours + `}}`, dir: "conf", want: claude.UserScope, found: true},
		"not JSON":     {text: `{"entire"`, bad: true},
		"odd":          {text: `{"mcpServers": ["entire"]}`, bad: true},
		"of no folder": {text: `{"projects": {"": {"mcpServers": {"entire": ` + ours + `}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			env := map[string]string{}
			path := filepath.Join(home, ".claude.json")
			if c.dir != "" {
				env["CLAUDE_CONFIG_DIR"] = filepath.Join(home, c.dir)
				path = filepath.Join(home, c.dir, ".claude.json")
			}
			if c.text != "" {
				write(t, path, c.text)
			}
			client := claude.Client{Getenv: func(name string) string { return env[name] }, Home: home}
			s, scope, found, err := client.Server("", "/a", "/main")
			if (err != nil) != c.bad || found != c.found || found && (scope != c.want || !s.IsOurs()) {
				t.Errorf("%+v, %q, %v, %v", s, scope, found, err)
			}
			if c.text != "" {
				write(t, filepath.Join(client.Dir(), ".config.json"), "{}") // where older versions store it
				if _, _, found, err := client.Server("/a", "/main"); found || err != nil {
					t.Errorf("read the file that doesn't count: %v", err)
				}
			}
		})
	}
}

func TestServerOurs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server claude.Server
		want   bool
	}{
		{claude.Server{Command: "entire", Args: []string{"mcp"}}, true},
		{claude.Server{Command: "/usr/local/bin/entire", Args: []string{"mcp", "--x"}}, true},
		{claude.Server{Command: "entire"}, false},
		{claude.Server{Command: "node", Args: []string{"mcp"}}, false},
		{claude.Server{}, false},
	} {
		if c.server.IsOurs() != c.want {
			t.Errorf("%+v", c.server)
		}
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(t.TempDir(), "claude")
	script := "#!/bin/sh\necho \"$PWD: $*\" >> \"$LOG\"\nenv | grep -c '^GIT_' >> \"$LOG\"\nexit ${FAIL:-0}\n"
	if err := testkit.WriteProgram(program, script); err != nil {
		t.Fatal(err)
	}
	environ := []string{"PATH=" + os.Getenv("PATH"), "LOG=" + filepath.Join(dir, "log"), "GIT_DIR=/x"}
	client := claude.Client{Program: program, Environ: environ}
	if err := client.Register(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if err := client.Unregister(t.Context(), dir); err != nil {
		t.Error(err)
	}
	want := dir + ": mcp add entire --scope local -- entire mcp\n0\n" + dir + ": mcp remove entire --scope local\n0\n"
	if diff := cmp.Diff(want, read(t, filepath.Join(dir, "log"))); diff != "" {
		t.Error(diff)
	}
	client.Environ = append(client.Environ, "FAIL=3")
	if err := client.Register(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "status 3") {
		t.Errorf("%v", err)
	}
	client.Program = ""
	if err := client.Register(t.Context(), dir); !errors.Is(err, proc.ErrNoProgram) {
		t.Errorf("%v", err)
	}
}

// TestAttackRegisterRunsNothingOfTheProject checks that registering the server, for which the
// client has to be run in the project, runs no file of the project: neither as the client, nor
// as the interpreter of the client's script.
func TestAttackRegisterRunsNothingOfTheProject(t *testing.T) {
	t.Parallel()
	project, own := t.TempDir(), t.TempDir()
	owned := filepath.Join(project, "owned")
	put := func(path, text string) {
		t.Helper()
		if err := testkit.WriteProgram(path, text); err != nil {
			t.Fatal(err)
		}
	}
	hostile := "#!/bin/sh\ntouch '" + owned + "'\n"
	log := filepath.Join(own, "log")
	for _, folder := range []string{".", "node_modules/.bin"} {
		put(filepath.Join(project, folder, "interpreter"), hostile)
		put(filepath.Join(project, folder, "claude"), hostile)
	}
	put(filepath.Join(own, "interpreter"), "#!/bin/sh\necho run > '"+log+"'\n")
	put(filepath.Join(own, "claude"), "#!/usr/bin/env interpreter\n")
	link := filepath.Join(own, "link")
	if err := os.Symlink(filepath.Join(project, "node_modules"), link); err != nil {
		t.Fatal(err)
	}
	for _, first := range []string{"", ".", "node_modules/.bin", project, filepath.Join(project, "node_modules/.bin"), link + "/.bin"} {
		environ := []string{"PATH=" + first + ":" + own + ":" + os.Getenv("PATH")}
		if err := (claude.Client{Program: filepath.Join(own, "claude"), Environ: environ}).Register(t.Context(), project); err != nil {
			t.Errorf("PATH begins with %q: %v", first, err)
		}
		if _, err := os.Lstat(owned); err == nil {
			t.Fatalf("PATH begins with %q: a file of the project was run", first)
		}
		if err := os.Remove(log); err != nil {
			t.Error(err)
		}
	}
	for _, program := range []string{filepath.Join(project, "claude"), link + "/.bin/claude"} {
		if err := (claude.Client{Program: program, Environ: os.Environ()}).Register(t.Context(), project); err == nil {
			t.Errorf("%s was run", program)
		}
		if _, err := os.Lstat(owned); err == nil {
			t.Fatalf("%s: a file of the project was run", program)
		}
	}
}
