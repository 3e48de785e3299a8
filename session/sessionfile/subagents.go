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
		files, err = f.databaseSubagents(ctx)
	case strings.HasPrefix(filepath.Base(plain), "rollout-"):
		files, err = f.rollouts(ctx)
	default:
		files, err = f.subagentFiles(ctx, plain)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID)) })
	return files, err
}

// subagentFiles returns the transcripts in the folder of the session's subagents, and those beside the
// session's file, where early versions of Claude Code kept them.
func (f File) subagentFiles(ctx context.Context, path string) ([]File, error) {
	var files []File
	if dir := transcript.SubagentDir(path); dir != "" {
		found, err := f.filesIn(ctx, dir, func(*head, fs.FileInfo) bool { return true })
		if err != nil {
			return nil, err
		}
		files = found
	}
	name := filepath.Base(path)
	if strings.HasPrefix(name, "agent-") || filepath.Base(filepath.Dir(path)) == "chats" {
		return files, nil
	}
	beside, err := f.filesIn(ctx, filepath.Dir(path), func(h *head, _ fs.FileInfo) bool { return h.id == f.ID })
	return append(files, beside...), err
}

// filesIn returns the transcripts of subagents in a folder for which isOurs returns true.
func (f File) filesIn(ctx context.Context, dir string, isOurs func(*head, fs.FileInfo) bool) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	isFolderOfSubagents := dir != filepath.Dir(f.Path)
	var files []File
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name, _ := uncompressed(e.Name())
		if !e.Type().IsRegular() || filepath.Ext(name) != ".jsonl" || !isFolderOfSubagents && !strings.HasPrefix(name, "agent-") {
			continue
		}
		info, err := e.Info()
		if err != nil || !isFolderOfSubagents && !f.spans(info.ModTime()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		h, info, err := readHead(path, false, nil)
		if err != nil || !h.hasConversation || !isOurs(h, info) {
			continue
		}
		file := h.file(f.Agent, path, info)
		file.ID, file.Dir = transcript.SubagentID(name), cmp.Or(file.Dir, f.Dir)
		files = append(files, file)
	}
	return files, nil
}

// spans reports whether a file that was last modified at a time may belong to the session, so that other
// files need not be read.
func (f File) spans(at time.Time) bool {
	const slack = 24 * time.Hour
	return !at.Before(f.Start.Add(-slack)) && !at.After(f.End.Add(slack))
}

// rollouts returns the rollouts of the session's subagents, which Codex keeps among those of all sessions.
func (f File) rollouts(ctx context.Context) ([]File, error) {
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
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // there is no such day
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			name, _ := uncompressed(e.Name())
			path := filepath.Join(dir, e.Name())
			if !strings.HasPrefix(name, "rollout-") || filepath.Ext(name) != ".jsonl" || path == f.Path {
				continue
			}
			h, info, err := readHead(path, false, func(h *head) bool { return h.isSubagent })
			if err != nil || h.label != forms.Codex || !h.isSubagent || h.parent == "" {
				continue
			}
			parents[h.parent] = append(parents[h.parent], h.file(f.Agent, path, info))
		}
	}
	return descendants(parents, f.ID), nil
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
