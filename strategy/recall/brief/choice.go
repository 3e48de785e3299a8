package brief

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// choice selects the files that a brief names: those that the next session probably uses.
// docs/recall-quality.md has its accuracy. For a context of an earlier version, which has
// no counts of uses, it selects all files.
type choice struct {
	uses map[string]recall.FileUse
	// said is the agent's last message.
	said string
	// named holds the files that the first prompt may be about, if the prompt is known.
	// plan is set if the prompt is an accepted plan, which names its files.
	named map[string]bool
	plan  bool
	// moved is set if the checked out branch is not that of the context.
	moved bool
}

func choiceOf(m Material) choice {
	c := m.Checkpoint.State
	ch := choice{uses: make(map[string]recall.FileUse, len(c.Context.FileUses)), plan: recall.IsPlan(m.Prompt)}
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
		ch.named = recall.Named(m.Prompt, paths)
	}
	return ch
}

// edited reports whether the brief names a file that the session edited.
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
	case v.tracked == recall.Committed: // finished work
		const last = 1
		return u.RequestsSince <= last
	}
	const recent = 3
	return u.Lately || u.RequestsSince <= recent
}

// read reports whether the brief names a file that the session only read.
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
	if c.moved { // files that were only read for the work on the other branch
		return u.RequestsSince == 0 || u.Reads >= often
	}
	return u.Lately || u.RequestsSince <= recent || u.Reads >= often
}

func (c choice) isSaid(name string) bool { return strings.Contains(c.said, path.Base(name)) }
