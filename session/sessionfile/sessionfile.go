// Package sessionfile finds the files in which coding agents keep their sessions, and reads their lines.
//
// Where an agent keeps sessions, and how it names them, is in the table of package agent. The forms of
// the files are:
//
//   - JSON lines, which are returned as they are;
//   - JSON lines of Codex without events of messages or of patches, of early versions and other programs:
//     the lines get the envelope that later versions write, and those messages and patches their events;
//   - one JSON document, of early versions of Gemini CLI and of exports of OpenCode: each message
//     becomes the lines that the present version writes for it. The documents of other programs become
//     lines in Claude Code's form;
//   - rows of the database of OpenCode, or one JSON file for each of its messages and parts: they become
//     the lines that package plugintranscript writes, but are not redacted.
//
// So every line can be read by itself, as package transcript does, and is in the form in which the agent
// writes its transcripts today. Files may be compressed with gzip or Zstandard. The package writes nothing
// and redacts nothing.
package sessionfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session/agent"
)

// ErrNoSession means that a file has no line of a conversation.
var ErrNoSession = errors.New("it has no line of a conversation")

// File is a session in a file, or in a database.
type File struct {
	Agent agent.Agent
	// ID is the id of the session, as hooks report it. Several files may have the same: a copy, or the
	// parts of a session that the agent continued in another file.
	ID string
	// Path is the path of the file or the database.
	Path string
	// Dir is the folder in which the session began, "" if neither the file nor its store names it.
	Dir string
	// Start and End are the times of the first and the last line. If the lines have no times, they are
	// those at which the file was created and modified. End is the latter for compressed files, too.
	Start, End time.Time
	// Size is the number of bytes in the file, compressed if it is; an estimate for a session in a
	// database.
	Size int64
	// Stamp changes whenever the content may have changed.
	Stamp string

	near *neighbors // of a session that was found
}

// Query selects sessions.
type Query struct {
	// Getenv and Home are the environment and the home directory by which agents find their folders.
	Getenv func(string) string
	Home   string
	// Roots are absolute paths of folders. A session is selected if it began in one of them or below. A
	// session of an agent that doesn't record the folder is selected if its store has the name of a root.
	Roots []string
	// Agents are the agents whose sessions are selected, all if it is empty.
	Agents []agent.Agent
	// Since leaves out sessions that ended before, unless it is zero.
	Since time.Time
	// Session selects the sessions with this id, unless it is empty.
	Session string
	// Progress, if not nil, is called after each examined file, one call at a time.
	Progress func(done, total int)
}

// Skipped is a file that can't be read as a session, and the reason.
type Skipped struct{ Path, Reason string }

// Find returns the selected sessions, sorted by their starts and ids, and the files that can't be read.
// It reads only the beginnings and ends of files. Files without a line of a conversation, and those of
// subagents, are no sessions. The error is that of the context.
func Find(ctx context.Context, q Query) (files []File, skipped []Skipped, err error) {
	s := search{Query: q, folders: newFolders(q.Roots), known: map[string]bool{}}
	s.near = &neighbors{children: map[string][]File{}, beside: map[string][]string{}, read: map[string]map[string][]File{}}
	agents := q.Agents
	if len(agents) == 0 {
		agents = agent.All()
	}
	for _, a := range agents {
		if err := s.list(ctx, a); err != nil {
			return nil, nil, err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, c := range s.candidates {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			f, ok, err := s.examine(c)
			s.add(c.path, f, ok, err)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(s.files, func(a, b File) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Path, b.Path))
	})
	slices.SortFunc(s.skipped, func(a, b Skipped) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason)) })
	return s.files, slices.Compact(s.skipped), nil
}

// Open returns the session in a file of any place and name, of the agent a or, if a is the zero Agent, of
// the agent whose form it has. It may be the file of a subagent. The error wraps [ErrNoSession] if there
// is no conversation in the file.
func Open(ctx context.Context, path string, a agent.Agent) (File, error) {
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return File{}, err
	}
	if a.Name == "" || a.HandsOver() {
		if f, ok, err := openStored(path); ok || err != nil {
			return f, err
		}
	}
	h, info, err := readHead(path, true, nil)
	if err != nil {
		return File{}, fmt.Errorf("read %s: %s", path, reasonOf(err))
	}
	if a.Name == "" {
		var known bool
		if a, known = agent.ByLabel(h.label); !known {
			return File{}, fmt.Errorf("read %s: it has the form of no known agent", path)
		}
	}
	if !h.hasConversation {
		return File{}, fmt.Errorf("read %s: %w", path, ErrNoSession)
	}
	f := h.file(a, path, info)
	name, _ := uncompressed(filepath.Base(path))
	id, _ := a.SessionName(name)
	f.ID = h.session(cmp.Or(id, strings.TrimSuffix(name, filepath.Ext(name))))
	if f.Dir == "" {
		f.Dir = a.StoreDir(path)
	}
	return f, nil
}

// openStored returns the session in a file of an early version of OpenCode, false if path is none.
func openStored(path string) (f File, ok bool, err error) {
	i := slices.IndexFunc(agent.All(), agent.Agent.HandsOver)
	switch {
	case i < 0:
		return File{}, false, nil
	case isDatabase(path):
		return File{}, false, fmt.Errorf("read %s: it is a database with many sessions", path)
	case !isRecord(path):
		return File{}, false, nil
	}
	if f, _, err = openRecord(agent.All()[i], path); err != nil {
		return File{}, false, fmt.Errorf("read %s: %w", path, err)
	}
	return f, true, nil
}

// search holds the state of a Find.
type search struct {
	Query

	folders    *folders
	candidates []candidate
	near       *neighbors
	known      map[string]bool // the sessions in databases

	mu      sync.Mutex
	done    int
	files   []File
	skipped []Skipped
}

// candidate is a file that may contain a selected session.
type candidate struct {
	agent agent.Agent
	store agent.Store
	path  string
	name  string // of the session
}

func (s *search) skip(path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped = append(s.skipped, Skipped{Path: path, Reason: reasonOf(err)})
}

// add records the result of an examination.
func (s *search) add(path string, f File, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.skipped = append(s.skipped, Skipped{Path: path, Reason: reasonOf(err)})
	case ok:
		s.files = append(s.files, f)
	}
	s.done++
	if s.Progress != nil {
		s.Progress(s.done, len(s.candidates))
	}
}

// list collects the candidates of an agent, and the sessions in its databases.
func (s *search) list(ctx context.Context, a agent.Agent) error {
	stores, err := a.Stores(s.Getenv, s.Home, s.folders.given)
	if err != nil {
		s.skip(a.Transcripts(s.Getenv, s.Home), err)
		return nil
	}
	for _, store := range stores {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch store.Kind {
		case agent.FileStore:
			s.walk(a, store, "", store.Depth)
		case agent.DatabaseStore:
			err = s.listDatabase(ctx, a, store.Path)
		case agent.RecordStore:
			err = s.listRecords(ctx, a, store.Path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walk collects the candidates in the folder rel of a store.
func (s *search) walk(a agent.Agent, store agent.Store, rel string, depth int) {
	dir := filepath.Join(store.Path, rel)
	entries, err := os.ReadDir(dir)
	if err != nil {
		s.skip(dir, err)
		return
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	for _, e := range entries {
		at := filepath.Join(rel, e.Name())
		if e.IsDir() {
			if depth > 0 {
				s.walk(a, store, at, depth-1)
			}
			continue
		}
		if isSubagentName(e.Name()) && e.Type().IsRegular() {
			s.near.beside[dir] = append(s.near.beside[dir], e.Name())
		}
		plain, isCompressed := uncompressed(at)
		id, ok := a.SessionName(plain)
		base := filepath.Base(plain)
		switch {
		case !ok:
			continue
		case isCompressed && names[base]: // the agent has uncompressed it
			continue
		case filepath.Ext(base) == ".json" && (names[base+"l"] || names[base+"l.gz"] || names[base+"l.zst"]): // the agent has copied it
			continue
		}
		s.candidates = append(s.candidates, candidate{agent: a, store: store, path: filepath.Join(dir, e.Name()), name: id})
	}
}

// examine reads the ends of a candidate's file, and reports whether it is a selected session.
func (s *search) examine(c candidate) (f File, ok bool, err error) {
	info, err := os.Lstat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed since
		return File{}, false, nil
	case err != nil:
		return File{}, false, err
	case info.Mode()&fs.ModeSymlink != 0:
		return File{}, false, errors.New("it is a symbolic link")
	case !s.Since.IsZero() && info.ModTime().Before(s.Since):
		return File{}, false, nil
	}
	h, info, err := readHead(c.path, false, func(h *head) bool { return h.dir == "" || c.store.IsNamed || s.folders.contain(h.dir) })
	if err != nil {
		return File{}, false, err
	}
	f = h.file(c.agent, c.path, info)
	if h.isSubagent && h.parent != "" {
		s.mu.Lock()
		s.near.children[h.parent] = append(s.near.children[h.parent], f)
		s.mu.Unlock()
	}
	f.near = s.near
	f.ID = h.session(c.name)
	f.Dir = cmp.Or(c.store.Dir, f.Dir)
	if f.Dir == "" {
		f.Dir = c.agent.StoreDir(c.path)
	}
	isHere := f.Dir == "" && c.store.IsNamed || s.folders.contain(f.Dir) || c.store.IsNamed && s.folders.contain(h.lastDir)
	return f, isHere && h.hasConversation && !h.isSubagent && s.isWanted(f), nil
}

// selects reports whether a session that names its folder is selected.
func (s *search) selects(f File) bool { return s.folders.contain(f.Dir) && s.isWanted(f) }

// isWanted reports whether a session has the id and the time of the query.
func (s *search) isWanted(f File) bool {
	return (s.Session == "" || s.Session == f.ID) && (s.Since.IsZero() || !f.End.Before(s.Since))
}

// folders are the roots of a query.
type folders struct {
	given []string // the roots, with links and resolved

	mu       sync.Mutex
	resolved map[string]bool // by folder: whether it is within the roots
}

func newFolders(roots []string) *folders {
	f := &folders{resolved: map[string]bool{}}
	for _, root := range roots {
		root = filepath.Clean(root)
		f.given = append(f.given, root)
		if target, err := filepath.EvalSymlinks(root); err == nil {
			f.given = append(f.given, target)
		}
	}
	slices.Sort(f.given)
	f.given = slices.Compact(f.given)
	return f
}

// contain reports whether a folder is one of the roots or below one, as written or with its links
// resolved.
func (f *folders) contain(dir string) bool {
	switch {
	case !filepath.IsAbs(dir):
		return false
	case agent.Within(dir, f.given):
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	is, known := f.resolved[dir]
	if !known {
		target, err := filepath.EvalSymlinks(dir)
		is = err == nil && agent.Within(target, f.given)
		f.resolved[dir] = is
	}
	return is
}

// reasonOf describes an error without the path, which is named beside it.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if errors.Is(err, disk.ErrNotRegular) {
		return "it is not a regular file"
	}
	return err.Error()
}
