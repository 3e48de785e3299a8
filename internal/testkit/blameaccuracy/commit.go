package blameaccuracy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// committer makes and rewrites commits.
type committer struct{ w *world }

// all commits all changes; false if there are none.
func (c committer) all() bool {
	c.w.Git("add", "-A")
	if c.w.TryGit("diff", "--cached", "--quiet").Code == 0 {
		return false
	}
	c.w.note("commit of all")
	clear(c.w.moved)
	c.w.Git("commit", "-q", "-m", fmt.Sprintf("All of it %d", len(c.w.log)))
	return true
}

// some commits some files, or some hunks as git add -p does.
func (c committer) some() {
	c.w.Git("add", "-N", ".")
	changed := strings.Fields(c.w.Git("diff", "--name-only", "--no-renames", "HEAD", "--", "*.src"))
	if len(changed) == 0 {
		return
	}
	c.w.note("commit of a part of %s", strings.Join(changed, " "))
	c.w.Git("reset", "-q")
	together := c.w.chance(50) // a move is committed whole
	for _, path := range changed {
		switch {
		case !c.w.moved[path] && c.w.chance(60):
			c.stage(path)
		case c.w.moved[path] && together:
			c.w.note("  %s, of a move", path)
			c.w.Git("add", "-A", "--", path)
		}
	}
	if together {
		clear(c.w.moved)
	}
	if c.w.TryGit("diff", "--cached", "--quiet").Code == 0 {
		return
	}
	c.w.Git("commit", "-q", "-m", fmt.Sprintf("A part of it %d", len(c.w.log)))
	c.markCommits("HEAD~1..HEAD", CommittedInPart)
}

// stage stages a file, or some of its hunks.
func (c committer) stage(path string) {
	patch := c.w.Git("diff", "-U0", "--no-renames", "--", path)
	head, rest, ok := strings.Cut(patch, "\n@@ ")
	if !ok || c.w.chance(50) || strings.Contains(head, "deleted file") || strings.Contains(head, "new file") {
		c.w.Git("add", "-A", "--", path)
		c.w.note("  %s", path)
		return
	}
	var chosen []string
	hunks := strings.Split(rest, "\n@@ ")
	left := 0 // number of lines that the skipped hunks would have added
	for _, hunk := range hunks {
		h := parseHunk(hunk)
		if c.w.chance(50) {
			h.new -= left
			chosen = append(chosen, h.String())
		} else {
			left += h.newLines - h.oldLines
		}
	}
	c.w.note("  %d of %d hunks of %s", len(chosen), len(hunks), path)
	if len(chosen) > 0 {
		c.w.GitInput(head+"\n@@ "+strings.Join(chosen, "\n@@ ")+"\n", "apply", "--cached", "--unidiff-zero", "-")
	}
}

// hunk is a hunk of a diff without context.
type hunk struct {
	old, oldLines, new, newLines int
	rest                         string // the text after the numbers
}

// parseHunk parses a hunk without its leading "@@ ".
func parseHunk(text string) hunk {
	numbers, rest, _ := strings.Cut(text, " @@")
	h := hunk{rest: rest}
	span := func(s string, start, lines *int) {
		*lines = 1 // git omits it
		_, _ = fmt.Sscanf(s, "%d,%d", start, lines)
	}
	before, after, _ := strings.Cut(numbers, " ")
	span(strings.TrimPrefix(before, "-"), &h.old, &h.oldLines)
	span(strings.TrimPrefix(after, "+"), &h.new, &h.newLines)
	return h
}

func (h hunk) String() string {
	return fmt.Sprintf("-%d,%d +%d,%d @@%s", h.old, h.oldLines, h.new, h.newLines, h.rest)
}

// amend amends the last commit with more work.
func (c committer) amend() {
	if !c.all() {
		return
	}
	c.w.work()
	c.w.Git("add", "-A")
	clear(c.w.moved)
	c.w.note("amend")
	c.w.Git("commit", "-q", "--amend", "--no-edit", "--allow-empty")
	c.markCommits("HEAD~1..HEAD", Amended)
}

// topic makes a branch with the given number of commits, and leaves it checked out.
func (c committer) topic(commits int) (name string) {
	c.all()
	name = fmt.Sprintf("topic%d", len(c.w.log))
	c.w.note("branch %s", name)
	c.w.Git("checkout", "-q", "-b", name)
	for range commits {
		c.w.work()
		c.all()
	}
	return name
}

// meanwhile has the person commit on main, in most cases.
func (c committer) meanwhile() {
	c.w.Git("checkout", "-q", "main")
	c.w.pass()
	if c.w.chance(60) {
		c.w.note("meanwhile on main:")
		c.w.person().create()
		c.all()
	}
	c.w.pass()
}

// try runs a git operation, and aborts it if it stops at a conflict.
func (c committer) try(args ...string) bool {
	c.w.note("git %s", strings.Join(args, " "))
	if c.w.TryGit(args...).Code == 0 {
		return true
	}
	c.w.note("given up")
	for _, what := range []string{"rebase", "cherry-pick", "revert"} {
		c.w.TryGit(what, "--abort")
	}
	c.w.Git("reset", "-q", "--hard")
	return false
}

// squash commits a branch as one commit on main.
func (c committer) squash() {
	name := c.topic(2)
	c.meanwhile()
	if !c.try("merge", "-q", "--squash", name) || c.w.TryGit("diff", "--cached", "--quiet").Code == 0 {
		return
	}
	if c.w.chance(50) {
		c.w.Git("commit", "-q", "--no-edit")
	} else {
		c.w.Git("commit", "-q", "-m", "Squashed "+name)
	}
	c.markCommits("HEAD~1..HEAD", SquashedByMerge)
}

// fixup melds the last commit into the previous one.
func (c committer) fixup() {
	name := c.topic(2)
	c.w.Git("checkout", "-q", "main")
	if c.w.Git("rev-list", "--count", "main.."+name) != "2" {
		c.try("merge", "-q", "--ff-only", name)
		return
	}
	c.w.Git("merge", "-q", "--ff-only", name)
	if c.try("-c", "sequence.editor=sed -i 2s/^pick/fixup/", "rebase", "-q", "-i", "HEAD~2") {
		c.markCommits("HEAD~1..HEAD", SquashedByRebase)
	}
}

// rebase rebases a branch onto main.
func (c committer) rebase() {
	name := c.topic(2)
	c.meanwhile()
	c.w.Git("checkout", "-q", name)
	done := c.try("rebase", "-q", "main")
	c.w.Git("checkout", "-q", "main")
	if done {
		c.w.Git("merge", "-q", "--ff-only", name)
		if count := c.w.Git("rev-list", "--count", "ORIG_HEAD..main"); count != "0" {
			c.markCommits("ORIG_HEAD..main", Rebased)
		}
	}
}

// revert reverts the last commit. Lines that it restores are the person's, who committed them; lines
// that it moves back to another file were moved by the person. A line that had only been formatted is
// its author's.
func (c committer) revert() {
	c.all()
	if c.w.Git("log", "-1", "--format=%s") == baseSubject { // otherwise no file would be left
		return
	}
	before := c.places()
	if !c.try("revert", "--no-edit", "HEAD") {
		return
	}
	after := c.places()
	for _, line := range slices.Sorted(maps.Keys(after)) {
		switch was, present := before[line]; {
		case !present && before[line+";"] == "" && before[strings.TrimSuffix(line, ";")] == "":
			c.w.facts[line] = &fact{kinds: []Kind{BroughtBack}}
		case !present:
		case was != after[line]:
			c.w.facts[line].mover = &writer{}
		}
	}
}

// places returns the file of each line of the worktree.
func (c committer) places() map[string]string {
	lines := map[string]string{}
	for _, path := range c.w.tracked() {
		for _, line := range c.w.counted(c.w.text(path)) {
			lines[strings.TrimSpace(line)] = path
		}
	}
	return lines
}

// markCommits marks the lines that commits add.
func (c committer) markCommits(commits string, kind Kind) {
	var added []string
	for line := range strings.Lines(c.w.Git("log", "-p", "-U0", "--format=", "--first-parent", commits)) {
		if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") {
			added = append(added, line[1:])
		}
	}
	c.w.mark(added, kind)
}
