package digest

import (
	"path"
	"slices"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// Context returns the context of the work; the caller sets GitCommit.
func (d *Digest) Context(src Sources) recall.Context {
	c := recall.Context{WorkingDirectory: d.Cwd, GitBranch: src.Branch, RelevantPackages: []string{}, RecentCommands: []string{}}
	if c.WorkingDirectory == "" {
		c.WorkingDirectory = src.Root
	}
	for _, file := range src.Files {
		c.RelevantPackages = append(c.RelevantPackages, path.Dir(file))
	}
	slices.Sort(c.RelevantPackages)
	c.RelevantPackages = firstOnes(slices.Compact(c.RelevantPackages), maxPackages)
	// The commands that matter, the most recent first: checks and a few others, each once.
	const mostOthers = 4
	seen := map[string]bool{}
	others := 0
	for _, command := range slices.Backward(d.Commands) {
		key, checks, ok := shellcmd.Split(command.Text).Matters()
		if !ok || seen[key] || len(c.Commands) == maxShown || !checks && others == mostOthers {
			continue
		}
		seen[key] = true
		if !checks {
			others++
		}
		command.Text = src.withoutCd(command.Text)
		c.Commands = append(c.Commands, command)
	}
	for _, command := range c.Commands {
		c.RecentCommands = append(c.RecentCommands, command.Text)
	}
	for _, n := range slices.Backward(d.Notes) {
		f := recall.FileNote{Path: src.relative(n.Path), Why: n.Why, Request: n.Request}
		if n.Committed {
			f.Tracked = recall.Committed
		}
		c.FileNotes = append(c.FileNotes, f)
	}
	const lately = 100 // lines: about fifty calls with their results
	c.FileUses = make([]recall.FileUse, 0, len(d.Uses))
	for _, u := range slices.Backward(d.Uses) {
		c.FileUses = append(c.FileUses, recall.FileUse{
			Path: src.relative(u.Path), Edits: u.Edits, Reads: u.Reads, Subagents: u.Subagents, Test: isTest(src.relative(u.Path)),
			RequestsSince: d.Asks - u.Request, Lately: d.Lines-u.Line < lately,
		})
	}
	changed := map[string]bool{}
	for _, file := range src.Files {
		changed[file] = true
	}
	for _, file := range d.Edited {
		changed[src.relative(file)] = true
	}
	for _, file := range slices.Backward(d.Read) {
		if file = src.relative(file); !changed[file] {
			c.FilesRead = append(c.FilesRead, file)
		}
	}
	return c
}
