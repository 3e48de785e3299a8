package transcript

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
)

// SubagentFile is the transcript of a subagent.
type SubagentFile struct {
	// Name is the name of the file, Path its path.
	Name, Path string
	Size       int64
	Changed    time.Time

	info fs.FileInfo
}

// IsRead reports whether a cursor is at the end of the file.
func (f SubagentFile) IsRead(c Cursor) bool { return c.IsEnd(f.info) }

// SubagentDir returns the folder of the subagents of the session whose transcript is path. It is
// beside the transcript or, for Qwen Code, beside the folder "chats". Gemini CLI names it after the
// session's id and keeps it in "chats"; the transcript's name contains only the beginning of the
// id. SubagentDir returns "" if that folder is missing, and for Codex, whose subagents are stored
// among all sessions.
func SubagentDir(path string) string {
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

// SubagentID returns the id of the subagent whose transcript has the given file name.
func SubagentID(name string) string {
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

// SubagentFiles lists the transcripts of the subagents of the session whose transcript is path, by
// name. Only regular files are listed; a missing folder is not an error.
func SubagentFiles(path string) ([]SubagentFile, error) {
	dir := SubagentDir(path)
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
	var files []SubagentFile
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), begin) || filepath.Ext(e.Name()) != ".jsonl" {
			continue
		}
		if f, ok := subagentFile(filepath.Join(dir, e.Name())); ok {
			files = append(files, f)
		}
	}
	return files, nil
}

// FindSubagent returns the transcript of the subagent id of the session whose transcript is path:
// in the session's folder or, for older agents, beside the session's transcript.
func FindSubagent(path, id string) (SubagentFile, bool) {
	switch {
	case !IsToolID(id):
		return SubagentFile{}, false
	case isRollout(path):
		return findRollout(filepath.Dir(path), id)
	}
	if f, ok := subagentFile(SubagentPath(path, id)); ok {
		return f, true
	}
	return subagentFile(filepath.Join(filepath.Dir(path), fileName(path, id)))
}

// findRollout returns the transcript of Codex with an id: in the folder of a day or, if the session
// was continued on another day, in any of the folders YEAR/MONTH/DAY.
func findRollout(day, id string) (SubagentFile, bool) {
	name := "rollout-*-" + id + ".jsonl"
	all := filepath.Dir(filepath.Dir(filepath.Dir(day)))
	for _, place := range [][]string{{day, name}, {all, "*", "*", "*", name}} {
		if found := disk.Glob(place[0], place[1:]...); len(found) == 1 {
			return subagentFile(found[0])
		}
	}
	return SubagentFile{}, false
}

// SubagentPath returns the path of a subagent's transcript, given the path of the session's
// transcript, "" if it depends on the subagent's start. id must satisfy [IsToolID].
func SubagentPath(path, id string) string {
	dir := SubagentDir(path)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, fileName(path, id))
}

// subagentFile reads the metadata of a regular file and doesn't follow links.
func subagentFile(path string) (SubagentFile, bool) {
	info, err := os.Lstat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return SubagentFile{}, false
	}
	return SubagentFile{Name: filepath.Base(path), Path: path, Size: info.Size(), Changed: info.ModTime(), info: info}, true
}

// SubagentMeta is the agent's record about a subagent.
type SubagentMeta struct {
	Type        string `json:"agentType"`
	Description string `json:"description"`
	ToolUse     string `json:"toolUseId"`
}

// ReadSubagentMeta reads the agent's record about the subagent id of the session whose transcript
// is path, false if there is no usable one.
func ReadSubagentMeta(path, id string) (SubagentMeta, bool) {
	const most = 64 << 10
	dir := SubagentDir(path)
	if dir == "" || !IsToolID(id) {
		return SubagentMeta{}, false
	}
	name := filepath.Join(dir, "agent-"+id+".meta.json")
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return SubagentMeta{}, false
	}
	f, err := os.Open(name)
	if err != nil {
		return SubagentMeta{}, false
	}
	defer f.Close() //nolint:errcheck // only read
	var m SubagentMeta
	if err := json.NewDecoder(io.LimitReader(f, most)).Decode(&m); err != nil || !IsToolID(m.ToolUse) {
		return SubagentMeta{}, false
	}
	return m, true
}
