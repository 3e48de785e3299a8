// Package tracking records what sessions do in a worktree: the states of sessions, what their
// transcripts add, the steps of their turns with the content of the files at each step, turn
// checkpoints on shadow branches, the snapshots that turns request, and the journal of decisions
// about commits. Functions take the workspace; none of them fires an event of a session.
package tracking
