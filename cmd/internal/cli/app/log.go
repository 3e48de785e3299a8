package app

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// logLimit is the size at which the log is rotated. One old file is kept.
const logLimit = 5 << 20

// LogPath returns the path of the log in the folder of a worktree.
func LogPath(in settings.Folder) string { return in.Path("logs", "entire.log") }

// OpenLog returns the log in the folder of a worktree: a JSON object per line, of level and above. It
// opens and creates nothing before the first record, and the returned closer may be closed in any
// case. If the log can't be written, the records are lost without further effect.
//
// A hook logs one line with the keys component, hook, hook_type (agent, git), duration_ms,
// git_processes, success and, if there is one, session_id; a line with success=false is a failure
// that `entire status` counts.
func OpenLog(in settings.Folder, level slog.Level) (*slog.Logger, io.Closer) {
	f := &logFile{folder: in}
	return slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{Level: level})), f
}

// logFile opens the log when the first line is written. slog serialises the
// calls of Write.
type logFile struct {
	folder settings.Folder
	file   *os.File
	dead   bool
}

// Write appends a line in one system call, so that lines of concurrent processes don't mix. Hidden
// characters are escaped, because logs are read with programs that print them as they are.
func (l *logFile) Write(line []byte) (int, error) {
	if l.file == nil && !l.dead {
		file, err := openLogFile(l.folder)
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

// openLogFile opens the log. It creates the log's directories, but not the worktree, which may have
// been removed.
func openLogFile(in settings.Folder) (*os.File, error) {
	path := LogPath(in)
	if err := disk.Step("append", path); err != nil {
		return nil, err
	}
	if _, err := in.Make("logs", 0o750); err != nil {
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
