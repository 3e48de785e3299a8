package contextstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// The names in the tree of a saved context, see docs/formats/context.md.
const (
	metadataName = "checkpoint.json"
	filesDir     = "files"
	othersDir    = "others"
	storedFormat = 1
)

// maxSummary is the maximum length of a summary in runes.
const maxSummary = 300

// stored is the content of metadataName.
type stored struct {
	Format int `json:"format"`
	// Order is the time of creation in nanoseconds. It orders the contexts of one second.
	Order int64 `json:"order"`
	recall.Checkpoint
	State storedState `json:"state"`

	oid, tree git.OID // of the commit, if it exists
}

type storedState struct {
	Files     map[string]storedFile `json:"files"`
	Analysis  recall.Analysis       `json:"analysis"`
	Context   recall.Context        `json:"context"`
	TotalSize int64                 `json:"total_size_bytes"`
}

// storedFile is a file whose content is the object Blob.
type storedFile struct {
	recall.File
	Content *string `json:"content,omitempty"` // always nil: hides File.Content
	Blob    string  `json:"blob,omitempty"`
}

// write writes the objects of d and returns its commit. It reuses the tree of old if the
// contents are unchanged.
func (s Store) write(ctx context.Context, d, old *stored) (git.OID, error) {
	by, err := s.By(ctx)
	if err != nil {
		return "", err
	}
	data, err := d.encode()
	if err != nil {
		return "", err
	}
	meta, err := s.Repo.WriteBlob(data)
	if err != nil {
		return "", err
	}
	var root git.OID
	edits := []git.TreeEdit{{Path: metadataName, Mode: git.ModeFile, OID: meta}}
	if old != nil && maps.EqualFunc(d.State.Files, old.State.Files, func(a, b storedFile) bool { return a.Blob == b.Blob }) {
		root = old.tree
	} else {
		edits = append(edits, d.contentEdits()...)
	}
	tree, err := git.EditTree(ctx, s.Repo, root, edits)
	if err != nil {
		return "", err
	}
	d.tree = tree
	return s.Repo.WriteCommit(git.Commit{Tree: tree, Author: by, Committer: by, Message: d.Summary + "\n"})
}

// contentEdits returns the edits that add the contents to the tree, each at its placeOf.
func (d *stored) contentEdits() []git.TreeEdit {
	taken := map[string]bool{} // paths of files, and of the directories they are in
	var edits []git.TreeEdit
	for _, path := range slices.Sorted(maps.Keys(d.State.Files)) {
		if blob := d.State.Files[path].Blob; blob != "" {
			edits = append(edits, git.TreeEdit{Path: placeOf(path, taken), Mode: git.ModeFile, OID: git.OID(blob)})
		}
	}
	return edits
}

// placeOf returns the path of a file's content in the tree: below files/, or, if that path
// is invalid or conflicts with a taken one, others/ and the hash of the file's path.
func placeOf(path string, taken map[string]bool) string {
	conflict := !git.ValidPath(path) || taken[path+"/"]
	for i, c := range path {
		conflict = conflict || c == '/' && taken[path[:i]] // a directory of the path is a file
	}
	if !conflict {
		taken[path] = true
		for i, c := range path {
			if c == '/' {
				taken[path[:i+1]] = true
			}
		}
		return filesDir + "/" + path
	}
	return othersDir + "/" + disk.Digest([]byte(path))
}

func (d *stored) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("write %s: %w", metadataName, err)
	}
	return b.Bytes(), nil
}

// errNewer means that a newer version of the program stored a context.
var errNewer = errors.New("it is from a newer version")

// decode parses the output of encode. It drops invalid object ids of contents.
func decode(data []byte, id string, format git.Format) (*stored, error) {
	d := &stored{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("%w: %w", recall.ErrDamaged, err)
	}
	switch {
	case d.Format > storedFormat:
		return nil, fmt.Errorf("%w: %w", recall.ErrDamaged, errNewer)
	case d.Format < 1:
		return nil, fmt.Errorf("%w: no format", recall.ErrDamaged)
	}
	d.ID, d.Summary = id, singleLine(d.Summary)
	d.Checkpoint.State = recall.State{}
	if d.Status != recall.Pending {
		d.Status = recall.Kept
	}
	for path, f := range d.State.Files {
		f.Path, f.Content = path, nil
		if f.Blob != "" && !format.Valid(git.OID(f.Blob)) {
			f.Blob = ""
		}
		if f.Blob == "" {
			f.Omitted = cmp.Or(f.Omitted, recall.Unreadable)
		}
		d.State.Files[path] = f
	}
	return d, nil
}

// checkpoint returns the context without contents, and with empty instead of nil lists.
func (d *stored) checkpoint() recall.Checkpoint {
	c := d.Checkpoint
	c.State = recall.State{
		Files: make(map[string]recall.File, len(d.State.Files)), Analysis: d.State.Analysis, Context: d.State.Context,
		TotalSize: d.State.TotalSize,
	}
	for path, f := range d.State.Files {
		file := f.File
		file.Content, file.Blob = "", f.Blob
		c.State.Files[path] = file
	}
	return c.Filled()
}

// singleLine returns a text as one line of bounded length without control characters.
func singleLine(text string) string {
	line := strings.Join(strings.Fields(plain.Clean(text)), " ")
	if runes := []rune(line); len(runes) > maxSummary {
		return string(runes[:maxSummary-1]) + "…"
	}
	return line
}
