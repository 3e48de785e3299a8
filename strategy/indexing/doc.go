// Package indexing fills the index of a repository (internal/index) from its record: from
// checkpoints, live transcripts, saved contexts, commits and snapshots. Indexed parts are not
// read again.
//
// It imports the package workspace of strategy.
package indexing
