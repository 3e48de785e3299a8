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

// askName is the folder in which the program runs, and begins the names of others
// where one runs already. The program keeps notes of its own for each folder that it
// was run in, so it is the same one if possible.
const askName = "ask"

// leftAfter is the age at which such a folder was left by a killed process.
const leftAfter = time.Hour

// askFolder makes an empty folder to run the program in, which remove removes. The
// program reads instructions and servers from where it runs and from the folders
// above (CLAUDE.md, .mcp.json), so it lies below the user's home, where nobody else
// may write.
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

// closedToOthers returns an error if another user could put a file into the folder.
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

// sweepAsked removes what killed processes left, by the time at which the folder
// fresh was made. What can't be removed the next one tries again.
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
