// Package condense writes the sessions' part of a commit into the commit's checkpoint on the
// metadata branch, carries the remaining files forward, and completes checkpoints with the rest of
// a turn's transcript.
package condense
