// Package conversation restores transcripts: to the length at a rewind point, to their state before
// a rewind, or from a checkpoint. A replaced transcript is kept as a copy. It imports points,
// snapshots and the packages below.
package conversation
