package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Records are the checkpoints of a repository for reading: those on the local metadata branch, on
// metadata branches fetched from remotes, those with refs of their own, and imported ones. A checkpoint
// may be in several of these sources; it is read from the first that has it. ImportedRef is the last.
type Records struct {
	// Sources are in the order in which they are read.
	Sources []Source
	// Absent are the trees of metadata branches that a partial clone lacks, as one without any trees
	// does. They are not among the sources.
	Absent []git.OID

	repo *git.Repo
}

// Source is a part of the records: the tree of a metadata branch or of ImportedRef, or all refs of
// checkpoints if Tree is empty.
type Source struct {
	Tree git.OID
	// Imported reports that the tree is that of ImportedRef.
	Imported bool

	repo *git.Repo
}

// Order is the order in which the sources of a checkpoint are read whose id has the first form. One
// with a ULID is read from its ref only.
type Order bool

// The orders.
const (
	BranchesFirst Order = false
	RefsFirst     Order = true
)

// Open resolves the metadata branches of a repository, local and fetched from remotes, and ImportedRef.
// There may be none, and then there may still be refs of checkpoints.
func Open(ctx context.Context, repo *git.Repo, order Order) (Records, error) {
	refs, err := metadataRefs(ctx, repo)
	if err != nil {
		return Records{}, err
	}
	trees := make([]git.OID, 0, len(refs))
	for _, ref := range refs { // sorted by name: refs/heads is before refs/remotes
		tip, err := repo.Commit(ctx, string(ref.OID))
		if err != nil && ref.Name != MetadataBranch {
			continue // the remote's ref is not a branch of checkpoints
		}
		if err != nil {
			return Records{}, fmt.Errorf("read %s: %w", ref.Name, err)
		}
		trees = append(trees, tip.Tree)
	}
	return openTrees(ctx, repo, order, trees)
}

// OpenLocal is like Open for the records to which this clone adds: the local metadata branch, the one
// fetched from origin if there is no local one, the refs of checkpoints and ImportedRef.
func OpenLocal(ctx context.Context, repo *git.Repo, order Order) (Records, error) {
	tip, _, err := findTip(ctx, repo)
	switch {
	case errors.Is(err, ErrNotFound):
		return openTrees(ctx, repo, order, nil)
	case err != nil:
		return Records{}, err
	}
	return openTrees(ctx, repo, order, []git.OID{tip.Tree})
}

func openTrees(ctx context.Context, repo *git.Repo, order Order, trees []git.OID) (Records, error) {
	r := Records{repo: repo}
	partial, err := repo.IsPartial()
	if err != nil {
		return r, err
	}
	for _, tree := range trees {
		if partial {
			if _, err := repo.Tree(ctx, tree); errors.Is(err, git.ErrMissing) {
				r.Absent = append(r.Absent, tree)
				continue
			}
		}
		r.Sources = append(r.Sources, Source{Tree: tree, repo: repo})
	}
	at := len(r.Sources)
	if order == RefsFirst {
		at = 0
	}
	r.Sources = slices.Insert(r.Sources, at, Source{repo: repo})
	imported, found, err := git.RefCommit(ctx, repo, ImportedRef)
	if err != nil {
		return r, fmt.Errorf("read %s: %w", ImportedRef, err)
	}
	if found {
		r.Sources = append(r.Sources, ImportedSource(repo, imported.Tree))
	}
	return r, ctx.Err()
}

// Trees returns the trees of the metadata branches and of ImportedRef.
func (r Records) Trees() []git.OID {
	var trees []git.OID
	for _, s := range r.Sources {
		if s.Tree != "" {
			trees = append(trees, s.Tree)
		}
	}
	return trees
}

// Empty reports whether there is neither a metadata branch nor a ref of a checkpoint. Imported checkpoints
// don't count: commits are made with others.
func (r Records) Empty(ctx context.Context) (bool, error) {
	isBranch := func(s Source) bool { return s.Tree != "" && !s.Imported }
	if len(r.Absent) > 0 || slices.ContainsFunc(r.Sources, isBranch) {
		return false, nil
	}
	some, err := git.RefsExist(ctx, r.repo, CheckpointRefs)
	return !some, err
}

// Locate finds a checkpoint: ErrNotFound if no source has it.
func (r Records) Locate(ctx context.Context, id ID) (Located, error) {
	for _, s := range r.Sources {
		at, err := s.Locate(ctx, id)
		if !errors.Is(err, ErrNotFound) {
			return at, err
		}
	}
	return Located{}, fmt.Errorf("checkpoint %s: %w", id, ErrNotFound)
}

// Read reads what this repository has of a checkpoint, for displaying it: metadata that is missing, as
// in a partial clone, is left out and marked as absent. The result must not be written back. The error
// is ErrNotFound if there is no such checkpoint.
func (r Records) Read(ctx context.Context, id ID) (Checkpoint, error) {
	if _, err := ParseID(string(id)); err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint: %w", err)
	}
	at, err := r.Locate(ctx, id)
	if err != nil {
		return Checkpoint{}, err
	}
	return readAvailable(ctx, source{repo: r.repo}, at)
}

// ReadWhole is like Read, but returns git.ErrMissing if metadata is missing.
func (r Records) ReadWhole(ctx context.Context, id ID) (Checkpoint, error) {
	if _, err := ParseID(string(id)); err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint: %w", err)
	}
	at, err := r.Locate(ctx, id)
	if err != nil {
		return Checkpoint{}, err
	}
	d, err := directoryAt(ctx, r.repo, at.Dir)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint %s: %w", id, err)
	}
	return d.checkpoint(id), nil
}

// Find returns the ids that begin with prefix, in order: all for an empty one. It reads only the
// directories and refs that may contain them.
func (r Records) Find(ctx context.Context, prefix string) ([]ID, error) {
	var ids []ID
	for _, s := range r.Sources {
		found, err := s.Find(ctx, prefix)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// List locates all checkpoints, in the order of their ids.
func (r Records) List(ctx context.Context) ([]Located, error) {
	var list []Located
	seen := map[ID]bool{}
	for _, s := range r.Sources {
		found, err := s.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if !seen[c.ID] {
				seen[c.ID], list = true, append(list, c)
			}
		}
	}
	slices.SortFunc(list, func(a, b Located) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return list, nil
}

// BranchSource returns the source of a tree of a metadata branch.
func BranchSource(repo *git.Repo, tree git.OID) Source { return Source{Tree: tree, repo: repo} }

// ImportedSource returns the source of a tree of ImportedRef.
func ImportedSource(repo *git.Repo, tree git.OID) Source {
	return Source{Tree: tree, Imported: true, repo: repo}
}

// RefSource returns the source of the refs of checkpoints.
func RefSource(repo *git.Repo) Source { return Source{repo: repo} }

// MayHave reports whether the source may have a checkpoint: only refs have ULIDs.
func (s Source) MayHave(id ID) bool { return s.Tree == "" || !id.IsULID() }

// Read is Records.Read for the source.
func (s Source) Read(ctx context.Context, id ID) (Checkpoint, error) {
	return Records{repo: s.repo, Sources: []Source{s}}.Read(ctx, id)
}

// Locate finds a checkpoint in the source, or returns ErrNotFound.
func (s Source) Locate(ctx context.Context, id ID) (Located, error) {
	switch {
	case !s.MayHave(id):
	case s.Tree != "":
		entry, found, err := git.LookupPath(ctx, s.repo, s.Tree, id.Dir())
		if err != nil {
			return Located{}, fmt.Errorf("read checkpoint %s: %w", id, err)
		}
		if found && entry.Mode == git.ModeTree {
			return Located{ID: id, Dir: entry.OID, Imported: s.Imported}, nil
		}
	default:
		tip, found, err := git.RefCommit(ctx, s.repo, id.Ref())
		if err != nil {
			return Located{}, fmt.Errorf("read checkpoint %s: %w", id, err)
		}
		if found {
			return Located{ID: id, Dir: tip.Tree, InRef: true}, nil
		}
	}
	return Located{}, fmt.Errorf("read checkpoint %s: %w", id, ErrNotFound)
}

// Find returns the ids in the source that begin with prefix, in order.
func (s Source) Find(ctx context.Context, prefix string) ([]ID, error) {
	if s.Tree != "" {
		return findInTree(ctx, s.repo, s.Tree, prefix)
	}
	if !isULIDPrefix(prefix) && (len(prefix) > hexLen || !plain.IsHex(prefix)) {
		return nil, nil
	}
	refs, err := git.ListRefs(ctx, s.repo, CheckpointRefs)
	var ids []ID
	for _, ref := range refs {
		if id, ok := ParseRef(ref.Name); ok && strings.HasPrefix(string(id), prefix) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// List locates the checkpoints in the source. A ref that names no commit is left out.
func (s Source) List(ctx context.Context) ([]Located, error) {
	if s.Tree != "" {
		list, err := locateInTree(ctx, s.repo, s.Tree)
		for i := range list {
			list[i].Imported = s.Imported
		}
		return list, err
	}
	refs, err := RefsOf(ctx, s.repo)
	if err != nil {
		return nil, err
	}
	return peel(ctx, s.repo, refs)
}

// Slot returns the name of a file of a slot in a checkpoint, for git.ResolveNames.
func (s Source) Slot(id ID, slot int) string {
	root := id.Ref() + ":"
	if s.Tree != "" {
		root = string(s.Tree) + ":" + id.Dir() + "/"
	}
	return root + strconv.Itoa(slot) + "/" + metadataFile
}

// OwnRef is the ref of a checkpoint.
type OwnRef struct {
	ID  ID
	Tip git.OID
}

// RefsOf lists the refs of checkpoints, in the order of their ids. Refs whose names aren't those of
// checkpoints are left out.
func RefsOf(ctx context.Context, repo *git.Repo) ([]OwnRef, error) {
	list, err := git.ListRefs(ctx, repo, CheckpointRefs)
	refs := make([]OwnRef, 0, len(list))
	for _, ref := range list {
		if id, ok := ParseRef(ref.Name); ok {
			refs = append(refs, OwnRef{id, ref.OID})
		}
	}
	slices.SortFunc(refs, func(a, b OwnRef) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return refs, err
}

// peel returns the trees of the commits of refs, in order.
func peel(ctx context.Context, repo *git.Repo, refs []OwnRef) ([]Located, error) {
	trees := make(map[git.OID]git.OID, len(refs))
	oids := make([]git.OID, len(refs))
	for i, ref := range refs {
		oids[i] = ref.Tip
	}
	err := repo.ReadMany(ctx, oids, func(o git.Object) error {
		if c, err := git.ParseCommit(o); err == nil {
			trees[o.OID] = c.Tree
		}
		return nil
	})
	list := make([]Located, 0, len(refs))
	for _, ref := range refs {
		if tree, ok := trees[ref.Tip]; ok {
			list = append(list, Located{ID: ref.ID, Dir: tree, InRef: true})
		}
	}
	return list, err
}

// AsRevisions returns the arguments for the histories of the records, of git commands that walk
// histories: the metadata branches, local and of remotes, the refs of checkpoints and ImportedRef.
func AsRevisions() []string {
	return append(branchRevisions(), "--glob="+CheckpointRefs+"*", "--glob="+ImportedRef+"*")
}

// OwnRevisions is AsRevisions without the branches of remotes and ImportedRef, and unless withRefs without
// refs.
func OwnRevisions(withRefs bool) []string {
	revisions := []string{"--branches=entire/checkpoints/*"}
	if withRefs {
		revisions = append(revisions, "--glob="+CheckpointRefs+"*")
	}
	return revisions
}

func branchRevisions() []string {
	return []string{"--branches=entire/checkpoints/*", "--remotes=*/entire/checkpoints/*"}
}

// OfSession returns the ids of checkpoints in messages of the records' commits that contain a
// session's id, the most recent first. They are a superset of the session's checkpoints, except on
// a branch that was squashed and so has no such messages.
func OfSession(ctx context.Context, repo *git.Repo, session string) ([]ID, error) {
	messages, err := git.MessagesContaining(ctx, repo, transcript.SessionID(session), AsRevisions()...)
	if err != nil {
		return nil, fmt.Errorf("find the checkpoints of session %s: %w", session, err)
	}
	var ids []ID
	for _, message := range messages {
		subject, _, _ := strings.Cut(message, "\n")
		if id, ok := SubjectID(subject); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// LiveSessions returns the ids of the sessions that were recorded while they ran, as far as the messages of
// the records' commits name them.
func LiveSessions(ctx context.Context, repo *git.Repo) (map[string]bool, error) {
	messages, err := git.MessagesContaining(ctx, repo, SessionKey+": ", append(branchRevisions(), "--glob="+CheckpointRefs+"*")...)
	if err != nil {
		return nil, fmt.Errorf("list the recorded sessions: %w", err)
	}
	ids := map[string]bool{}
	for _, message := range messages {
		if _, imported := startedIn(message); imported {
			continue
		}
		for line := range strings.Lines(message) {
			if id, found := strings.CutPrefix(line, SessionKey+": "); found {
				ids[transcript.SessionID(strings.TrimSpace(id))] = true
			}
		}
	}
	return ids, nil
}

// findInTree returns the checkpoints in v1Tree, a tree of the metadata branch or of ImportedRef, whose ids begin with prefix, in order. It reads only
// the directories that may contain them.
func findInTree(ctx context.Context, repo *git.Repo, v1Tree git.OID, prefix string) ([]ID, error) {
	if len(prefix) > hexLen || !plain.IsHex(prefix) {
		return nil, nil
	}
	shards, err := repo.Tree(ctx, v1Tree)
	if err != nil {
		return nil, fmt.Errorf("find checkpoint %s: %w", prefix, err)
	}
	var ids []ID
	for _, shard := range shards {
		if shard.Mode != git.ModeTree || !strings.HasPrefix(prefix, shard.Name) && !strings.HasPrefix(shard.Name, prefix) {
			continue
		}
		entries, err := repo.Tree(ctx, shard.OID)
		if errors.Is(err, git.ErrMissing) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find checkpoint %s: %w", prefix, err)
		}
		for _, e := range entries {
			id, err := ParseID(shard.Name + e.Name)
			if err == nil && !id.IsULID() && len(shard.Name) == shardLen && e.Mode == git.ModeTree && strings.HasPrefix(string(id), prefix) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}
