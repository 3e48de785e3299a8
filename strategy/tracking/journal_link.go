package tracking

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Link records that a commit carries a checkpoint, so that a commit that is undone and made
// again keeps its id. The latest links are in one small file. If that is lost, such a commit
// gets a new id or none.
type Link struct {
	ID       checkpoint.ID      `json:"id"`
	Commit   git.OID            `json:"commit"`
	Worktree string             `json:"worktree,omitempty"`
	Blobs    map[string]git.OID `json:"blobs,omitempty"` // the session's files in the commit
}

const (
	maxLinks = 64  // links kept
	maxBlobs = 100 // files kept of each
)

func linksPath(w *workspace.Workspace) string { return filepath.Join(w.RecordsDir(), "links.json") }

// Links returns the links, oldest first; none if they can't be read.
func Links(w *workspace.Workspace) []Link {
	data, err := disk.ReadFile(linksPath(w))
	if err != nil {
		return nil
	}
	var links []Link
	if json.Unmarshal(data, &links) != nil {
		return nil
	}
	return links
}

// RememberLink adds the link of a commit, replacing an older one with its id.
func RememberLink(w *workspace.Workspace, l Link) error {
	if len(l.Blobs) > maxBlobs {
		l.Blobs = nil
	}
	links := slices.DeleteFunc(Links(w), func(o Link) bool { return o.ID == l.ID })
	return saveLinks(w, append(links, l))
}

// MoveLinks updates the links of commits that were rewritten, by their old ids.
func MoveLinks(w *workspace.Workspace, moved map[git.OID]git.OID) error {
	links, changed := Links(w), false
	for i, l := range links {
		if to, ok := moved[l.Commit]; ok {
			links[i].Commit, changed = to, true
		}
	}
	if !changed {
		return nil
	}
	return saveLinks(w, links)
}

// Relink updates the links of the ids that a commit took over from the commit it
// replaced.
func Relink(ctx context.Context, w *workspace.Workspace, d Decision, commit git.OID) {
	links := Links(w)
	changed := false
	for i, l := range links {
		if l.Commit != commit && slices.Contains(d.Replaced, l.ID) {
			links[i].Commit, changed = commit, true
		}
	}
	if !changed {
		return
	}
	if err := saveLinks(w, links); err != nil {
		w.Log.WarnContext(ctx, "links not saved", "error", err.Error())
	}
}

func saveLinks(w *workspace.Workspace, links []Link) error {
	if len(links) > maxLinks {
		links = links[len(links)-maxLinks:]
	}
	data, err := json.Marshal(links)
	if err != nil {
		return err
	}
	return disk.WriteCache(linksPath(w), data, 0o600)
}
