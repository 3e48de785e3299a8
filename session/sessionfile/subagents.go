package sessionfile

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// Subagents returns the transcripts of the session's subagents, sorted by their starts and ids. The ID of
// each is the subagent's. Files that can't be read are left out.
func (f File) Subagents(ctx context.Context) ([]File, error) {
	plain, _ := uncompressed(f.Path)
	var files []File
	var err error
	switch {
	case isDatabase(f.Path), isRecord(f.Path):
		files, err = f.storedSubagents(ctx)
	case strings.HasPrefix(filepath.Base(plain), "rollout-"):
		files, err = f.rollouts(ctx)
	default:
		files, err = f.subagentFiles(ctx, plain)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID)) })
	return files, err
}

// neighbors holds the transcripts of subagents that a search has found among those of sessions, so that a
// folder isn't searched for each of its sessions.
type neighbors struct {
	// children are the sessions of subagents that are stored like those of persons, by the session that
	// started them.
	children map[string][]File

	mu     sync.Mutex
	beside map[string][]string          // names of files of subagents, by their folder
	read   map[string]map[string][]File // their transcripts, by their folder and their session
}

// subagentFiles returns the transcripts in the folder of the session's subagents, and those beside the
// session's file, where early versions of Claude Code kept them.
func (f File) subagentFiles(ctx context.Context, path string) ([]File, error) {
	var files []File
	if dir := transcript.SubagentDir(path); dir != "" {
		names, err := namesIn(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if sub, _, ok := f.subagent(filepath.Join(dir, name)); ok {
				files = append(files, sub)
			}
		}
	}
	if isSubagentName(filepath.Base(path)) || filepath.Base(filepath.Dir(path)) == "chats" {
		return files, nil
	}
	beside, err := f.besideFiles(ctx)
	return append(files, beside...), err
}

// besideFiles returns the transcripts of subagents beside the session's file.
func (f File) besideFiles(ctx context.Context) ([]File, error) {
	near, dir := f.near, filepath.Dir(f.Path)
	if near == nil {
		names, err := namesIn(dir)
		if err != nil {
			return nil, err
		}
		near = &neighbors{beside: map[string][]string{dir: names}, read: map[string]map[string][]File{}}
	}
	near.mu.Lock()
	defer near.mu.Unlock()
	if near.read[dir] == nil {
		bySession := map[string][]File{}
		for _, name := range near.beside[dir] {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !isSubagentName(name) {
				continue
			}
			if sub, session, ok := f.subagent(filepath.Join(dir, name)); ok {
				bySession[session] = append(bySession[session], sub)
			}
		}
		near.read[dir] = bySession
	}
	files := slices.Clone(near.read[dir][f.ID])
	for i := range files {
		files[i].Agent = f.Agent
	}
	return files, nil
}

// isSubagentName reports whether a file has the name that Claude Code gives the transcript of a subagent.
func isSubagentName(name string) bool { return strings.HasPrefix(name, "agent-") }

// namesIn returns the names of the files of lines in a folder, none if there is no such folder.
func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, _ := uncompressed(e.Name()); e.Type().IsRegular() && filepath.Ext(name) == ".jsonl" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// subagent returns the transcript of a subagent and the id of the session in its lines, false if it can't be
// read.
func (f File) subagent(path string) (sub File, session string, ok bool) {
	h, info, err := readHead(path, false, nil)
	if err != nil || !h.hasConversation {
		return File{}, "", false
	}
	name, _ := uncompressed(filepath.Base(path))
	sub = h.file(f.Agent, path, info)
	sub.ID, sub.Dir = transcript.SubagentID(name), cmp.Or(sub.Dir, f.Dir)
	return sub, h.id, true
}

// rollouts returns the rollouts of the session's subagents, which Codex keeps among those of all sessions.
func (f File) rollouts(ctx context.Context) ([]File, error) {
	if f.near != nil {
		return descendants(f.near.children, f.ID), nil
	}
	own := filepath.Dir(f.Path)
	dirs := []string{own}
	if at, err := time.Parse("2006/01/02", filepath.ToSlash(lastElements(own, 3))); err == nil { //nolint:mnd // YEAR/MONTH/DAY
		all := filepath.Dir(filepath.Dir(filepath.Dir(own)))
		for end := f.End.AddDate(0, 0, 1); at.Before(end); {
			at = at.AddDate(0, 0, 1)
			dirs = append(dirs, filepath.Join(all, at.Format("2006"), at.Format("01"), at.Format("02")))
		}
		dirs = append(dirs, filepath.Join(filepath.Dir(all), "archived_sessions"))
	}
	parents := map[string][]File{}
	for _, dir := range dirs {
		names, err := namesIn(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			path := filepath.Join(dir, name)
			if !strings.HasPrefix(name, "rollout-") || path == f.Path {
				continue
			}
			h, info, err := readHead(path, false, func(h *head) bool { return h.isSubagent })
			if err == nil && h.label == forms.Codex && h.isSubagent && h.parent != "" {
				parents[h.parent] = append(parents[h.parent], h.file(f.Agent, path, info))
			}
		}
	}
	return descendants(parents, f.ID), nil
}

// descendants returns the subagents of a session and of its subagents.
func descendants(children map[string][]File, id string) []File {
	var files []File
	seen := map[string]bool{}
	for open := []string{id}; len(open) > 0; open = open[1:] {
		if seen[open[0]] {
			continue
		}
		seen[open[0]] = true
		for _, sub := range children[open[0]] {
			files, open = append(files, sub), append(open, sub.ID)
		}
	}
	return files
}

// lastElements returns the last n elements of a path.
func lastElements(path string, n int) string {
	var last string
	for range n {
		last = filepath.Join(filepath.Base(path), last)
		path = filepath.Dir(path)
	}
	return last
}
