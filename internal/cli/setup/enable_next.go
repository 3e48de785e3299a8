package setup

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/cli/install"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// printNext prints what the user does next: commit what others need to record too, and
// start the agent.
func (e *enabling) printNext(ctx context.Context) {
	var table ui.Table
	if files := e.uncommitted(ctx); len(files) > 0 {
		table.Row("  git add "+strings.Join(files, " "), "and commit them, so that whoever works here records too")
	}
	table.Row("  "+install.ClaudeProgram, "work as usual: your commits are linked to the conversation")
	table.Row("  entire status", "shows what is recorded")
	table.Row("  entire rewind", "goes back to before or after any turn")
	e.Streams.Printf("\nNext:\n%s", e.Streams.Table(&table, nextWidth))
}

// nextWidth is the width of an explanation where there is no terminal.
const nextWidth = 80

// uncommitted are the files and folders of the project's set-up that differ from HEAD.
func (e *enabling) uncommitted(ctx context.Context) []string {
	entries, err := gitwork.Status(ctx, e.repo, ".entire", ".claude", ".mcp.json")
	if err != nil {
		return nil // git says so when the user commits
	}
	var names []string
	for _, entry := range entries {
		name, _, _ := strings.Cut(path.Clean(entry.Path), "/")
		if e.Dir != e.repo.Root {
			name = ":/" + name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
