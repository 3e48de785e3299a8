// Package bands stores snapshots of whole working trees: tracked, untracked and ignored files
// alike. A store contains bands (package band), to which content is appended, and a directory for
// each snapshot, with links to the bands that it refers to and a file that describes it. Package
// tree describes the contents of a snapshot.
//
// This package implements the store, its lock, its versions and the descriptions of snapshots.
// The packages below it operate on them and depend on each other in one direction:
// docs/adr/0013-packages-of-bands.md.
//
// A store is used by many processes. Writers take its lock; readers need none, since written data
// never changes. The format is in docs/formats/bands.md.
package bands
