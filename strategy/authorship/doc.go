// Package authorship determines who changed the files of a worktree since a snapshot, and who wrote
// the lines of a commit: sessions of agents, by their steps and transcripts, or a person. It writes
// only the attribution in session states.
package authorship
