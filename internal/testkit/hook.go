package testkit

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// events maps the verbs of the hooks to the agent's names of events.
func events() map[string]string {
	return map[string]string{
		"session-start": "SessionStart", "user-prompt-submit": "UserPromptSubmit",
		"pre-task": "PreToolUse", "pre-tool": "PreToolUse", "post-task": "PostToolUse", "post-todo": "PostToolUse", "subagent-stop": "SubagentStop",
		"session-brief": "SessionStart", "pre-compact": "PreCompact", "post-compact": "PostCompact",
		"stop": "Stop", "session-end": "SessionEnd", "stop-failure": "StopFailure",
	}
}

// Hook sends one payload to the hook. It fails the test if the hook exits with a status other than
// 0, or changes the user's index or worktree.
func (s *Session) Hook(verb string, payload Object) Result {
	s.TB.Helper()
	if s.Deaf {
		return Result{}
	}
	before := s.untouchable()
	var result Result
	if s.Installed {
		result = s.runInstalled(events()[verb], payload)
	} else {
		result = Call{
			Dir: s.Cwd, Env: s.HookEnv(), Stdin: payload.JSON() + "\n",
			Name: "entire", Args: []string{"hooks", "claude-code", verb}, InProcess: s.Repo.InProcess,
		}.Run(s.TB)
	}
	if result.Code != 0 {
		s.TB.Fatalf("hook %s: exit %d\n%s%s", verb, result.Code, result.Stdout, result.Stderr)
	}
	if after := s.untouchable(); before != after {
		s.TB.Fatalf("hook %s touched the user's index or worktree\nbefore:\n%s\nafter:\n%s", verb, before, after)
	}
	return result
}

// runInstalled runs all commands in the settings for the event.
func (s *Session) runInstalled(event string, payload Object) Result {
	s.TB.Helper()
	var sum Result
	for _, command := range installedCommands(s.TB, []string{s.Project, s.HookEnv().Get("HOME")}, event, payload.text("tool_name")) {
		result := Call{
			Dir: s.Cwd, Env: s.HookEnv(), Stdin: payload.JSON() + "\n", Name: "sh", Args: []string{"-c", command},
		}.Run(s.TB)
		sum.Stdout += result.Stdout
		sum.Stderr += result.Stderr
		sum.Code = max(sum.Code, result.Code)
	}
	return sum
}

// installedCommands returns the commands in the settings of a project and of the user for an event,
// each once, as the agent runs them; tool is the tool of a tool event.
func installedCommands(tb TB, dirs []string, event, tool string) []string {
	tb.Helper()
	var commands []string
	files := make([]string, 0, 2*len(dirs)) //nolint:mnd // the files of each
	for _, dir := range dirs {
		files = append(files, filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json"))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var settings struct {
			Hooks map[string][]struct {
				Matcher string
				Hooks   []struct{ Type, Command string }
			}
		}
		if err == nil {
			err = json.Unmarshal(stripComments(data), &settings)
		}
		if err != nil {
			tb.Fatalf("read the agent's settings: %v", err)
		}
		for _, group := range settings.Hooks[event] {
			if m := group.Matcher; m != "" && m != "*" && !slices.Contains(strings.Split(m, "|"), tool) {
				continue
			}
			for _, hook := range group.Hooks {
				if !slices.Contains(commands, hook.Command) {
					commands = append(commands, hook.Command)
				}
			}
		}
	}
	return commands
}

// stripComments removes whole-line comments.
func stripComments(data []byte) []byte {
	return regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAll(data, nil)
}

// untouchable returns a description of the index and the worktree of the session's repository, to
// detect changes; "" if there is none or it is shared. Files of a large worktree are left out.
func (s *Session) untouchable() string {
	root, index := worktreeOf(s.Cwd)
	if root == "" || s.Shared {
		return ""
	}
	data, err := os.ReadFile(index)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.TB.Fatalf("read index: %v", err)
	}
	return fmt.Sprintf("index %x\n%s", sha256.Sum256(data), Fingerprint(root, 500))
}

// worktreeOf returns the root of a folder's worktree and its index, without starting git.
func worktreeOf(dir string) (root, index string) {
	for ; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		info, err := os.Stat(dotGit)
		if err == nil && info.IsDir() {
			return dir, filepath.Join(dotGit, "index")
		}
		if err == nil {
			data, err := os.ReadFile(dotGit)
			if err != nil {
				return "", ""
			}
			gitDir := strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:"))
			if !filepath.IsAbs(gitDir) {
				gitDir = filepath.Join(dir, gitDir)
			}
			return dir, filepath.Join(gitDir, "index")
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// Fingerprint lists every file below root with mode, size and time, without
// .git, .entire and .claude; "" if there are more than limit.
func Fingerprint(root string, limit int) string {
	var lines []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); path != root && (name == ".git" || name == ".entire" || name == ".claude") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return nil
		}
		lines = append(lines, fmt.Sprintf("%s %d %d %q", info.Mode(), info.Size(), info.ModTime().UnixNano(), path))
		if len(lines) > limit {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || len(lines) > limit {
		return ""
	}
	return strings.Join(lines, "\n")
}

// agentProcess is a real process in place of the client.
type agentProcess struct{ cmd *exec.Cmd }

// Live starts a client process for the session. It runs until Die.
func (s *Session) Live() {
	s.TB.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		s.TB.Fatalf("start the client: %v", err)
	}
	s.agent = &agentProcess{cmd: cmd}
	s.PID = strconv.Itoa(cmd.Process.Pid)
}

// Die kills the client process without any hook. It does nothing if there is none.
func (s *Session) Die() {
	if s.agent == nil {
		return
	}
	_ = s.agent.cmd.Process.Kill()
	_ = s.agent.cmd.Wait()
	s.agent = nil
}
