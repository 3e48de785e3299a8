package agent

import "strings"

// ownFiles are the files outside .entire into which enabling writes hooks and servers, as paths in a
// worktree.
var ownFiles = map[string]bool{ //nolint:gochecknoglobals // a read-only table
	".claude/settings.json": true, ".claude/settings.local.json": true, ".mcp.json": true,
	".codex/hooks.json": true, ".codex/config.toml": true,
	".github/hooks/entire.json": true, ".github/mcp.json": true,
	".cursor/hooks.json": true, ".cursor/mcp.json": true,
	".gemini/settings.json": true, ".qwen/settings.json": true,
	".opencode/plugins/entire.js": true, ".opencode/opencode.json": true,
	".pi/extensions/entire.js": true,
}

// IsOwnFile reports whether enabling writes a file of a worktree. Unless a session changed it, its
// lines are neither an agent's nor a person's, and count in no share.
func IsOwnFile(path string) bool {
	return ownFiles[path] || path == ".entire" || strings.HasPrefix(path, ".entire/")
}
