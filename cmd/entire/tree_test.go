//go:build faults || fs

package main

import "io/fs"

// treeOf is every file of the worktree: names, modes and contents. A rewind gives
// the files that it writes the present time.
func treeOf(p *play) string { return listed(p, fs.FileInfo.Mode) }
