package app

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// logLimit is the size at which the log is rotated. One old file is kept.
const logLimit = 5 << 20

// LogPath returns the path of the log of the worktree at root.
func LogPath(root string) string { return filepath.Join(root, ".entire", "logs", "entire.log") }

// OpenLog returns the log of the worktree at root: a JSON object per line, of level and above. It
// opens and creates nothing before the first record, and the returned closer may be closed in any
// case. If the log can't be written, the records are lost without further effect. Without a root
// all records are dropped.
//
// A hook logs one line with the keys component, hook, hook_type (agent, git), duration_ms,
// git_processes, success and, if there is one, session_id; a line with success=false is a failure
// that `entire status` counts.
func OpenLog(root string, level slog.Level) (*slog.Logger, io.Closer) {
	f := &logFile{root: root}
	if root == "" {
		return slog.New(slog.DiscardHandler), f
	}
	return slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{Level: level})), f
}

// logFile opens the log when the first line is written. slog serialises the
// calls of Write.
type logFile struct {
	root string
	file *os.File
	dead bool
}

// Write appends a line in one system call, so that lines of concurrent processes don't mix. Hidden
// characters are escaped, because logs are read with programs that print them as they are.
func (l *logFile) Write(line []byte) (int, error) {
	if l.file == nil && !l.dead {
		file, err := openLogFile(l.root)
		l.file, l.dead = file, err != nil
	}
	if l.dead {
		return len(line), nil
	}
	_, err := l.file.Write(plain.JSON(line))
	return len(line), err
}

// Close closes the log if it was opened.
func (l *logFile) Close() error {
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file, l.dead = nil, true
	return file.Close()
}

// openLogFile opens the log. It creates the log's directories, but not root, which may have been
// removed.
func openLogFile(root string) (*os.File, error) {
	path := LogPath(root)
	if err := disk.Step("append", path); err != nil {
		return nil, err
	}
	if _, err := settings.MakeFolder(root, "logs", 0o750); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil {
		if !info.Mode().IsRegular() {
			return nil, ErrNotRegular
		}
		if info.Size() >= logLimit {
			rotate(path)
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// ErrNotRegular means that the log is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// rotate renames the log to the old file. If two processes rotate at once, the second renames the
// new, small file; it appends those lines to the log again.
func rotate(path string) {
	mine := path + "." + strconv.Itoa(os.Getpid())
	if os.Rename(path, mine) != nil {
		return
	}
	info, err := os.Lstat(mine)
	if err == nil && info.Size() >= logLimit {
		_ = os.Rename(mine, path+".1")
		return
	}
	data, err := disk.ReadFile(mine)
	if err != nil {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if errors.Join(err, f.Close()) == nil {
		_ = os.Remove(mine)
	}
}

// LogTail returns the complete lines in the last limit bytes of the log.
func LogTail(path string, limit int64) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	from := max(info.Size()-limit, 0)
	data, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return nil
	}
	text := string(data)
	if from > 0 {
		_, text, _ = strings.Cut(text, "\n")
	}
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
