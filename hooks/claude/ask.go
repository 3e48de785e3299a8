// Package claude implements features specific to Claude Code: its program, which writes summaries
// and registers our MCP server, the input of its status line, and settings that turn hooks off.
package claude

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
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// Summarizing is the environment variable set for the program started by Ask. Hooks that run there
// nevertheless do nothing.
const Summarizing = "ENTIRE_SUMMARIZING"

// ErrAnswer means that the program gave no usable answer.
var ErrAnswer = errors.New("unusable answer")

const (
	// askTimeout is the time limit of Ask.
	askTimeout = 2 * time.Minute
	// maxAnswer is the maximum size of the program's output.
	maxAnswer = 1 << 20
)

// Ask passes a prompt to a model through the user's own program, claude, and returns the answer.
// The model has no tools, no settings and no hooks, no session is kept, and the program runs in an
// empty folder outside the project. environ is the user's environment. The error is
// proc.ErrNoProgram if the program isn't installed. Otherwise it costs tokens, and takes at most
// two minutes.
func Ask(ctx context.Context, environ []string, prompt string) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	dir, remove, err := askFolder(environ)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, remove()) }()
	out, err := proc.Run{
		Path: "claude", Dir: dir, Env: askEnviron(environ),
		Stdin: strings.NewReader(prompt), Limit: maxAnswer,
		Args: []string{
			"--print", "--output-format", "json", "--model", "sonnet", "--tools", "", "--no-session-persistence",
			"--setting-sources", "", "--settings", `{"disableAllHooks":true}`,
		},
	}.Output(ctx)
	said, unusable := decodeAnswer(out)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Errorf("claude gave no answer in time: %w", err)
	case unusable == nil && said.Failed:
		line, _, _ := strings.Cut(strings.TrimSpace(said.Text), "\n")
		return "", fmt.Errorf("%w: claude says %.200q", ErrAnswer, line)
	case err != nil:
		return "", err
	case unusable != nil:
		return "", fmt.Errorf("%w: %w", ErrAnswer, unusable)
	default:
		return said.Text, nil
	}
}

// result is the object that the program prints, in some versions as the last element of a list.
type result struct {
	Type   string `json:"type"`
	Failed bool   `json:"is_error"`
	Text   string `json:"result"`
}

func decodeAnswer(out []byte) (result, error) {
	var list []result
	if json.Unmarshal(out, &list) != nil {
		list = make([]result, 1)
		if err := json.Unmarshal(out, &list[0]); err != nil {
			return result{}, err
		}
	}
	i := slices.IndexFunc(list, func(r result) bool { return r.Type == "result" })
	if i < 0 {
		return result{}, errors.New("claude printed no result")
	}
	return list[i], nil
}

// askEnviron returns the environment without variables of this repository or of the session that
// runs us.
func askEnviron(environ []string) []string {
	session := []string{
		"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT",
		"CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_PID", "CLAUDE_PLUGIN_ROOT", "CLAUDE_CODE_REMOTE",
	}
	env := make([]string, 0, len(environ)+1)
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, "GIT_") && !slices.Contains(session, name) {
			env = append(env, e)
		}
	}
	return append(env, Summarizing+"=1")
}

// askName is the folder in which the program runs, and the prefix of other folders' names if it is
// in use. The program keeps notes for each folder in which it was run, so the same folder is used
// if possible.
const askName = "ask"

// leftAfter is the age from which such a folder belongs to a killed process.
const leftAfter = time.Hour

// askFolder creates an empty folder in which to run the program, and returns a function that
// removes it. The program reads instructions and servers from its working directory and the folders
// above it (CLAUDE.md, .mcp.json), so the folder is below the user's home, where no other user may
// write.
func askFolder(environ []string) (dir string, remove func() error, err error) {
	home := ""
	for _, e := range environ {
		if value, ok := strings.CutPrefix(e, "HOME="); ok {
			home = value
		}
	}
	if !filepath.IsAbs(home) {
		return "", nil, errors.New("no folder to run claude in: HOME isn't set to an absolute path")
	}
	cache := filepath.Join(home, ".cache")
	base := filepath.Join(cache, "entire")
	if err := disk.Step("mkdir", base); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", nil, fmt.Errorf("no folder to run claude in: %w", err)
	}
	for _, folder := range []string{home, cache, base} {
		if err := closedToOthers(folder); err != nil {
			return "", nil, err
		}
	}
	dir = filepath.Join(base, askName)
	err = os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		dir, err = os.MkdirTemp(base, askName+"-*")
	}
	if err != nil {
		return "", nil, fmt.Errorf("no folder to run claude in: %w", err)
	}
	sweepAsked(base, dir)
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// closedToOthers returns an error if another user could create files in the folder.
func closedToOthers(folder string) error {
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return fmt.Errorf("no folder to run claude in: %w", err)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("claude isn't run below %s: every user can write there", folder)
	}
	physical, err := filepath.EvalSymlinks(folder)
	if err != nil || !disk.Owned(physical) {
		return fmt.Errorf("claude isn't run below %s: it belongs to another user", folder)
	}
	return nil
}

// sweepAsked removes the folders of killed processes, whose age is relative to the folder fresh.
// Errors are ignored; the next call tries again.
func sweepAsked(base, fresh string) {
	now, err := os.Stat(fresh)
	if err != nil {
		return
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), askName) || info.Mode().Type() != fs.ModeDir {
			continue
		}
		if now.ModTime().Sub(info.ModTime()) > leftAfter {
			_ = os.RemoveAll(filepath.Join(base, e.Name()))
		}
	}
}
