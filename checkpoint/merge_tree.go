package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
)

// merger merges trees of the metadata branch.
type merger struct {
	repo *git.Repo
	// unread holds the checkpoints with a side that is too large to be read.
	unread *[]ID
	// masked reports that forgotten texts were masked in transcripts of ours: with as many lines they
	// are kept, although they may be shorter.
	masked bool
	// inRef reports that the trees are those of a checkpoint's ref.
	inRef bool
}

// three holds the entries with one name in both sides and in their merge base, the zero entry if
// there is none.
type three struct{ base, ours, theirs git.TreeEntry }

// resolve decides about a name if both sides have changed its entry.
type resolve func(ctx context.Context, name string, t three) (git.TreeEntry, error)

// either returns the entry of ours, or of theirs if ours has none.
func (t three) either() git.TreeEntry {
	if t.ours.Name != "" {
		return t.ours
	}
	return t.theirs
}

// trees reports whether each side has a directory or nothing.
func (t three) trees() bool {
	dir := func(e git.TreeEntry) bool { return e.Mode == git.ModeTree }
	return (dir(t.ours) || t.ours.Name == "") && (dir(t.theirs) || t.theirs.Name == "")
}

// each merges the directories of both sides, name by name.
func (m merger) each(ctx context.Context, t three, conflict resolve) (git.OID, error) {
	names := map[string]*three{} // the entries of the directories by name
	for _, side := range []struct {
		dir git.TreeEntry
		at  func(*three) *git.TreeEntry
	}{
		{t.base, func(t *three) *git.TreeEntry { return &t.base }},
		{t.ours, func(t *three) *git.TreeEntry { return &t.ours }},
		{t.theirs, func(t *three) *git.TreeEntry { return &t.theirs }},
	} {
		if side.dir.Mode != git.ModeTree {
			continue
		}
		entries, err := m.repo.Tree(ctx, side.dir.OID)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if names[e.Name] == nil {
				names[e.Name] = &three{}
			}
			*side.at(names[e.Name]) = e
		}
	}
	var entries []git.TreeEntry
	for name, at := range names {
		var entry git.TreeEntry
		switch { // at most one side has changed it, except in the last case
		case at.ours == at.theirs, at.theirs == at.base:
			entry = at.ours
		case at.ours == at.base:
			entry = at.theirs
		default:
			var err error
			if entry, err = conflict(ctx, name, *at); err != nil {
				return "", err
			}
		}
		if acceptable(entry) && entry.OID != m.repo.Format.EmptyTree() {
			entries = append(entries, entry)
		}
	}
	return git.WriteTree(m.repo, entries)
}

// acceptable reports whether an entry may be on the branch. Other users may push any tree, but
// links and submodules are not valid there, and a name that git refuses would make every later
// merge fail.
func acceptable(e git.TreeEntry) bool {
	return slices.Contains([]git.Mode{git.ModeFile, git.ModeExec, git.ModeTree}, e.Mode) &&
		git.ValidPath(e.Name) && !strings.Contains(e.Name, "/")
}

// shard merges the checkpoints whose ids begin with two digits. A checkpoint that was removed on
// one side and changed on the other is kept.
func (m merger) shard(ctx context.Context, digits string, t three) (git.OID, error) {
	return m.each(ctx, t, func(ctx context.Context, name string, t three) (git.TreeEntry, error) {
		known := len(name) == hexLen-shardLen && plain.IsHex(name)
		if !known || !t.trees() || t.ours.Name == "" || t.theirs.Name == "" {
			return t.either(), nil
		}
		oid, err := m.checkpoint(ctx, ID(digits+name), t)
		if errors.Is(err, git.ErrTooMuch) {
			*m.unread = append(*m.unread, ID(digits+name))
			return m.readable(ctx, t)
		}
		if err != nil {
			err = fmt.Errorf("merge checkpoint %s: %w", digits+name, err)
		}
		return git.TreeEntry{Mode: git.ModeTree, Name: name, OID: oid}, err
	})
}

// readable returns the readable side of a checkpoint with a side that is too large: ours if neither
// can be read.
func (m merger) readable(ctx context.Context, t three) (git.TreeEntry, error) {
	_, err := directoryAt(ctx, m.repo, t.ours.OID)
	if !errors.Is(err, git.ErrTooMuch) {
		return t.ours, err
	}
	if _, err := directoryAt(ctx, m.repo, t.theirs.OID); !errors.Is(err, git.ErrTooMuch) {
		return t.theirs, err
	}
	return t.ours, nil
}

// maxDepth is the maximum depth below a checkpoint's directory at which two sides are merged.
const maxDepth = 8

// other merges a file or directory of unknown meaning, or one of tasks.
func (m merger) other(ctx context.Context, name string, t three, depth int) (git.TreeEntry, error) {
	if depth == maxDepth || !t.trees() {
		return t.either(), nil
	}
	oid, err := m.each(ctx, t, func(ctx context.Context, name string, t three) (git.TreeEntry, error) {
		return m.other(ctx, name, t, depth+1)
	})
	return git.TreeEntry{Mode: git.ModeTree, Name: name, OID: oid}, err
}
