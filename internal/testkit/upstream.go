package testkit

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// UpstreamID is the checkpoint in an Upstream repository.
const UpstreamID = "a1b2c3d4e5f6"

// Upstream is a repository recorded by the existing tool: one commit with a trailer and its
// checkpoint, and one session with a pending file.
type Upstream struct {
	*Repo
	Session *Session // continues the recorded one
}

// NewUpstream makes such a repository below dir, from the description of the formats: a checkpoint
// with an unsegmented transcript, a session state with all fields of old versions, a shadow branch,
// the tool's settings and hooks.
func NewUpstream(tb TB, dir, sessionDir string, env Env) *Upstream {
	tb.Helper()
	repo, _ := NewRepo(tb, dir, "plain", env)
	u := &Upstream{Repo: repo, Session: NewSession(repo, "main", sessionDir)}
	u.Session.Deaf = true
	repo.Write(".entire/settings.json", "{\n  \"strategy\": \"manual-commit\",\n  \"enabled\": true\n}\n")
	repo.Write(".entire/.gitignore", "tmp/\nsettings.local.json\nmetadata/\nlogs/\n")
	repo.Write(".claude/settings.json", upstreamAgentHooks())
	repo.Commit("set the project up")

	u.Session.Prompt("Can you write done.txt?")
	u.Session.Write("done.txt", "done\n")
	u.Session.Stop()
	first := len(u.Session.Transcript.Lines())
	repo.Git("add", "done.txt")
	repo.Git("commit", "-q", "-m", "write done\n\nEntire-Checkpoint: "+UpstreamID)
	u.checkpoint()

	u.Session.Prompt("Please write pending.txt & mind the <tags>.")
	u.Session.Write("pending.txt", "pending\n")
	u.Session.Stop()
	u.shadow()
	u.state(first)
	u.hooks()
	u.Session.Deaf = false
	return u
}

// fileIn returns a file for a fast-import stream.
func fileIn(path, content string) string {
	return fmt.Sprintf("M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
}

func commitIn(ref, message string) string {
	who := "Ada Tester <ada@example.com> 1770000000 +0100"
	return fmt.Sprintf("commit %s\nauthor %s\ncommitter %s\ndata %d\n%s\n", ref, who, who, len(message), message)
}

// indented returns JSON in the format of the existing tool.
func indented(value any) string {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text) + "\n"
}

func (u *Upstream) live() string {
	return strings.Join(u.Session.Transcript.Lines(), "\n")
}

// checkpoint writes the branch of committed checkpoints.
func (u *Upstream) checkpoint() {
	u.TB.Helper()
	dir := UpstreamID[:2] + "/" + UpstreamID[2:] + "/"
	transcript := u.live()
	tokens := Object{"input_tokens", 30, "cache_creation_tokens", 2300, "cache_read_tokens", 31000, "output_tokens", 65, "api_call_count", 2}
	root := Object{
		"cli_version", "0.4.2", "checkpoint_id", UpstreamID, "strategy", "manual-commit", "branch", "main",
		"checkpoints_count", 1, "files_touched",
		[]string{"done.txt"},
		"sessions",
		[]any{Object{
			"metadata", "/" + dir + "0/metadata.json", "transcript", "/" + dir + "0/full.jsonl", "context", "/" + dir + "0/context.md",
			"content_hash", "/" + dir + "0/content_hash.txt", "prompt", "/" + dir + "0/prompt.txt",
		}},
		"token_usage", tokens,
	}
	meta := Object{
		"cli_version", "0.4.2", "checkpoint_id", UpstreamID, "session_id", u.Session.ID, "strategy", "manual-commit",
		"created_at", "2026-02-14T09:30:00.123456789Z", "branch", "main", "checkpoints_count", 1,
		"files_touched",
		[]string{"done.txt"},
		"agent", "Claude Code", "turn_id", "0f0e0d0c0b0a",
		"token_usage", tokens, "initial_attribution",
		Object{
			"calculated_at", "2026-02-14T09:30:00Z", "agent_lines", 1, "human_added", 0, "human_modified", 0,
			"human_removed", 0, "total_committed", 1, "agent_percentage", 100,
		},
	}
	stream := commitIn(Branch, "Initialize metadata branch\n\nThis branch stores session metadata for the auto-commit strategy.\n") +
		commitIn(Branch, "Checkpoint: "+UpstreamID+"\n\nEntire-Session: "+u.Session.ID+
			"\nEntire-Strategy: manual-commit\nEntire-Agent: Claude Code\nEphemeral-branch: entire/0123456-e3b0c4\n") +
		fileIn(dir+"metadata.json", indented(root)) + fileIn(dir+"0/metadata.json", indented(meta)) +
		fileIn(dir+"0/full.jsonl", transcript) +
		fileIn(dir+"0/content_hash.txt", fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(transcript)))) +
		fileIn(dir+"0/prompt.txt", "Can you write done.txt?") +
		fileIn(dir+"0/context.md", "# Session Context\n\n## User Prompts\n\n### Prompt 1\n\nCan you write done.txt?\n\n") +
		"\ndone\n"
	u.GitInput(stream, "fast-import", "--quiet", "--done")
}

// shadow writes the shadow branch with an unsegmented transcript.
func (u *Upstream) shadow() {
	u.TB.Helper()
	dir := ".entire/metadata/" + u.Session.ID
	stream := commitIn("refs/heads/"+u.shadowName(), "Write pending.txt & mind the <tags>.\n\nEntire-Metadata: "+dir+
		"\nEntire-Session: "+u.Session.ID+"\nEntire-Strategy: manual-commit\n") +
		"M 040000 " + u.Git("rev-parse", "HEAD^{tree}") + " \"\"\n" +
		fileIn("pending.txt", u.Read("pending.txt")) + fileIn(dir+"/full.jsonl", u.live()+"\n") +
		fileIn(dir+"/prompt.txt", "Please write pending.txt & mind the <tags>.") + fileIn(dir+"/summary.txt", "Done.") +
		fileIn(dir+"/context.md", "# Session Context\n\n**Session ID:** "+u.Session.ID+"\n") + "\ndone\n"
	u.GitInput(stream, "fast-import", "--quiet", "--done")
}

func (u *Upstream) shadowName() string {
	u.TB.Helper()
	return "entire/" + u.Git("rev-parse", "HEAD")[:7] + "-e3b0c4"
}

// state writes the session's state exactly as the existing tool does.
func (u *Upstream) state(lines int) {
	u.TB.Helper()
	head := u.Git("rev-parse", "HEAD")
	state := Object{
		"session_id", u.Session.ID, "cli_version", "0.4.2", "base_commit", head, "attribution_base_commit", head,
		"worktree_path", u.Dir, "started_at", "2026-02-14T10:29:00.5+01:00", "phase", "idle", "turn_id", "00ff00ff00ff",
		"last_interaction_time", "2026-02-14T10:31:00.5+01:00", "checkpoint_count", 1,
		"condensed_transcript_lines", lines, "transcript_lines_at_start", lines,
		"untracked_files_at_start",
		[]string{"README.md", "done.txt", "notes/never-there.txt"},
		"files_touched",
		[]string{"pending.txt"},
		"agent_type", "Claude Code",
		"token_usage",
		Object{"input_tokens", 30, "cache_creation_tokens", 2300, "cache_read_tokens", 31000, "output_tokens", 65, "api_call_count", 2},
		"transcript_identifier_at_start", UUID(u.Session.ID, "line", 9),
		"transcript_path", u.Session.Transcript.Path, "first_prompt", "Can you write done.txt?",
		"prompt_attributions",
		[]any{Object{
			"checkpoint_number", 1, "user_lines_added", 0, "user_lines_removed", 0, "agent_lines_added", 0, "agent_lines_removed", 0,
		}},
	}
	u.Write(filepath.Join(u.CommonDir(), "entire-sessions", u.Session.ID+".json"), indented(state))
}

// hooks writes the existing tool's git hooks.
func (u *Upstream) hooks() {
	u.TB.Helper()
	for name, line := range map[string]string{
		"prepare-commit-msg": `entire hooks git prepare-commit-msg "$1" "$2" 2>/dev/null || true`,
		"commit-msg":         `entire hooks git commit-msg "$1" || exit 1`,
		"post-commit":        `entire hooks git post-commit 2>/dev/null || true`,
		"pre-push":           `entire hooks git pre-push "$1" || true`,
	} {
		path := filepath.Join(u.CommonDir(), "hooks", name)
		if err := WriteProgram(path, "#!/bin/sh\n# Entire CLI hooks\n"+line+"\n"); err != nil {
			u.TB.Fatalf("make hook executable: %v", err)
		}
	}
}

func upstreamAgentHooks() string {
	entry := func(matcher, verb string) []any {
		return []any{Object{"matcher", matcher, "hooks", []any{Object{"type", "command", "command", "entire hooks claude-code " + verb}}}}
	}
	return indented(Object{
		"hooks",
		Object{
			"PostToolUse", append(entry("Task", "post-task"), entry("TodoWrite", "post-todo")...),
			"PreToolUse", entry("Task", "pre-task"),
			"SessionEnd", entry("", "session-end"), "SessionStart", entry("", "session-start"),
			"Stop", entry("", "stop"), "UserPromptSubmit", entry("", "user-prompt-submit"),
		},
		"permissions",
		Object{"deny", []string{"Read(./.entire/metadata/**)"}},
	})
}
