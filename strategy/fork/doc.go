// Package fork creates second working trees of earlier moments: git worktrees with all files of a
// snapshot, including ignored ones. It lists and removes them, and compares them with their
// beginning. docs/formats/fork.md describes the record of a fork.
//
// It imports the packages sessions, workspace, snapshots and points.
package fork
