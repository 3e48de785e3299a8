package brief

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/relate"
)

// choice decides which files a brief names: those that the next session probably uses.
// docs/recall-quality.md has how often it is right. A context of an earlier version, which
// does not have how often files were used, has all its files named.
type choice struct {
	uses map[string]recall.FileUse
	// said is the agent's last message.
	said string
	// named are the files that the first prompt may be about, if it is known; plan is set
	// if it is an accepted plan, which names the files that it is about.
	named map[string]bool
	plan  bool
	// moved is set if another branch is checked out than that of the context.
	moved bool
}

func choiceOf(m Material) choice {
	c := m.Checkpoint.State
	ch := choice{uses: make(map[string]recall.FileUse, len(c.Context.FileUses)), plan: relate.IsPlan(m.Prompt)}
	for _, u := range c.Context.FileUses {
		ch.uses[u.Path] = u
	}
	ch.moved = c.Context.GitBranch != "" && m.Branch != c.Context.GitBranch
	ch.said = c.Analysis.Progress.Reported + "\n" + c.Analysis.OpenQuestion
	if m.Prompt != "" {
		paths := slices.Clone(c.Context.FilesRead)
		for name := range c.Files {
			paths = append(paths, name)
		}
		ch.named = relate.Named(m.Prompt, paths)
	}
	return ch
}

// edited reports whether a file that the session edited is named.
func (c choice) edited(v view) bool {
	u, known := c.uses[v.path]
	switch {
	case c.named[v.path]:
		return true
	case c.plan:
		return false
	case !known, v.tracked == recall.Uncommitted, c.isSaid(v.path):
		return true
	}
	const often = 2
	switch {
	case u.Edits >= often:
		return true
	case v.tracked == recall.Committed: // finished at once
		const last = 1
		return u.RequestsSince <= last
	}
	const recent = 3
	return u.Lately || u.RequestsSince <= recent
}

// read reports whether a file that the session only read is named.
func (c choice) read(name string) bool {
	u, known := c.uses[name]
	switch {
	case c.named[name]:
		return true
	case c.plan:
		return false
	case !known, c.isSaid(name):
		return true
	}
	const recent, often = 1, 3
	if c.moved { // what the work on the other branch only looked at
		return u.RequestsSince == 0 || u.Reads >= often
	}
	return u.Lately || u.RequestsSince <= recent || u.Reads >= often
}

func (c choice) isSaid(name string) bool { return strings.Contains(c.said, path.Base(name)) }
