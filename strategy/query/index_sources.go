package query

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// sources is the state of the record when the index was filled from it. If it is unchanged,
// the record has nothing new. It is determined without a git process.
type sources struct {
	// Refs changes with every branch, Contexts with every saved context, Snapshots with every
	// snapshot, Forgotten with the list of forgotten sessions and files.
	Refs      string `json:"refs"`
	Contexts  string `json:"contexts"`
	Snapshots string `json:"snapshots"`
	Forgotten string `json:"forgotten"`
	// Shallow changes with the boundary of a shallow clone.
	Shallow string `json:"shallow,omitempty"`
	// Mailmap changes with the worktree's file .mailmap, which maps the names of persons.
	Mailmap string `json:"mailmap,omitempty"`
	// Packs changes with git's packs. It is empty unless something was not indexed because
	// this clone lacks it: a new pack may have it.
	Packs string `json:"packs,omitempty"`
	// States are the files of session states, Live the transcripts of sessions that have
	// not ended, and those of their subagents.
	States map[string]string `json:"states"`
	Live   map[string]string `json:"live"`
	// OpenIndex are the transcripts of sessions that have not ended, by the names of states.
	Open map[string]string `json:"open"`
}

func decodeSources(text string) (s sources) {
	if json.Unmarshal([]byte(text), &s) != nil {
		return sources{}
	}
	return s
}

func (s *sources) equal(o *sources) bool {
	return s.Refs == o.Refs && s.Contexts == o.Contexts && s.Snapshots == o.Snapshots && s.Forgotten == o.Forgotten && s.Packs == o.Packs && s.Shallow == o.Shallow && s.Mailmap == o.Mailmap && maps.Equal(s.States, o.States) && maps.Equal(s.Live, o.Live)
}

// stampOf returns a text that changes when the file does.
func stampOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d.%d", info.Size(), info.ModTime().UnixNano())
}

func stampAt(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	return stampOf(info)
}

// look returns the present sources. known are those of the last run, which name the
// transcripts to examine.
func look(w *workspace.Workspace, known *sources) *sources {
	now := &sources{
		Refs: git.RefsFingerprint(w.Repo), Contexts: stampAt(filepath.Join(w.Repo.CommonDir, filepath.FromSlash(contextstore.Refs))),
		Snapshots: stampAt(filepath.Join(registry.RepositoryDir(w.Repo.CommonDir), "checkpoints")),
		Forgotten: stampAt(checkpoint.TombstonesPath(w.Repo.CommonDir)), Shallow: stampAt(filepath.Join(w.Repo.CommonDir, "shallow")),
		States: map[string]string{}, Live: map[string]string{}, Open: maps.Clone(known.Open),
	}
	if data := git.Mailmap(w.Repo); len(data) > 0 {
		now.Mailmap = disk.Digest(data)
	}
	if known.Packs != "" {
		now.Packs = packs(w)
	}
	entries, err := os.ReadDir(w.Sessions.Dir())
	if err != nil {
		return now // there are no states
	}
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || filepath.Ext(name) != ".json" || strings.HasPrefix(name, ".") {
			continue
		}
		if info, err := e.Info(); err == nil {
			now.States[name] = stampOf(info)
		}
	}
	for name, path := range now.Open {
		if now.States[name] != "" {
			now.addLive(path)
		}
	}
	return now
}

// packs returns a text that changes when git gets a pack. Loose objects don't change it.
func packs(w *workspace.Workspace) string {
	return stampAt(filepath.Join(w.Repo.CommonDir, "objects", "pack"))
}

// addLive adds a transcript and those of its subagents.
func (s *sources) addLive(path string) {
	s.Live[path] = stampAt(path)
	files, err := transcript.SubagentFiles(path)
	if err != nil {
		return
	}
	for _, file := range files {
		s.Live[file.Path] = fmt.Sprintf("%d.%d", file.Size, file.Changed.UnixNano())
	}
}
