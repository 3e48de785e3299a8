package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/settings"
)

func TestLogIsLazyAndLeveled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	log, closer := OpenLog(settings.WorktreeFolder(root), slog.LevelWarn)
	log.InfoContext(context.Background(), "quiet")
	if _, err := os.Stat(filepath.Join(root, ".entire")); err == nil {
		t.Error("made a folder before the first record")
	}
	log.WarnContext(context.Background(), "loud", slog.String("hook", "stop"))
	if err := closer.Close(); err != nil {
		t.Error(err)
	}
	lines := LogTail(LogPath(settings.WorktreeFolder(root)), 1000)
	var record map[string]any
	if len(lines) != 1 || json.Unmarshal([]byte(lines[0]), &record) != nil || record["msg"] != "loud" || record["hook"] != "stop" {
		t.Errorf("%q", lines)
	}
	info, err := os.Stat(LogPath(settings.WorktreeFolder(root)))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func TestAttackLog(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	log, closer := OpenLog(settings.WorktreeFolder(root), slog.LevelInfo)
	const text = "a\x1b]0;t\x07\u009b2J\u202e\x7f\U000e0041\nb"
	log.InfoContext(context.Background(), text, "text", text, "error", errors.New(text))
	if err := closer.Close(); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(LogPath(settings.WorktreeFolder(root)))
	line, last := bytes.CutSuffix(data, []byte("\n"))
	var record map[string]any
	if err != nil || !last || json.Unmarshal(line, &record) != nil || record["msg"] != text || record["text"] != text || record["error"] != text {
		t.Errorf("%q %v", data, err)
	}
	if bytes.ContainsFunc(line, plain.IsHidden) {
		t.Errorf("%q", line)
	}
}

func TestLogDoesNotCreateWorktree(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "gone")
	log, closer := OpenLog(settings.WorktreeFolder(root), slog.LevelInfo)
	log.ErrorContext(context.Background(), "lost")
	if _, err := os.Stat(root); err == nil {
		t.Error("made the worktree's folder")
	}
	if err := closer.Close(); err != nil {
		t.Error(err)
	}
}

func TestLogFollowsNoLinks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".entire", ".entire/logs", ".entire/logs/entire.log"} {
		root, elsewhere := t.TempDir(), t.TempDir()
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, path); err != nil {
			t.Fatal(err)
		}
		log, closer := OpenLog(settings.WorktreeFolder(root), slog.LevelInfo)
		log.ErrorContext(context.Background(), "lost")
		_ = closer.Close()
		if entries, _ := os.ReadDir(elsewhere); len(entries) > 0 {
			t.Errorf("wrote through %s", name)
		}
	}
}

func TestLogRotates(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Dir(LogPath(settings.WorktreeFolder(root))), 0o755); err != nil {
		t.Fatal(err)
	}
	old := strings.Repeat("{\"old\":true}\n", logLimit/13+1)
	if err := os.WriteFile(LogPath(settings.WorktreeFolder(root)), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	const writers = 8
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			log, closer := OpenLog(settings.WorktreeFolder(root), slog.LevelInfo)
			log.InfoContext(context.Background(), "new line", slog.Int("writer", i))
			_ = closer.Close()
		})
	}
	wg.Wait()
	kept, err := os.ReadFile(LogPath(settings.WorktreeFolder(root)) + ".1")
	if err != nil || !strings.HasPrefix(string(kept), old) {
		t.Errorf("the old log has %d bytes, %v", len(kept), err)
	}
	now, err := os.ReadFile(LogPath(settings.WorktreeFolder(root)))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(now)+string(kept[len(old):]), "new line"); n != writers {
		t.Errorf("%d lines of %d", n, writers)
	}
	entries, _ := os.ReadDir(filepath.Dir(LogPath(settings.WorktreeFolder(root))))
	if len(entries) != 2 {
		t.Errorf("%v", entries)
	}
}

func TestLogTailHasWholeLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("first\nsecond\nthird\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(LogTail(path, 9), "|"); got != "third" {
		t.Error(got)
	}
	if got := strings.Join(LogTail(path, 100), "|"); got != "first|second|third" {
		t.Error(got)
	}
}
