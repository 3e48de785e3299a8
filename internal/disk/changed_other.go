//go:build !linux && !darwin

package disk

import (
	"io/fs"
	"time"
)

// Changed is when the file last changed, as near as the system tells.
func Changed(info fs.FileInfo) time.Time { return info.ModTime() }
