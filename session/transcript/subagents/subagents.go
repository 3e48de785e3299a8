// Package subagents finds the transcripts of a session's subagents where agents keep them.
package subagents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// File is the transcript of a subagent.
type File struct {
	// Name is the name of the file, Path its path.
	Name, Path string
	Size       int64
	Changed    time.Time

	info fs.FileInfo
}

// IsRead reports whether a cursor is at the end of the file.
func (f File) IsRead(c transcript.Cursor) bool { return c.IsEnd(f.info) }

// Dir returns the folder of the subagents of the session whose transcript is path. It is beside the
// transcript or, for Qwen Code, beside the folder "chats". Gemini CLI names it after the session's
// id and keeps it in "chats"; the transcript's name contains only the beginning of the id. Dir
// returns "" if that folder is missing, and for Codex, whose subagents are stored among all
// sessions.
func Dir(path string) string {
	dir, name := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	switch {
	case isRollout(path):
		return ""
	case isChat(path):
		return folderOf(dir, name[strings.LastIndexByte(name, '-')+1:])
	case filepath.Base(dir) == "chats":
		return filepath.Join(filepath.Dir(dir), "subagents", name)
	}
	return filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "subagents")
}

// isRollout reports whether path is a transcript of Codex.
func isRollout(path string) bool { return strings.HasPrefix(filepath.Base(path), "rollout-") }

// isChat reports whether path is a transcript of Gemini CLI.
func isChat(path string) bool {
	return filepath.Base(filepath.Dir(path)) == "chats" && strings.HasPrefix(filepath.Base(path), "session-")
}

// folderOf returns the only folder in dir whose name begins with id, "" if there is none.
func folderOf(dir, id string) string {
	entries, err := os.ReadDir(dir)
	if err != nil || id == "" {
		return ""
	}
	found := ""
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), id) {
			continue
		}
		if found != "" {
			return ""
		}
		found = filepath.Join(dir, e.Name())
	}
	return found
}

// ID returns the id of the subagent whose transcript has the given file name.
func ID(name string) string {
	id := strings.TrimSuffix(name, filepath.Ext(name))
	if rest, ok := strings.CutPrefix(id, "rollout-"); ok {
		const stamp = len("2006-01-02T15-04-05-")
		return rest[min(stamp, len(rest)):]
	}
	return strings.TrimPrefix(id, "agent-")
}

// fileName returns the file name of a subagent's transcript. path is the session's transcript.
func fileName(path, id string) string {
	if isChat(path) {
		return id + ".jsonl"
	}
	return "agent-" + id + ".jsonl"
}

// Files lists the transcripts of the subagents of the session whose transcript is path, by name.
// Only regular files are listed; a missing folder is not an error.
func Files(path string) ([]File, error) {
	dir := Dir(path)
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list subagents: %w", err)
	}
	begin := fileName(path, "")
	begin = strings.TrimSuffix(begin, filepath.Ext(begin))
	var files []File
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), begin) || filepath.Ext(e.Name()) != ".jsonl" {
			continue
		}
		if f, ok := file(filepath.Join(dir, e.Name())); ok {
			files = append(files, f)
		}
	}
	return files, nil
}

// Find returns the transcript of the subagent id of the session whose transcript is path: in the
// session's folder or, for older agents, beside the session's transcript.
func Find(path, id string) (File, bool) {
	switch {
	case !transcript.IsToolID(id):
		return File{}, false
	case isRollout(path):
		return findRollout(filepath.Dir(path), id)
	}
	if f, ok := file(Path(path, id)); ok {
		return f, true
	}
	return file(filepath.Join(filepath.Dir(path), fileName(path, id)))
}

// findRollout returns the transcript of Codex with an id: in the folder of a day or, if the session
// was continued on another day, in any of the folders YEAR/MONTH/DAY.
func findRollout(day, id string) (File, bool) {
	name := "rollout-*-" + id + ".jsonl"
	all := filepath.Dir(filepath.Dir(filepath.Dir(day)))
	for _, place := range [][]string{{day, name}, {all, "*", "*", "*", name}} {
		if found := disk.Glob(place[0], place[1:]...); len(found) == 1 {
			return file(found[0])
		}
	}
	return File{}, false
}

// Path returns the path of a subagent's transcript, given the path of the session's transcript, ""
// if it depends on the subagent's start. id must satisfy [transcript.IsToolID].
func Path(path, id string) string {
	dir := Dir(path)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, fileName(path, id))
}

// file reads the metadata of a regular file and doesn't follow links.
func file(path string) (File, bool) {
	info, err := os.Lstat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return File{}, false
	}
	return File{Name: filepath.Base(path), Path: path, Size: info.Size(), Changed: info.ModTime(), info: info}, true
}

// Meta is the agent's record about a subagent.
type Meta struct {
	Type        string `json:"agentType"`
	Description string `json:"description"`
	ToolUse     string `json:"toolUseId"`
}

// ReadMeta reads the agent's record about the subagent id of the session whose transcript is path,
// false if there is no usable one.
func ReadMeta(path, id string) (Meta, bool) {
	const most = 64 << 10
	dir := Dir(path)
	if dir == "" || !transcript.IsToolID(id) {
		return Meta{}, false
	}
	name := filepath.Join(dir, "agent-"+id+".meta.json")
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return Meta{}, false
	}
	f, err := os.Open(name)
	if err != nil {
		return Meta{}, false
	}
	defer f.Close() //nolint:errcheck // only read
	var m Meta
	if err := json.NewDecoder(io.LimitReader(f, most)).Decode(&m); err != nil || !transcript.IsToolID(m.ToolUse) {
		return Meta{}, false
	}
	return m, true
}
