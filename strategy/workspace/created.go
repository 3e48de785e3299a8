package workspace

import (
	"bytes"

	"github.com/seed-3aff656d/entire/internal/git"
)

// IsBlob reports whether a mode is that of a file or a symbolic link.
func IsBlob(mode git.Mode) bool { return mode != git.ModeModule && mode != git.ModeTree && mode != 0 }

// IsOpaque reports whether the lines of a file say nothing of its content: git
// takes it for binary, or it is what Git LFS stores in the place of another.
func IsOpaque(content []byte) bool {
	const looked = 8000 // as git does
	return bytes.IndexByte(content[:min(len(content), looked)], 0) >= 0 ||
		bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/"))
}
