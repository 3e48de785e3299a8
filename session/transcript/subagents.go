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
)

// AgentFile is the transcript of a subagent.
type AgentFile struct {
	// Name is that of the file, Path where it is.
	Name, Path string
	Size       int64
	Changed    time.Time

	device, inode uint64
}

// Behind reports whether a cursor is at the end of the file.
func (f AgentFile) Behind(c Cursor) bool {
	return c.Offset == f.Size && c.Inode == f.inode && c.Device == f.device
}

// AgentDir is the folder of the subagents of the session whose transcript is
// path: beside the transcript or, as Qwen Code has it, beside the folder "chats".
func AgentDir(path string) string {
	if dir := filepath.Dir(path); filepath.Base(dir) == "chats" {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		return filepath.Join(filepath.Dir(dir), "subagents", name)
	}
	return filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "subagents")
}

// agentName is the file name of a subagent's transcript.
func agentName(id string) string { return "agent-" + id + ".jsonl" }

// AgentFiles lists the transcripts of the subagents of the session whose
// transcript is path, by name. Only regular files count; there are none where
// there is no folder.
func AgentFiles(path string) ([]AgentFile, error) {
	dir := AgentDir(path)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list subagents: %w", err)
	}
	var files []AgentFile
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), "agent-") || filepath.Ext(e.Name()) != ".jsonl" {
			continue
		}
		if f, ok := agentFile(filepath.Join(dir, e.Name())); ok {
			files = append(files, f)
		}
	}
	return files, nil
}

// FindAgent returns the transcript of the subagent id of the session whose
// transcript is path: in the session's folder or, as older agents have it,
// beside the session's.
func FindAgent(path, id string) (AgentFile, bool) {
	if !IsToolID(id) {
		return AgentFile{}, false
	}
	if f, ok := agentFile(AgentPath(path, id)); ok {
		return f, true
	}
	return agentFile(filepath.Join(filepath.Dir(path), agentName(id)))
}

// AgentPath is where the agent keeps the transcript of the subagent id, which [IsToolID]
// accepts, of the session whose transcript is path.
func AgentPath(path, id string) string { return filepath.Join(AgentDir(path), agentName(id)) }

// agentFile reads the metadata of a file and follows no link.
func agentFile(path string) (AgentFile, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return AgentFile{}, false
	}
	f := AgentFile{Name: filepath.Base(path), Path: path, Size: info.Size(), Changed: info.ModTime()}
	f.device, f.inode = identity(info)
	return f, true
}

// AgentMeta is what the agent keeps about a subagent.
type AgentMeta struct {
	Type        string `json:"agentType"`
	Description string `json:"description"`
	ToolUse     string `json:"toolUseId"`
}

// ReadAgentMeta reads what the agent keeps about the subagent id of the session
// whose transcript is path; false if there is nothing usable.
func ReadAgentMeta(path, id string) (AgentMeta, bool) {
	const most = 64 << 10
	if !IsToolID(id) {
		return AgentMeta{}, false
	}
	name := filepath.Join(AgentDir(path), "agent-"+id+".meta.json")
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return AgentMeta{}, false
	}
	f, err := os.Open(name)
	if err != nil {
		return AgentMeta{}, false
	}
	defer f.Close() //nolint:errcheck // only read
	var m AgentMeta
	if err := json.NewDecoder(io.LimitReader(f, most)).Decode(&m); err != nil || !IsToolID(m.ToolUse) {
		return AgentMeta{}, false
	}
	return m, true
}

// IsToolID reports whether s can be the id of a tool use or of a subagent: 1 to
// 128 letters, digits, dashes and underscores.
func IsToolID(s string) bool {
	const longest = 128
	return s != "" && len(s) <= longest && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}
