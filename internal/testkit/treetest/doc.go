// Package treetest makes working trees of every kind of file, edits them at
// random, and reads them exactly: what is kept by a snapshot and brought back by
// a restore is held against what was there.
//
// It imports none of the packages under test, so that a test never agrees with
// a bug.
package treetest
