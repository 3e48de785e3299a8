// Package bands stores snapshots of whole working trees: tracked, untracked and ignored files
// alike. A store contains bands (package band), to which content is appended, and a directory for
// each snapshot, with links to the bands that it refers to and a file that describes it.
//
// This package implements the store, its lock, its versions and the descriptions of snapshots. It
// reads the contents of a snapshot's files, and the files that record the restores of a tree: the
// history, from which they can be undone and redone, and the journal of a restore in progress. The
// packages below it operate on stores and depend on each other in one direction:
// docs/adr/0013-packages-of-bands.md.
//
// A store is used by many processes. Writers take its lock; readers need none, since written data
// never changes. The format is in docs/formats/bands.md.
package bands
