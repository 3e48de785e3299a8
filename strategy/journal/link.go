package journal

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
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

func (ls *Links) linksPath() string { return filepath.Join(ls.RecordsDir(), "links.json") }

// All returns the links, oldest first; none if they can't be read.
func (ls *Links) All() []Link {
	data, err := disk.ReadFile(ls.linksPath())
	if err != nil {
		return nil
	}
	var links []Link
	if json.Unmarshal(data, &links) != nil {
		return nil
	}
	return links
}

// Remember adds the link of a commit, replacing an older one with its id.
func (ls *Links) Remember(l Link) error {
	if len(l.Blobs) > maxBlobs {
		l.Blobs = nil
	}
	links := slices.DeleteFunc(ls.All(), func(o Link) bool { return o.ID == l.ID })
	return ls.saveLinks(append(links, l))
}

// Move updates the links of commits that were rewritten, by their old ids.
func (ls *Links) Move(moved map[git.OID]git.OID) error {
	links, changed := ls.All(), false
	for i, l := range links {
		if to, ok := moved[l.Commit]; ok {
			links[i].Commit, changed = to, true
		}
	}
	if !changed {
		return nil
	}
	return ls.saveLinks(links)
}

// Relink updates the links of the ids that a commit took over from the commit it
// replaced.
func (ls *Links) Relink(ctx context.Context, d Decision, commit git.OID) {
	links := ls.All()
	changed := false
	for i, l := range links {
		if l.Commit != commit && slices.Contains(d.Replaced, l.ID) {
			links[i].Commit, changed = commit, true
		}
	}
	if !changed {
		return
	}
	if err := ls.saveLinks(links); err != nil {
		ls.Log.WarnContext(ctx, "links not saved", "error", err.Error())
	}
}

func (ls *Links) saveLinks(links []Link) error {
	if len(links) > maxLinks {
		links = links[len(links)-maxLinks:]
	}
	data, err := json.Marshal(links)
	if err != nil {
		return err
	}
	return disk.WriteCache(ls.linksPath(), data, 0o600)
}
