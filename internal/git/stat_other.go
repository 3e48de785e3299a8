//go:build !unix

package git

import "io/fs"

func sameDevice(_, _ fs.FileInfo) bool { return true }

func ownedByUser(string) bool { return true }

func freshen(string) error { return nil }
