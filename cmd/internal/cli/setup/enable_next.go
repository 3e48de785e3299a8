package setup

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/git"
)

// printNext prints the next steps: commit the files that others need to record, too, and start the
// agent.
func (e *enabling) printNext(ctx context.Context) {
	var table ui.Table
	paths := slices.Grow([]string{".entire", ".claude"}, 2*len(e.agents.all))
	for _, s := range app.AllServers(e.repo, e.repo.Root) {
		paths = append(paths, relativeTo(e.repo.Root, s.Path))
	}
	for _, h := range e.agents.all {
		paths = append(paths, relativeTo(e.repo.Root, agenthook.Files(h.Agent, e.repo.Root)[0]))
	}
	entries, _ := git.Status(ctx, e.repo, paths...) // git reports an error when the user commits
	var names []string
	for _, entry := range entries {
		name := path.Clean(entry.Path)
		if top, _, _ := strings.Cut(name, "/"); top != ".github" { // it has other files than ours
			name = top
		}
		if e.Dir != e.repo.Root {
			name = ":/" + name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		table.AddRow("  git add "+strings.Join(names, " "), "commit them, for everybody here")
	}
	table.AddRow("  "+e.agents.chosen[0].Agent.Program, "work and commit as usual")
	if e.agents.hasClaude() && !e.asked && !e.opts.mcp && !e.opts.noMCP && app.OnPath(e.Getenv, ClaudeProgram) {
		if at, err := CheckQuestions(e.repo); err == nil && at.Installed == 0 {
			table.AddRow("  entire enable --mcp", "be asked before /clear")
		}
	}
	table.AddRow("  entire status", "see what is recorded")
	if e.Settings(e.repo).Bands.Enabled {
		table.AddRow("  entire rewind", "go back to before any turn")
	}
	e.Streams.Printf("\nNext:\n%s", e.Streams.Table(&table))
}
