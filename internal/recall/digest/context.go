package digest

import (
	"path"
	"slices"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/shellcmd"
)

// commandsThatMatter returns the commands that are worth repeating, the most recent first:
// checks, and some others; each once.
func (d *Digest) commandsThatMatter(src Sources) []recall.Command {
	const mostOthers = 4
	var list []recall.Command
	seen := map[string]bool{}
	others := 0
	for _, command := range slices.Backward(d.Commands) {
		key, checks, ok := shellcmd.Split(command.Text).Matters()
		if !ok || seen[key] || len(list) == maxShown || !checks && others == mostOthers {
			continue
		}
		seen[key] = true
		if !checks {
			others++
		}
		command.Text = src.withoutCd(command.Text)
		list = append(list, command)
	}
	return list
}

// Context returns where the work was done; the caller sets the git fields.
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
	c.Commands = d.commandsThatMatter(src)
	for _, command := range c.Commands {
		c.RecentCommands = append(c.RecentCommands, command.Text)
	}
	c.FileNotes, c.FileUses = report{d, src}.notes(), report{d, src}.uses()
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
