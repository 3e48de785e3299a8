// Package memory holds the test of make memory: no command and no hook takes
// more than 150 MB on a tree of 500,000 files with a sparse file of 16 GB.
package memory
