package testkit

import (
	"os"
	"path/filepath"
	"syscall"
)

// WriteProgram writes an executable file, and creates the folders above it. No process is started
// meanwhile: a child would have the file open for writing between its fork and its exec, and
// running the file would fail with "text file busy".
func WriteProgram(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		return err
	}
	return os.Chmod(path, 0o755)
}
