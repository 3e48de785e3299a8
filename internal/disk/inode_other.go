//go:build !unix

package disk

import "io/fs"

// Inode names the file among those of its file system, where it has a name.
func Inode(fs.FileInfo) string { return "" }
