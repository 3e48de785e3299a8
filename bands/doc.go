// Package bands keeps snapshots of whole working trees: tracked, untracked and
// ignored files alike. A store holds bands (package band), to which content is
// appended, and for each snapshot a directory that holds links to the bands it
// refers to and a file that describes it. Package tree describes what is in
// one.
//
// This package has the store itself, its lock, its versions and the snapshots'
// descriptions. What is done with them is in the packages below it, which
// depend on each other in one direction: docs/adr/0013-packages-of-bands.md.
//
// A store is used by many processes: what writes takes its lock. Reading needs
// none, since what is written never changes. The format is in
// docs/formats/bands.md.
package bands
