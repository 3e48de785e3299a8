// Package turn saves the changes of a turn or a subagent's task: it observes the worktree,
// separates the turn's changes from those of others, and prepares the turn checkpoint on the
// shadow branch.
package turn
