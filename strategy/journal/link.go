package journal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// Link remembers that a commit carries a checkpoint, so that a commit that was
// taken back and is made again keeps its id. The last of them stand in one
// small file, which can be lost: then such a commit gets a new id or none.
type Link struct {
	ID       checkpoint.ID      `json:"id"`
	Commit   git.OID            `json:"commit"`
	Worktree string             `json:"worktree,omitempty"`
	Blobs    map[string]git.OID `json:"blobs,omitempty"` // what the commit made of the session's files
}

const (
	maxLinks = 64  // links remembered
	maxBlobs = 100 // files remembered of each
)

func (r *Links) linksPath() string { return filepath.Join(r.RecordsDir(), "links.json") }

func (r *Links) Links() []Link {
	data, err := os.ReadFile(r.linksPath())
	if err != nil {
		return nil
	}
	var links []Link
	if json.Unmarshal(data, &links) != nil {
		return nil
	}
	return links
}

func (r *Links) saveLinks(links []Link) error {
	if len(links) > maxLinks {
		links = links[len(links)-maxLinks:]
	}
	data, err := json.Marshal(links)
	if err != nil {
		return err
	}
	return disk.WriteCache(r.linksPath(), data, 0o600)
}

// Remember adds the link of a commit, in place of an older one with its id.
func (r *Links) Remember(l Link) error {
	if len(l.Blobs) > maxBlobs {
		l.Blobs = nil
	}
	links := slices.DeleteFunc(r.Links(), func(o Link) bool { return o.ID == l.ID })
	return r.saveLinks(append(links, l))
}

// MoveLinks follows commits that were rewritten.
func (r *Links) MoveLinks(moved map[git.OID]git.OID) error {
	links, changed := r.Links(), false
	for i, l := range links {
		if to, ok := moved[l.Commit]; ok {
			links[i].Commit, changed = to, true
		}
	}
	if !changed {
		return nil
	}
	return r.saveLinks(links)
}
