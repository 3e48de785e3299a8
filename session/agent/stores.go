package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Store is a folder in which an agent keeps sessions, or its database.
type Store struct {
	Path string
	// Dir is the folder in which the store's sessions began, by the agent's own list, "" if it has
	// none.
	Dir string
	// IsNamed reports that Path is named after one of the folders that were asked for. Other folders
	// may have the same name.
	IsNamed bool
	// Depth is the number of levels of folders below Path in which there are sessions.
	Depth int
	// Kind is the form of the store.
	Kind StoreKind
}

// StoreKind is the form of a [Store].
type StoreKind int

// The kinds.
const (
	// FileStore contains a file for each session.
	FileStore StoreKind = iota
	// DatabaseStore is a database of OpenCode.
	DatabaseStore
	// RecordStore contains a file for each session, message and part of a message: early versions of
	// OpenCode had it.
	RecordStore
)

// Stores returns those existing stores of the agent that may contain sessions that began in one of the
// folders or below it. Stores of other folders are left out where their names show it. Folders are
// absolute paths.
func (a Agent) Stores(getenv func(string) string, homeDir string, folders []string) ([]Store, error) {
	if dir := a.TestDir(getenv); dir != "" {
		return existing(Store{Path: dir, IsNamed: true})
	}
	home := a.Home(getenv, homeDir)
	if home == "" {
		return nil, nil
	}
	const days = 3 // YEAR/MONTH/DAY
	all := a.Transcripts(getenv, homeDir)
	switch a.layout {
	case byDate:
		return existing(Store{Path: all, Depth: days}, Store{Path: filepath.Join(home, "archived_sessions"), Depth: days})
	case inFolders:
		return existing(Store{Path: all, Depth: 1})
	case inRecords:
		var stores []Store
		for _, pattern := range []string{"opencode.db", "opencode-*.db"} { // each channel of releases has its own
			for _, path := range disk.Glob(home, pattern) {
				stores = append(stores, Store{Path: path, Kind: DatabaseStore})
			}
		}
		return existing(append(stores, Store{Path: filepath.Join(home, "storage"), Kind: RecordStore})...)
	case bySlug, inChats, byPath, inAgentTranscripts, byName:
	}
	projects, err := os.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	if a.layout == byName {
		dirs = projectDirs(home, all, projects, folders)
	}
	var stores []Store
	for _, p := range projects {
		if !p.IsDir() {
			continue
		}
		s := Store{Path: filepath.Join(all, p.Name())}
		if a.layout == byName {
			if s.Dir = dirs[p.Name()]; s.Dir == "" || !Within(s.Dir, folders) {
				continue
			}
		} else if mayHold, isNamed := a.mayHold(p.Name(), folders); mayHold {
			s.IsNamed = isNamed
		} else {
			continue
		}
		switch a.layout {
		case inChats, byName:
			s.Path = filepath.Join(s.Path, "chats")
		case inAgentTranscripts:
			s.Path, s.Depth = filepath.Join(s.Path, "agent-transcripts"), 1
		default:
		}
		stores = append(stores, s)
	}
	return existing(stores...)
}

// mayHold reports whether the folder of a project's sessions may be that of one of the folders or of a
// folder below them, and whether it has the name of one of them.
func (a Agent) mayHold(name string, folders []string) (mayHold, isNamed bool) {
	for _, folder := range folders {
		whole := ProjectSlug(folder)
		begin := whole + "-"
		if len(whole) > longestSlug {
			begin = whole[:longestSlug] // a hash follows
		}
		switch a.layout {
		case byPath:
			whole = pathName(folder)
			begin = strings.TrimSuffix(whole, "--") + "-"
		case inAgentTranscripts: // its sessions don't name their folder
			whole = shortSlug(folder)
			begin = whole + "/"
		default:
		}
		isNamed = isNamed || name == whole
		mayHold = mayHold || name == whole || strings.HasPrefix(name, begin)
	}
	return mayHold, isNamed
}

// projectDirs returns the folders of the projects of Gemini CLI by their names: those in its list of
// projects, those that the projects name themselves, and for early versions the hashes of the given
// folders.
func projectDirs(home, all string, projects []fs.DirEntry, folders []string) map[string]string {
	dirs := map[string]string{}
	for _, folder := range folders {
		hash := sha256.Sum256([]byte(folder))
		dirs[hex.EncodeToString(hash[:])] = folder
	}
	var list struct {
		Projects map[string]string `json:"projects"`
	}
	// Without the list the projects are known by their own files.
	_, _ = disk.ReadJSON(filepath.Join(home, "projects.json"), &list)
	for dir, name := range list.Projects {
		dirs[name] = dir
	}
	for _, p := range projects {
		if !p.IsDir() {
			continue
		}
		if owner, err := disk.ReadFile(filepath.Join(all, p.Name(), ".project_root")); err == nil {
			dirs[p.Name()] = strings.TrimSpace(string(owner))
		}
	}
	return dirs
}

// Within reports whether dir is one of the folders or below one. All are absolute paths.
func Within(dir string, folders []string) bool {
	dir = filepath.Clean(dir)
	for _, folder := range folders {
		folder = filepath.Clean(folder)
		if dir == folder || strings.HasPrefix(dir, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// existing returns those stores that exist.
func existing(stores ...Store) ([]Store, error) {
	var found []Store
	for _, s := range stores {
		_, err := os.Stat(s.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, nil
}

// SessionName returns the id of a session from the name of its file, which is relative to its store,
// false if no session has such a file. The id is "" if the name has only a part of it or none. Names end
// with .jsonl or .json; the names of compressed files must be passed without the ending of the
// compression.
func (a Agent) SessionName(rel string) (id string, ok bool) {
	dir, name := filepath.Split(filepath.Clean(rel))
	dir = filepath.Clean(dir)
	ext := filepath.Ext(name)
	id = strings.TrimSuffix(name, ext)
	isLines := ext == ".jsonl"
	if id == "" || strings.HasPrefix(name, ".") {
		return "", false
	}
	switch a.layout {
	case byDate:
		const stamp = len("2006-01-02T15-04-05-")
		rest, ok := strings.CutPrefix(id, "rollout-")
		return rest[min(stamp, len(rest)):], ok && isLines
	case inFolders:
		if dir != "." {
			return dir, id == "events" && isLines && filepath.Dir(dir) == "."
		}
		return id, isLines
	case inAgentTranscripts:
		return id, isLines && (dir == "." || dir == id)
	case byPath:
		_, id, ok = strings.Cut(id, "_")
		return id, ok && isLines
	case byName:
		return "", strings.HasPrefix(name, "session-") && (isLines || ext == ".json")
	case bySlug:
		return id, isLines && !strings.HasPrefix(name, "agent-") // a subagent, in early versions
	case inChats, inRecords:
	}
	return id, isLines
}

// StoreDir returns the folder in which the session of a file in a store of the agent began, if the store
// names it, else "".
func (a Agent) StoreDir(path string) string {
	dir := filepath.Dir(path)
	switch a.layout {
	case byName:
		// The list may have another project with this name since.
		if owner, err := disk.ReadFile(filepath.Join(filepath.Dir(dir), ".project_root")); err == nil {
			return strings.TrimSpace(string(owner))
		}
	case inFolders:
		about, err := disk.ReadFile(filepath.Join(dir, "workspace.yaml"))
		if err != nil {
			return ""
		}
		for line := range strings.Lines(string(about)) {
			if dir, ok := strings.CutPrefix(line, "cwd: "); ok {
				return strings.Trim(strings.TrimSpace(dir), `"'`)
			}
		}
	default:
	}
	return ""
}
