package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Inspected is the result of inspecting a checkpoint.
type Inspected struct {
	ID       ID
	Dir      git.OID // the tree with its directory
	Strategy string
	Sessions []string
	// Unlinked reports that it is of no commit: see SessionMeta.IsUnlinked.
	Unlinked bool
	// Rules is the lowest RedactionRules of its Sessions.
	Rules int
	// Summary describes the damage of the checkpoint's own metadata, which can be rebuilt from its
	// sessions: see Resummarize.
	Summary string
	// Lost describes the damage of its sessions, one line each.
	Lost []string
	// Missing are its objects that are not in this repository, each with a line in Lost. Another
	// repository may have them.
	Missing []git.OID
	// Unreadable are existing files that are too large or can't be decoded, as paths in the
	// checkpoint's directory.
	Unreadable []string
}

// OK reports whether no damage was found.
func (i *Inspected) OK() bool { return i.Summary == "" && len(i.Lost) == 0 }

// Located is a checkpoint with the tree of its directory.
type Located struct {
	ID  ID
	Dir git.OID
	// InRef reports that it was found in its own ref, Imported that it was found in ImportedRef.
	InRef, Imported bool
}

// locateInTree lists the checkpoints in the tree of a metadata branch.
func locateInTree(ctx context.Context, repo *git.Repo, v1Tree git.OID) ([]Located, error) {
	shards, err := repo.Tree(ctx, v1Tree)
	if err == nil {
		err = repo.PrefetchTrees(ctx, subtrees(shards))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", MetadataBranch, err)
	}
	var list []Located
	for _, shard := range shards {
		if shard.Mode != git.ModeTree {
			continue
		}
		dirs, err := repo.Tree(ctx, shard.OID)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", shard.Name, MetadataBranch, err)
		}
		for _, dir := range dirs {
			id, err := ParseID(shard.Name + dir.Name)
			if err == nil && !id.IsULID() && dir.Mode == git.ModeTree && id.Dir() == shard.Name+"/"+dir.Name {
				list = append(list, Located{ID: id, Dir: dir.OID})
			}
		}
	}
	return list, nil
}

// readTogether is the number of checkpoints that are read together: the metadata of all would not fit
// into memory.
const readTogether = 1000

// Inspect examines checkpoints. The objects in missing are treated as missing; whether others exist
// is not checked.
func Inspect(ctx context.Context, repo *git.Repo, checkpoints []Located, missing map[git.OID]bool) ([]Inspected, error) {
	list := make([]Inspected, 0, len(checkpoints))
	for part := range slices.Chunk(checkpoints, readTogether) {
		from, err := prefetch(ctx, repo, part, missing)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", MetadataBranch, err)
		}
		for _, c := range part {
			found, err := inspectDir(ctx, from, c.ID, c.Dir, missing)
			if err != nil {
				return nil, err
			}
			list = append(list, found)
		}
	}
	return list, nil
}

// InspectDir is Inspect for one checkpoint, stored as the tree dir.
func InspectDir(ctx context.Context, repo *git.Repo, id ID, dir git.OID, missing map[git.OID]bool) (Inspected, error) {
	return inspectDir(ctx, source{repo: repo, missing: missing}, id, dir, missing)
}

func inspectDir(ctx context.Context, from source, id ID, dir git.OID, missing map[git.OID]bool) (Inspected, error) {
	found := Inspected{ID: id, Dir: dir}
	entries, err := from.repo.Tree(ctx, dir)
	if err != nil || missing[dir] {
		found.Lost, found.Missing = []string{"its directory is gone"}, []git.OID{dir}
		return found, git.UnlessMissing(err)
	}
	data, err := from.metadata(ctx, entries, maxEntry)
	if err := git.UnlessMissing(err); err != nil && !errors.Is(err, git.ErrTooMuch) {
		return found, err
	}
	summary, bad := decodeSummary(data)
	found.Strategy = summary.Strategy
	there := map[string]bool{}
	for _, e := range entries {
		if index, ok := slotIndex(e.Name); ok && e.Mode == git.ModeTree {
			there[e.Name] = true
			if err := found.slot(ctx, from, slotDir{index: index, oid: e.OID}, missing); err != nil {
				return found, err
			}
		}
	}
	if summary.Forgotten && len(there) == 0 {
		return found, nil
	}
	// Metadata that lists too few sessions is not damage, because readers list the directories.
	for _, files := range summary.Sessions {
		slot := path.Base(path.Dir(files.Metadata)) // some versions wrote the checkpoint's directory twice
		if _, ok := slotIndex(slot); ok && !there[slot] {
			found.Lost = append(found.Lost, "session "+slot+" is gone")
		}
	}
	// Old versions stored a session beside the checkpoint's metadata, and a checkpoint may contain
	// only a subagent's tasks.
	_, tasks := findEntry(entries, "tasks")
	if beside := tasks || len(SegmentsIn(entries)) > 0; !beside && len(there) == 0 {
		found.Lost = append(found.Lost, "it holds no session")
	}
	own, _ := findEntry(entries, metadataFile)
	switch {
	case missing[own.OID]:
		found.Lost, found.Missing = append(found.Lost, "the content of its "+metadataFile+" is gone"), append(found.Missing, own.OID)
	case bad != nil:
		found.Summary, found.Unreadable = "its "+metadataFile+" can't be read", append(found.Unreadable, metadataFile)
	}
	return found, nil
}

// slot inspects one session of the checkpoint.
func (i *Inspected) slot(ctx context.Context, from source, s slotDir, missing map[git.OID]bool) error {
	lost := func(what string) { i.Lost = append(i.Lost, fmt.Sprintf("session %d: %s", s.index, what)) }
	entries, err := from.repo.Tree(ctx, s.oid)
	if err != nil || missing[s.oid] {
		lost("its directory is gone")
		i.Missing = append(i.Missing, s.oid)
		return git.UnlessMissing(err)
	}
	gone := slices.DeleteFunc(slices.Clone(entries), func(e git.TreeEntry) bool { return !missing[e.OID] })
	for _, e := range gone {
		lost("the content of " + e.Name + " is gone")
		i.Missing = append(i.Missing, e.OID)
	}
	data, err := from.metadata(ctx, entries, maxEntry)
	switch {
	case errors.Is(err, git.ErrMissing):
		return nil // reported above
	case errors.Is(err, git.ErrTooMuch):
		lost("its " + metadataFile + " is too large to be read")
		i.Unreadable = append(i.Unreadable, s.name()+"/"+metadataFile)
		return nil
	case err != nil:
		return err
	}
	meta, err := decodeSession(data)
	if err == nil {
		err = session.CheckID(meta.SessionID)
	}
	if err != nil {
		lost("its " + metadataFile + " can't be read")
		i.Unreadable = append(i.Unreadable, s.name()+"/"+metadataFile)
		return nil //nolint:nilerr // that is what was found
	}
	if len(i.Sessions) == 0 || meta.RedactionRules < i.Rules {
		i.Rules = meta.RedactionRules
	}
	i.Unlinked = meta.IsUnlinked() && (i.Unlinked || len(i.Sessions) == 0)
	i.Sessions = append(i.Sessions, meta.SessionID)
	return nil
}

// Covers reports whether the tree other contains everything in the checkpoint's directory, except
// unreadable files, so that replacing the directory by other loses nothing.
func (i *Inspected) Covers(ctx context.Context, repo *git.Repo, other git.OID) (bool, error) {
	return covers(ctx, repo, i.Dir, other, "", i.Unreadable)
}

func covers(ctx context.Context, repo *git.Repo, dir, other git.OID, prefix string, but []string) (bool, error) {
	if dir == other {
		return true, nil
	}
	entries, err := repo.Tree(ctx, dir)
	if err != nil {
		return false, err
	}
	others, err := repo.Tree(ctx, other)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		o, found := findEntry(others, e.Name)
		same := found && o.Mode == e.Mode
		switch {
		case same && o.OID == e.OID, slices.Contains(but, prefix+e.Name):
		case same && e.Mode == git.ModeTree:
			if ok, err := covers(ctx, repo, e.OID, o.OID, prefix+e.Name+"/", but); err != nil || !ok {
				return false, err
			}
		default:
			return false, nil
		}
	}
	return true, nil
}

// source reads metadata files: those that were read in advance, or from the repository.
type source struct {
	repo *git.Repo
	// missing are objects that must not be requested: in a partial clone that makes git fail.
	missing map[git.OID]bool
	blobs   map[git.OID][]byte
}

// metadata returns the metadata file among the entries of a directory, nil if there is none. It
// returns git.ErrTooMuch for one of more than limit bytes.
func (s source) metadata(ctx context.Context, entries []git.TreeEntry, limit int64) ([]byte, error) {
	if e, found := findEntry(entries, metadataFile); found {
		if s.missing[e.OID] {
			return nil, git.ErrMissing
		}
		if data, known := s.blobs[e.OID]; known && int64(len(data)) <= limit {
			return data, nil
		}
	}
	return readEntryWithin(ctx, s.repo, entries, metadataFile, limit)
}

// prefetch reads the trees and metadata files of checkpoints, level by level. Unreadable objects are
// left out; their readers will report them.
func prefetch(ctx context.Context, repo *git.Repo, checkpoints []Located, missing map[git.OID]bool) (source, error) {
	const levels = 2 // checkpoint, session
	from := source{repo: repo, missing: missing, blobs: map[git.OID][]byte{}}
	trees := make([]git.OID, len(checkpoints))
	for i, c := range checkpoints {
		trees[i] = c.Dir
	}
	for range levels {
		if err := repo.PrefetchTrees(ctx, trees); err != nil {
			return from, err
		}
		var below, files []git.OID
		for _, tree := range trees {
			entries, err := repo.Tree(ctx, tree)
			if err != nil {
				continue
			}
			below = append(below, subtrees(entries)...)
			if e, found := findEntry(entries, metadataFile); found && (e.Mode == git.ModeFile || e.Mode == git.ModeExec) && !missing[e.OID] {
				files = append(files, e.OID)
			}
		}
		err := repo.ReadMany(ctx, files, func(o git.Object) error {
			if o.Type == "blob" {
				from.blobs[o.OID] = o.Data
			}
			return nil
		})
		if err != nil {
			return from, err
		}
		trees = below
	}
	return from, nil
}

func subtrees(entries []git.TreeEntry) []git.OID {
	var trees []git.OID
	for _, e := range entries {
		if e.Mode == git.ModeTree {
			trees = append(trees, e.OID)
		}
	}
	return trees
}

// Resummarize rebuilds the checkpoint's own metadata from its sessions, and returns its new directory.
// Only objects are written.
func Resummarize(ctx context.Context, repo *git.Repo, at Present, id ID) (git.OID, error) {
	d, err := at.directory(ctx, repo)
	if err != nil {
		return "", fmt.Errorf("summarize checkpoint %s: %w", id, err)
	}
	if len(d.slots) == 0 {
		return "", fmt.Errorf("summarize checkpoint %s: it holds no session", id)
	}
	first := d.slots[0]
	d.summarize(id, at.root(id), SummaryInfo{Branch: first.meta.Branch, CLIVersion: first.meta.CLIVersion, Strategy: first.meta.Strategy})
	dir, err := writeDirectory(repo, d)
	if err != nil {
		return "", fmt.Errorf("summarize checkpoint %s: %w", id, err)
	}
	return dir, nil
}
