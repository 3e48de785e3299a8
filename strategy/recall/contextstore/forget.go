package contextstore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Without describes the data to remove from a checkpoint.
type Without struct {
	// Paths are files whose contents, hashes and declarations are removed.
	Paths []string
	// Mask is applied to the checkpoint's metadata and message. It must keep JSON valid.
	Mask func(data []byte) []byte
}

// Rewrite writes the commit that replaces the commit oid of a checkpoint and returns its
// id, or oid if nothing changes. It writes objects but updates no ref. A checkpoint that
// can't be read, or was made by a newer version, is an error.
func Rewrite(ctx context.Context, repo *git.Repo, oid git.OID, what Without) (git.OID, error) {
	c, err := repo.Commit(ctx, string(oid))
	if err != nil {
		return "", err
	}
	entry, found, err := git.LookupPath(ctx, repo, c.Tree, metadataName)
	if err != nil || !found {
		return oid, err
	}
	object, err := repo.Read(ctx, string(entry.OID))
	if err != nil {
		return "", err
	}
	d := &stored{}
	if err := json.Unmarshal(object.Data, d); err != nil {
		return "", fmt.Errorf("%w: %w", recall.ErrDamaged, err)
	}
	if d.Format > storedFormat {
		return "", fmt.Errorf("%w: %w", recall.ErrDamaged, errNewer)
	}
	data := object.Data
	var edits []git.TreeEdit
	before := maps.Clone(d.State.Files)
	some := false // whether any file had data to remove
	for _, path := range what.Paths {
		f, found := d.State.Files[path]
		if !found || f.Blob == "" && f.Hash == "" && len(f.Outline) == 0 {
			continue
		}
		if f.Blob != "" {
			d.State.TotalSize -= f.Size
		}
		some = true
		f.Blob, f.Hash, f.Outline, f.Omitted = "", "", nil, recall.Forgotten
		d.State.Files[path] = f
	}
	if some {
		if data, err = d.encode(); err != nil {
			return "", err
		}
		places := (&stored{State: storedState{Files: before}}).contentEdits()
		kept := map[string]bool{}
		for _, e := range d.contentEdits() {
			kept[e.Path] = true
			edits = append(edits, e)
		}
		for _, e := range places {
			if !kept[e.Path] {
				edits = append(edits, git.TreeEdit{Path: e.Path})
			}
		}
	}
	data = what.Mask(data)
	message := string(what.Mask([]byte(c.Message)))
	if string(data) == string(object.Data) && message == c.Message {
		return oid, nil
	}
	meta, err := repo.WriteBlob(data)
	if err != nil {
		return "", err
	}
	edits = append(edits, git.TreeEdit{Path: metadataName, Mode: git.ModeFile, OID: meta})
	tree, err := git.EditTree(ctx, repo, c.Tree, edits)
	if err != nil {
		return "", err
	}
	return repo.WriteCommit(git.Commit{Tree: tree, Parents: c.Parents, Author: c.Author, Committer: c.Committer, Message: message})
}
