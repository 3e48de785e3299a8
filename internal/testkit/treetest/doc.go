// Package treetest makes working trees with every kind of file, edits them at random, and reads
// them exactly, to compare restored trees with the original ones.
//
// It imports none of the packages under test, so that a test never agrees with a bug.
package treetest
