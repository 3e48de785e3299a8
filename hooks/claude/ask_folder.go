package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// askName is the folder in which the program runs, and the prefix of other folders' names if it is
// in use. The program keeps notes for each folder in which it was run, so the same folder is used
// if possible.
const askName = "ask"

// leftAfter is the age from which such a folder belongs to a killed process.
const leftAfter = time.Hour

// askFolder creates an empty folder in which to run the program, and returns a function that
// removes it. The program reads instructions and servers from its working directory and the folders
// above it (CLAUDE.md, .mcp.json), so the folder is below the user's home, where no other user may
// write.
func askFolder(environ []string) (dir string, remove func() error, err error) {
	home := ""
	for _, e := range environ {
		if value, ok := strings.CutPrefix(e, "HOME="); ok {
			home = value
		}
	}
	if !filepath.IsAbs(home) {
		return "", nil, errors.New("no folder to run claude in: HOME isn't set to an absolute path")
	}
	cache := filepath.Join(home, ".cache")
	base := filepath.Join(cache, "entire")
	if err := disk.Step("mkdir", base); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", nil, fmt.Errorf("no folder to run claude in: %w", err)
	}
	for _, folder := range []string{home, cache, base} {
		if err := closedToOthers(folder); err != nil {
			return "", nil, err
		}
	}
	dir = filepath.Join(base, askName)
	err = os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		dir, err = os.MkdirTemp(base, askName+"-*")
	}
	if err != nil {
		return "", nil, fmt.Errorf("no folder to run claude in: %w", err)
	}
	sweepAsked(base, dir)
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// closedToOthers returns an error if another user could create files in the folder.
func closedToOthers(folder string) error {
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return fmt.Errorf("no folder to run claude in: %w", err)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("claude isn't run below %s: every user can write there", folder)
	}
	physical, err := filepath.EvalSymlinks(folder)
	if err != nil || !disk.Owned(physical) {
		return fmt.Errorf("claude isn't run below %s: it belongs to another user", folder)
	}
	return nil
}

// sweepAsked removes the folders of killed processes, whose age is relative to the folder fresh.
// Errors are ignored; the next call tries again.
func sweepAsked(base, fresh string) {
	now, err := os.Stat(fresh)
	if err != nil {
		return
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), askName) || info.Mode().Type() != fs.ModeDir {
			continue
		}
		if now.ModTime().Sub(info.ModTime()) > leftAfter {
			_ = os.RemoveAll(filepath.Join(base, e.Name()))
		}
	}
}
