package savedcontext

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// maxLeft bounds the sessions whose facts are read, the latest first; maxLeftFile the bytes of
	// each.
	maxLeft     = 60
	maxLeftFile = 256 << 10
)

// leftPath returns the file with what a session left, in workspace.MemoryDir.
func leftPath(w *workspace.Workspace, id string) string {
	return filepath.Join(workspace.MemoryDir(w.Repo), id+".json")
}

// keepLeft records what a saved context has of its session, so that it remains when the context is
// pruned. The caller holds the lock.
func keepLeft(w *workspace.Workspace, c recall.Checkpoint) error {
	if len(c.Sessions) == 0 || !w.Options.Recall.CaptureAnalysis {
		return nil
	}
	return putLeft(w, memory.SessionOf(c))
}

func putLeft(w *workspace.Workspace, s memory.Session) error {
	first, err := json.Marshal(s.Header)
	second, failed := json.Marshal(s.Body)
	if err = cmp.Or(err, failed); err != nil {
		return fmt.Errorf("encode what session %s left: %w", s.ID, err)
	}
	path := leftPath(w, s.ID)
	if err := disk.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return disk.WriteCache(path, slices.Concat(first, []byte{'\n'}, second, []byte{'\n'}), 0o600)
}

// readLeft reads a file of workspace.MemoryDir.
func readLeft(path string) (s memory.Session, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxLeftFile))
	if err = errors.Join(err, f.Close()); err != nil {
		return s, err
	}
	first, second, _ := bytes.Cut(data, []byte{'\n'})
	return s, errors.Join(json.Unmarshal(first, &s.Header), json.Unmarshal(second, &s.Body))
}

// leftFile is a file of workspace.MemoryDir.
type leftFile struct {
	name string
	at   time.Time
}

// filesOf lists a folder's files, the latest first.
func filesOf(dir string) ([]leftFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the memory: %w", err)
	}
	var files []leftFile
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".json" {
			files = append(files, leftFile{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b leftFile) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	return files, nil
}

// pastSessions returns what the sessions of the repository left.
type pastSessions func() ([]memory.Session, error)

// readPast returns a function that reads what the sessions of the repository left when it is first
// called.
func readPast(ctx context.Context, w *workspace.Workspace) pastSessions {
	return sync.OnceValues(func() ([]memory.Session, error) { return leftSessions(ctx, w) })
}

// leftSessions returns what the sessions of the repository left: the stored ones, and those that are
// known only to the hooks' records. A damaged file is skipped.
func leftSessions(ctx context.Context, w *workspace.Workspace) ([]memory.Session, error) {
	dir := workspace.MemoryDir(w.Repo)
	files, err := filesOf(dir)
	if err != nil {
		return nil, err
	}
	found := map[string]memory.Session{}
	for _, f := range files[:min(len(files), maxLeft)] {
		s, err := readLeft(filepath.Join(dir, f.name))
		if err != nil {
			w.Log.WarnContext(ctx, "what a session left was not read", "file", f.name, "error", err.Error())
			continue
		}
		found[s.ID] = s
	}
	for _, c := range candidates(ctx, w) {
		if stored, ok := found[c.id]; ok && !c.Seen.Truncate(time.Second).After(stored.At) {
			continue
		}
		m, _, err := remembered(ctx, w, c.id)
		if err == nil && m.Asked {
			found[c.id] = memory.SessionOf(contextOf(w, c.id, m))
		}
	}
	list := make([]memory.Session, 0, len(found))
	for _, s := range found {
		list = append(list, s)
	}
	return list, nil
}

// contextOf returns what a saved context of a session would have, without contents of files.
func contextOf(w *workspace.Workspace, id string, r *contextRecord) recall.Checkpoint {
	c := recall.Checkpoint{Sessions: []string{id}, CreatedAt: r.Seen.Truncate(time.Second), Worktree: r.Worktree}
	src := digest.Sources{Root: r.Worktree, Branch: r.Digest.Branch, Said: r.Said}
	c.State.Files = make(map[string]recall.File, len(r.Files))
	for path, f := range r.Files {
		path = w.Redact.Path(path)
		c.State.Files[path] = f.File
		src.Files = append(src.Files, path)
	}
	slices.Sort(src.Files)
	c.State.Analysis, c.State.Context = r.Digest.Analysis(src), r.Digest.Context(src)
	return c
}

// Memory returns what the sessions of the repository left, without that of the session without, for
// the checked out branch.
func Memory(ctx context.Context, w *workspace.Workspace, without string) (memory.Memory, error) {
	branch, err := branchShown(ctx, w)
	if err != nil {
		return memory.Memory{}, err
	}
	return memoryOf(w, readPast(ctx, w), without, branch)
}

// memoryOf combines what the sessions left, without that of the session without: all facts, and the work of the sessions
// of a branch. On a trunk, where the sessions have different subjects, it is the work of the sessions
// only.
func memoryOf(w *workspace.Workspace, past pastSessions, without, branch string, only ...string) (memory.Memory, error) {
	list, err := past()
	if err != nil {
		return memory.Memory{}, err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(s memory.Session) bool { return s.ID == without })
	scope := memory.Scope{Branch: branch, Worktree: w.Repo.Root}
	if recall.IsTrunk(branch) {
		scope.Only = only
	}
	return memory.Of(list, scope), nil
}

// encodedMemory returns the memory for the hooks of a session, in JSON; empty if it has no facts.
func encodedMemory(ctx context.Context, w *workspace.Workspace, past pastSessions, without string) ([]byte, error) {
	branch, err := branchShown(ctx, w)
	if err != nil {
		return nil, err
	}
	m, err := memoryOf(w, past, without, branch)
	if err != nil || len(m.Facts) == 0 {
		return nil, err
	}
	data, err := json.Marshal(m)
	return append(data, '\n'), err
}

// pruneMemory removes what sessions left if it is older than age, and all but the latest most.
func pruneMemory(w *workspace.Workspace, age time.Duration) error {
	const most = 500
	files, err := filesOf(workspace.MemoryDir(w.Repo))
	if err != nil {
		return err
	}
	var failed []error
	for i, f := range files {
		if i >= most || w.Env.Now().Sub(f.at) > age {
			failed = append(failed, disk.Remove(filepath.Join(workspace.MemoryDir(w.Repo), f.name)))
		}
	}
	return errors.Join(failed...)
}
