//go:build faults || fs

package main

import "io/fs"

// treeOf returns every file of the worktree: names, modes and contents. Times are left out: a
// rewind gives the files that it writes the current time.
func treeOf(p *play) string { return listed(p, fs.FileInfo.Mode) }
