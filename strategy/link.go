package strategy

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// link remembers that a commit carries a checkpoint, so that a commit that was
// taken back and is made again keeps its id. The last of them stand in one
// small file, which can be lost: then such a commit gets a new id or none.
type link struct {
	ID       checkpoint.ID      `json:"id"`
	Commit   git.OID            `json:"commit"`
	Worktree string             `json:"worktree,omitempty"`
	Blobs    map[string]git.OID `json:"blobs,omitempty"` // what the commit made of the session's files
}

const (
	maxLinks = 64  // links remembered
	maxBlobs = 100 // files remembered of each
)

func (r *Recorder) linksPath() string { return filepath.Join(r.dir(), "links.json") }

func (r *Recorder) links() []link {
	data, err := os.ReadFile(r.linksPath())
	if err != nil {
		return nil
	}
	var links []link
	if json.Unmarshal(data, &links) != nil {
		return nil
	}
	return links
}

func (r *Recorder) saveLinks(links []link) error {
	if len(links) > maxLinks {
		links = links[len(links)-maxLinks:]
	}
	data, err := json.Marshal(links)
	if err != nil {
		return err
	}
	return disk.WriteCache(r.linksPath(), data, 0o600)
}

// remember adds the link of a commit, in place of an older one with its id.
func (r *Recorder) remember(l link) error {
	if len(l.Blobs) > maxBlobs {
		l.Blobs = nil
	}
	links := slices.DeleteFunc(r.links(), func(o link) bool { return o.ID == l.ID })
	return r.saveLinks(append(links, l))
}

// moveLinks follows commits that were rewritten.
func (r *Recorder) moveLinks(moved map[git.OID]git.OID) error {
	links, changed := r.links(), false
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

// takenBack returns the links of commits that are no longer in HEAD's history
// and whose content is being committed again: a file as it was, or one that they
// created with enough of its lines to be a share.
func (r *Recorder) takenBack(ctx context.Context, head git.OID, staged map[string]git.Change) []link {
	same := slices.DeleteFunc(r.links(), func(l link) bool {
		return l.Worktree != r.Repo.WorktreeID || l.Commit == head || !sharesBlob(l, staged) && len(createdAgain(l, staged)) == 0
	})
	if len(same) == 0 {
		return nil
	}
	if head != "" {
		commits := make([]git.OID, len(same))
		for i, l := range same {
			commits[i] = l.Commit
		}
		outside, err := r.Repo.Outside(ctx, head, commits)
		if err != nil {
			r.Log.WarnContext(ctx, "history not read, no older link is kept", "error", err.Error())
		}
		same = slices.DeleteFunc(same, func(l link) bool { return !slices.Contains(outside, l.Commit) })
	}
	return slices.DeleteFunc(same, func(l link) bool { return !sharesBlob(l, staged) && !r.sharesLines(ctx, l, staged) })
}

// createdAgain returns the files of a link that are created with other content.
func createdAgain(l link, staged map[string]git.Change) []string {
	var paths []string
	for path, oid := range l.Blobs {
		if c, ok := staged[path]; ok && c.OldMode == 0 && c.New != oid && isBlob(c.NewMode) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// sharesLines reports whether a file that is created has enough of the lines that
// the linked commit had in it.
func (r *Recorder) sharesLines(ctx context.Context, l link, staged map[string]git.Change) bool {
	files := r.created(staged, nil)
	s := &session.State{ID: string(l.ID)} // stands for whoever made the commit
	for _, path := range createdAgain(l, staged) {
		before := []authoredStep{{by: s.ID, blob: l.Blobs[path]}}
		share, ok, err := files.compare(ctx, s, comparison{staged[path].New, goneBlob, before})
		if err != nil {
			r.Log.WarnContext(ctx, "file not compared with an older commit's", "error", err.Error())
		}
		if ok && share.Counts() {
			return true
		}
	}
	return false
}

func sharesBlob(l link, staged map[string]git.Change) bool {
	for path, oid := range l.Blobs {
		if c, ok := staged[path]; ok && c.New == oid && oid != "" {
			return true
		}
	}
	return false
}
