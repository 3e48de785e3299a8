package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Rewriting rewrites histories without forgotten records. It writes objects and moves no ref. The
// result for a history is the same in every clone, and objects without forgotten records are kept.
type Rewriting struct {
	Repo      *git.Repo
	Forgotten Forgotten
	// Mask replaces forgotten texts in a content; it returns data itself if there are none. Nil
	// means that no texts are forgotten.
	Mask func(data []byte) []byte
	// Affected reports whether the content of a blob may contain such a text. Blobs for which it
	// returns false are not read. Nil means that any blob may.
	Affected func(oid git.OID) bool
	// Files are paths that Shadow removes from the trees, except for blobs in the user's own
	// history, for which Own returns true. A nil Own means that there are none.
	Files []string
	Own   func(oid git.OID) bool
	// RecordsOnly reports that Shadow masks only metadata, not files.
	RecordsOnly bool
	// Progress, unless nil, is called with the number of commits read of a history.
	Progress func(done, total int64)

	// Clean is a commit without forgotten records, nor in its history: its history is not rewritten.
	Clean git.OID

	quotes *transcript.QuotedFiles // for Forgotten.Paths
	texts  *forgotten.Masker       // for Forgotten.Marks
	// Moved maps rewritten commits to their replacements. A dropped commit is mapped to its first
	// remaining parent, or to "" if there is none.
	Moved map[git.OID]git.OID

	trees map[treeAt]git.OID
	blobs map[git.OID]git.OID
}

// treeAt is a tree with its role: the same tree may be a checkpoint in one place and a directory of
// files in another.
type treeAt struct {
	oid git.OID
	as  string
}

// Metadata returns the rewritten commit that replaces tip, a commit of the metadata branch.
func (w *Rewriting) Metadata(ctx context.Context, tip git.OID) (git.OID, error) {
	return w.history(ctx, tip, func(ctx context.Context, c git.Commit) (git.Commit, bool, error) {
		var err error
		c.Tree, err = w.each(ctx, treeAt{c.Tree, "root"}, func(ctx context.Context, e git.TreeEntry) (git.OID, error) {
			switch {
			case e.Name == forgottenFile:
				return e.OID, nil
			case e.Mode == git.ModeTree && len(e.Name) == shardLen && plain.IsHex(e.Name):
				return w.shard(ctx, e.Name, e.OID)
			default:
				return w.maskEntry(ctx, e)
			}
		})
		return c, true, err
	})
}

// Ref is Metadata for the ref of a checkpoint, whose history is short. It starts no git process for it.
func (w *Rewriting) Ref(ctx context.Context, tip git.OID, id ID) (git.OID, error) {
	change := func(ctx context.Context, c git.Commit) (git.Commit, bool, error) {
		var err error
		c.Tree, err = w.checkpoint(ctx, c.Tree, id, Present{InRef: true})
		return c, true, err
	}
	w.begin()
	seen := map[git.OID]bool{}
	var visit func(oid git.OID) error // parents first
	visit = func(oid git.OID) error {
		if _, done := w.Moved[oid]; done || seen[oid] {
			return nil
		}
		seen[oid] = true
		c, err := w.Repo.Commit(ctx, string(oid))
		if err != nil {
			return err
		}
		for _, parent := range c.Parents {
			if err := visit(parent); err != nil {
				return err
			}
		}
		return w.commit(ctx, oid, change)
	}
	if err := visit(tip); err != nil {
		return "", fmt.Errorf("rewrite checkpoint %s: %w", id, err)
	}
	return w.At(tip), nil
}

// Shadow is Metadata for a shadow branch: the commits of forgotten sessions are dropped, and their
// metadata is removed from the trees of the others. It returns "" if no commit is left.
func (w *Rewriting) Shadow(ctx context.Context, tip git.OID) (git.OID, error) {
	return w.history(ctx, tip, func(ctx context.Context, c git.Commit) (git.Commit, bool, error) {
		if w.Forgotten.HasSession(sessionOf(c.Message)) {
			return c, false, nil
		}
		var edits []git.TreeEdit
		for _, id := range w.Forgotten.Sessions {
			_, found, err := git.LookupPath(ctx, w.Repo, c.Tree, MetadataDir(id))
			if err != nil {
				return c, false, err
			}
			if found {
				edits = append(edits, git.TreeEdit{Path: MetadataDir(id)})
			}
		}
		tree, err := git.EditTree(ctx, w.Repo, c.Tree, edits)
		if err != nil {
			return c, false, err
		}
		c.Message = string(w.mask([]byte(c.Message)))
		edits = nil
		for _, path := range w.Files {
			e, found, err := w.lookup(ctx, tree, path)
			if err != nil {
				return c, false, err
			}
			if found && e.Mode != git.ModeTree && e.Mode != git.ModeModule && (w.Own == nil || !w.Own(e.OID)) {
				edits = append(edits, git.TreeEdit{Path: path})
			}
		}
		if len(edits) > 0 {
			if tree, err = git.EditTree(ctx, w.Repo, tree, edits); err != nil {
				return c, false, err
			}
		}
		c.Tree, err = w.maskShadow(ctx, tree)
		return c, true, err
	})
}

// maskShadow masks the contents of a shadow tree.
func (w *Rewriting) maskShadow(ctx context.Context, tree git.OID) (git.OID, error) {
	if !w.RecordsOnly {
		return w.maskTree(ctx, tree)
	}
	e, found, err := w.lookup(ctx, tree, recordsDir)
	if err != nil || !found || e.Mode != git.ModeTree {
		return tree, err
	}
	next, err := w.maskTree(ctx, e.OID)
	if err != nil || next == e.OID {
		return tree, err
	}
	return git.EditTree(ctx, w.Repo, tree, []git.TreeEdit{{Path: recordsDir, Mode: git.ModeTree, OID: next}})
}

// sessionOf returns the session in the trailer of a shadow commit, empty if there is none.
func sessionOf(message string) string {
	for line := range strings.Lines(message) {
		if id, ok := strings.CutPrefix(line, SessionKey+": "); ok {
			return strings.TrimSpace(id)
		}
	}
	return ""
}

// history rewrites all commits reachable from tip, parents first. change returns the commit with
// another tree or message, and whether it is kept.
func (w *Rewriting) history(ctx context.Context, tip git.OID, change func(context.Context, git.Commit) (git.Commit, bool, error)) (git.OID, error) {
	args := []string{"rev-list", "--topo-order", "--reverse", string(tip)}
	if w.Clean != "" {
		args = append(args, "^"+string(w.Clean))
	}
	out, err := w.Repo.Run(ctx, append(args, "--")...)
	if err != nil {
		return "", fmt.Errorf("read history: %w", err)
	}
	w.begin()
	names := strings.Fields(string(out))
	for i, name := range names {
		if w.Progress != nil {
			w.Progress(int64(i), int64(len(names)))
		}
		oid := git.OID(name)
		if _, done := w.Moved[oid]; done {
			continue
		}
		if err := w.commit(ctx, oid, change); err != nil {
			return "", fmt.Errorf("rewrite commit %s: %w", oid.Short(), err)
		}
	}
	return w.At(tip), nil
}

func (w *Rewriting) begin() {
	if w.Moved == nil {
		w.Moved, w.trees, w.blobs = map[git.OID]git.OID{}, map[treeAt]git.OID{}, map[git.OID]git.OID{}
	}
}

// At returns the replacement of a commit, the commit itself if it was not rewritten.
func (w *Rewriting) At(oid git.OID) git.OID {
	if next, moved := w.Moved[oid]; moved {
		return next
	}
	return oid
}

// commit rewrites one commit whose parents have been rewritten.
func (w *Rewriting) commit(ctx context.Context, oid git.OID, change func(context.Context, git.Commit) (git.Commit, bool, error)) error {
	was, err := w.Repo.Commit(ctx, string(oid))
	if err != nil {
		return err
	}
	next, stays, err := change(ctx, was)
	if err != nil {
		return err
	}
	next.Parents = nil
	for _, parent := range was.Parents {
		if p := w.At(parent); p != "" && !slices.Contains(next.Parents, p) {
			next.Parents = append(next.Parents, p)
		}
	}
	switch {
	case !stays && len(next.Parents) > 0:
		w.Moved[oid] = next.Parents[0]
		return nil
	case !stays:
		w.Moved[oid] = ""
		return nil
	case next.Tree == was.Tree && next.Message == was.Message && slices.Equal(next.Parents, was.Parents):
		return nil
	}
	w.Moved[oid], err = w.Repo.WriteCommit(next)
	return err
}

// shard rewrites the checkpoints whose ids begin with two digits.
func (w *Rewriting) shard(ctx context.Context, digits string, oid git.OID) (git.OID, error) {
	return w.each(ctx, treeAt{oid, "shard " + digits}, func(ctx context.Context, e git.TreeEntry) (git.OID, error) {
		id, err := ParseID(digits + e.Name)
		if err != nil || e.Mode != git.ModeTree {
			return w.maskEntry(ctx, e)
		}
		return w.checkpoint(ctx, e.OID, id, Present{})
	})
}

// checkpoint rewrites the directory of a checkpoint.
func (w *Rewriting) checkpoint(ctx context.Context, oid git.OID, id ID, in Present) (git.OID, error) {
	at := treeAt{oid, "checkpoint " + in.root(id) + " " + string(id)}
	if done, known := w.trees[at]; known {
		return done, nil
	}
	next, err := w.dropSessions(ctx, id, in.root(id), oid)
	if err == nil {
		next, err = w.maskTree(ctx, next)
	}
	if err != nil {
		return "", fmt.Errorf("checkpoint %s: %w", id, err)
	}
	w.trees[at] = next
	return next, nil
}

// dropSessions removes the forgotten sessions from a checkpoint. A checkpoint that is forgotten, or
// has no session left, is replaced by one that is marked as forgotten.
func (w *Rewriting) dropSessions(ctx context.Context, id ID, root string, oid git.OID) (git.OID, error) {
	if w.Forgotten.Empty() {
		return oid, nil
	}
	d, err := directoryAt(ctx, w.Repo, oid)
	if err != nil {
		return "", err
	}
	gone := func(s slotDir) bool { return w.Forgotten.HasSession(s.meta.SessionID) }
	all := w.Forgotten.HasCheckpoint(id)
	switch {
	case d.summary.Forgotten && len(d.slots) == 0 || !all && !slices.ContainsFunc(d.slots, gone):
		return oid, nil
	case all || !slices.ContainsFunc(d.slots, func(s slotDir) bool { return !gone(s) }):
		strategy := d.summary.Strategy
		return writeDirectory(w.Repo, directory{summary: Summary{CheckpointID: id, Strategy: strategy, Forgotten: true}})
	}
	for _, s := range d.slots {
		if gone(s) {
			d.entries = slices.DeleteFunc(slices.Clone(d.entries), func(e git.TreeEntry) bool { return e.Name == s.name() })
		}
	}
	d.slots = slices.DeleteFunc(d.slots, gone)
	if d.entries, err = w.dropTasks(ctx, d.entries); err != nil {
		return "", err
	}
	d.summarize(id, root, SummaryInfo{})
	return writeDirectory(w.Repo, d)
}

// dropTasks removes the tasks of forgotten sessions from a checkpoint's entries, and those without
// a recorded session.
func (w *Rewriting) dropTasks(ctx context.Context, entries []git.TreeEntry) ([]git.TreeEntry, error) {
	at := slices.IndexFunc(entries, func(e git.TreeEntry) bool { return e.Name == TasksDir && e.Mode == git.ModeTree })
	if at < 0 {
		return entries, nil
	}
	tasks, err := w.Repo.Tree(ctx, entries[at].OID)
	if err != nil {
		return nil, err
	}
	var kept []git.TreeEntry
	for _, task := range tasks {
		if task.Mode != git.ModeTree {
			continue
		}
		files, err := w.Repo.Tree(ctx, task.OID)
		if err != nil {
			return nil, err
		}
		data, err := readEntry(ctx, w.Repo, files, TaskFile)
		if err != nil {
			return nil, err
		}
		var of struct {
			Session string `json:"session_id"`
		}
		if json.Unmarshal(data, &of) == nil && of.Session != "" && !w.Forgotten.HasSession(of.Session) {
			kept = append(kept, task)
		}
	}
	entries = slices.Delete(slices.Clone(entries), at, at+1)
	if len(kept) == 0 {
		return entries, nil
	}
	oid, err := git.WriteTree(w.Repo, kept)
	return append(entries, git.TreeEntry{Mode: git.ModeTree, Name: TasksDir, OID: oid}), err
}

func (w *Rewriting) lookup(ctx context.Context, tree git.OID, path string) (git.TreeEntry, bool, error) {
	if tree == "" || tree == w.Repo.Format.EmptyTree() {
		return git.TreeEntry{}, false, nil
	}
	return git.LookupPath(ctx, w.Repo, tree, path)
}

// recordsDir is the directory of a shadow tree with the metadata of sessions.
const recordsDir = ".entire"

// each rewrites a tree by calling change for its entries; an empty id drops an entry.
func (w *Rewriting) each(ctx context.Context, at treeAt, change func(context.Context, git.TreeEntry) (git.OID, error)) (git.OID, error) {
	if done, known := w.trees[at]; known {
		return done, nil
	}
	entries, err := w.Repo.Tree(ctx, at.oid)
	if err != nil {
		return "", err
	}
	var next []git.TreeEntry
	same := true
	for _, e := range entries {
		oid, err := change(ctx, e)
		if err != nil {
			return "", err
		}
		same = same && oid == e.OID
		if e.OID = oid; oid != "" {
			next = append(next, e)
		}
	}
	oid := at.oid
	if !same {
		if oid, err = git.WriteTree(w.Repo, next); err != nil {
			return "", err
		}
	}
	w.trees[at] = oid
	return oid, nil
}

// maskTree masks the texts in all files below a tree. If a transcript changes, so does the content
// hash beside it, and the fingerprints of lines are removed: one of them may be of a masked line.
func (w *Rewriting) maskTree(ctx context.Context, oid git.OID) (git.OID, error) {
	if !w.masks() || oid == "" || oid == w.Repo.Format.EmptyTree() {
		return oid, nil
	}
	next, err := w.each(ctx, treeAt{oid, "files"}, w.maskEntry)
	if err != nil || next == oid {
		return next, err
	}
	before, err := w.Repo.Tree(ctx, oid)
	if err != nil {
		return "", err
	}
	after, err := w.Repo.Tree(ctx, next)
	if err != nil {
		return "", err
	}
	parts := SegmentsIn(after)
	if slices.Equal(SegmentsIn(before), parts) {
		return next, nil
	}
	var edits []git.TreeEdit
	if _, hashed := findEntry(after, HashFile); hashed {
		sum := sha256.New()
		if _, err := (StoredTranscript{Segments: parts}).Copy(ctx, w.Repo, sum); err != nil {
			return "", err
		}
		hash, err := w.Repo.WriteBlob([]byte(ContentHash(sum)))
		if err != nil {
			return "", err
		}
		edits = append(edits, git.TreeEdit{Path: HashFile, Mode: git.ModeFile, OID: hash})
	}
	if e, found := findEntry(after, metadataFile); found {
		data, err := ReadBlob(ctx, w.Repo, e.OID)
		if err != nil {
			return "", err
		}
		if e.OID, err = w.Repo.WriteBlob(withoutPrints(data)); err != nil {
			return "", err
		}
		edits = append(edits, git.TreeEdit{Path: metadataFile, Mode: e.Mode, OID: e.OID})
	}
	return git.EditTree(ctx, w.Repo, next, edits)
}

func (w *Rewriting) maskEntry(ctx context.Context, e git.TreeEntry) (git.OID, error) {
	switch {
	case !w.masks():
		return e.OID, nil
	case e.Mode == git.ModeTree:
		return w.maskTree(ctx, e.OID)
	case e.Mode != git.ModeFile && e.Mode != git.ModeExec && e.Mode != git.ModeLink:
		return e.OID, nil
	}
	if w.Affected != nil && !w.Affected(e.OID) {
		return e.OID, nil
	}
	if done, known := w.blobs[e.OID]; known {
		return done, nil
	}
	data, err := ReadBlob(ctx, w.Repo, e.OID)
	if err != nil {
		return "", err
	}
	next := e.OID
	if masked := w.mask(data); string(masked) != string(data) {
		if next, err = w.Repo.WriteBlob(masked); err != nil {
			return "", err
		}
	}
	w.blobs[e.OID] = next
	return next, nil
}

func (w *Rewriting) mask(data []byte) []byte {
	if w.Mask != nil {
		data = w.Mask(data)
	}
	if len(w.Forgotten.Paths) > 0 {
		if w.quotes == nil {
			w.quotes = transcript.NewQuotedFiles(w.Forgotten.Paths, nil, nil)
		}
		data = w.quotes.Mask(data)
	}
	if w.texts == nil {
		w.texts = forgotten.New(w.Forgotten.Marks)
	}
	if w.texts != nil {
		data = w.texts.Mask(data)
	}
	return data
}

// masks reports whether w masks anything.
func (w *Rewriting) masks() bool {
	return w.Mask != nil || len(w.Forgotten.Paths)+len(w.Forgotten.Marks) > 0
}

// forget adds records to w.Forgotten. If that adds any, earlier results are dropped.
func (w *Rewriting) forget(list Forgotten) {
	if w.Forgotten.Has(list) {
		return
	}
	w.Forgotten = w.Forgotten.With(list)
	w.quotes, w.texts, w.Moved, w.Clean = nil, nil, nil, ""
}
