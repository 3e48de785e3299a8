package query

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// recordState is the state of the records: the trees of the metadata branches and the refs of
// checkpoints.
type recordState struct {
	checkpoint.Records

	trees []git.OID
	refs  []checkpoint.OwnRef
}

func readRecords(ctx context.Context, w *workspace.Workspace) (s recordState, err error) {
	if s.Records, err = w.Records(ctx); err != nil {
		return s, err
	}
	s.trees = s.Trees()
	s.refs, err = checkpoint.RefsOf(ctx, w.Repo)
	return s, err
}

// empty reports whether there are no checkpoints.
func (s *recordState) empty() bool { return len(s.trees)+len(s.refs) == 0 }

// refsPrefix begins the digest of the refs in the text of a state.
const refsPrefix = "refs:"

// text returns a text that is the same for the same state.
func (s *recordState) text() string {
	text := treesText(s.trees)
	if len(s.refs) > 0 {
		sum := sha256.New()
		for _, ref := range s.refs {
			fmt.Fprintf(sum, "%s %s\n", ref.ID, ref.Tip)
		}
		text += refsPrefix + hex.EncodeToString(sum.Sum(nil)[:16]) + "\n"
	}
	return text
}

// treesIn returns the trees in the text of a state.
func treesIn(text string) (trees []git.OID) {
	for oid := range strings.FieldsSeq(text) {
		if !strings.HasPrefix(oid, refsPrefix) {
			trees = append(trees, git.OID(oid))
		}
	}
	return trees
}

func treesText(trees []git.OID) string {
	var b strings.Builder
	for _, tree := range trees {
		b.WriteString(string(tree) + "\n")
	}
	return b.String()
}

// changedRecords returns the checkpoints in which the trees of the metadata branches differ from those
// of before.
func changedRecords(ctx context.Context, repo *git.Repo, before, trees []git.OID) (map[checkpoint.ID]bool, error) {
	changed := map[checkpoint.ID]bool{}
	switch {
	case len(before) > len(trees):
		return nil, errReplaced
	case len(before) < len(trees):
		before = make([]git.OID, len(trees)) // every checkpoint in them is new
	}
	for i, tree := range trees {
		if before[i] == tree {
			continue
		}
		if before[i] == "" {
			ids, err := checkpoint.BranchSource(repo, tree).Find(ctx, "")
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				changed[id] = true
			}
			continue
		}
		list, err := git.Changes(ctx, repo, before[i], tree)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // the former tree doesn't exist any more
			return nil, errors.Join(errReplaced, err)
		}
		const parts = 3
		for _, c := range list {
			if path := strings.SplitN(c.Path, "/", parts); len(path) == parts {
				if id, err := checkpoint.ParseID(path[0] + path[1]); err == nil {
					changed[id] = true
				}
			}
		}
	}
	return changed, nil
}

// refsOf is what the index has read of the refs of checkpoints for one purpose: the tips by shard, the
// last letters of the ids, as lines of an id and a tip.
type refsOf struct {
	purpose string
	known   map[string]string // as in the index
	now     map[string]string
}

// readRefs returns what the index has of the refs for a purpose, and what they are now.
func (r *run) readRefs(ctx context.Context, purpose string, s *recordState) (refs refsOf, err error) {
	refs = refsOf{purpose: purpose, now: map[string]string{}}
	if refs.known, err = r.w.Checkpoints.Refs(ctx, purpose); err != nil {
		return refs, err
	}
	for _, ref := range s.refs {
		refs.now[string(ref.ID[len(ref.ID)-2:])] += string(ref.ID) + " " + string(ref.Tip) + "\n" // some twenty
	}
	return refs, nil
}

// changed returns the tips of the checkpoints whose refs have changed, as they are in the index: empty
// for a new ref. A ref that was removed is among them.
func (refs refsOf) changed() map[checkpoint.ID]git.OID {
	changed := map[checkpoint.ID]git.OID{}
	for shard, text := range refs.now {
		if text == refs.known[shard] {
			continue
		}
		known := tipsIn(refs.known[shard])
		for id, tip := range tipsIn(text) {
			if known[id] != tip {
				changed[id] = known[id]
			}
			delete(known, id)
		}
		maps.Copy(changed, known)
	}
	for shard, text := range refs.known {
		if refs.now[shard] == "" {
			maps.Copy(changed, tipsIn(text))
		}
	}
	return changed
}

func tipsIn(text string) map[checkpoint.ID]git.OID {
	tips := map[checkpoint.ID]git.OID{}
	for line := range strings.Lines(text) {
		id, tip, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		tips[checkpoint.ID(id)] = git.OID(tip)
	}
	return tips
}

// save writes what has changed to the index.
func (refs refsOf) save(ctx context.Context, r *run) error {
	for shard, text := range refs.now {
		if text != refs.known[shard] {
			if err := r.w.Checkpoints.PutRefs(ctx, refs.purpose, shard, text); err != nil {
				return err
			}
		}
	}
	for shard := range refs.known {
		if refs.now[shard] == "" {
			if err := r.w.Checkpoints.PutRefs(ctx, refs.purpose, shard, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// refAuthors updates the authors of checkpoints from the commits of refs that are new: those of a ref up
// to the tip in since.
func (r *run) refAuthors(ctx context.Context, s *recordState, since map[checkpoint.ID]git.OID) error {
	var all []git.Commit
	for _, ref := range s.refs {
		known, changed := since[ref.ID]
		if !changed {
			continue
		}
		var chain []git.Commit
		for oid := ref.Tip; oid != "" && oid != known; {
			c, err := r.Repo.Commit(ctx, string(oid))
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil { // a history that lacks objects
				r.skip(ctx, "authors of checkpoint "+string(ref.ID), err)
				break
			}
			chain = append(chain, c)
			oid = c.FirstParent()
		}
		slices.Reverse(chain) // the oldest first
		all = append(all, chain...)
	}
	return r.putAuthors(ctx, all)
}
