package digest

import (
	"path"
	"slices"

	"github.com/seed-3aff656d/entire/internal/recall"
)

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
	for _, command := range slices.Backward(d.Commands) {
		if len(c.Commands) == maxShown {
			break
		}
		command.Text = src.withoutCd(command.Text)
		c.Commands = append(c.Commands, command)
		c.RecentCommands = append(c.RecentCommands, command.Text)
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
