package forget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// refPlan holds planned changes of refs. Their objects are already written.
type refPlan struct {
	refs   []refChange
	moved  map[git.OID]git.OID
	places []Place
	// hits are the objects that match. own are the objects that the user's refs reach, which are
	// not changed.
	hits map[git.OID]bool
	own  map[git.OID]bool
}

// refs are the program's own refs, and remote-tracking refs of its branches.
type refs struct {
	*target

	// hits and own are those of the last plan.
	hits, own map[git.OID]bool
	// meta and shadow rewrite histories. They cache rewritten commits, so that the work of the
	// preview isn't repeated.
	meta, shadow *checkpoint.Rewriting
	// saved is shadow for saved contexts if files on shadow branches are not masked.
	saved *checkpoint.Rewriting
}

// plan rewrites the history of every own ref that matches.
func (r *refs) plan(ctx context.Context) (p refPlan, err error) {
	err = r.w.Repo.WriteTogether(git.LargeBatch, func() error {
		p, err = r.planned(ctx)
		return err
	})
	return p, err
}

func (r *refs) planned(ctx context.Context) (refPlan, error) {
	p := refPlan{moved: map[git.OID]git.OID{}}
	if err := r.searchObjects(ctx, &p); err != nil {
		return p, err
	}
	if texts := r.what.texts(); len(texts) > 0 {
		if shared, err := r.isShared(ctx, p); err != nil {
			return p, err
		} else if shared {
			for _, text := range texts {
				r.tombs.Publish(text)
			}
		}
	}
	if some, err := r.anyToRewrite(ctx, p); err != nil || !some {
		return p, err
	}
	refs, err := git.ListRefs(ctx, r.w.Repo, workspace.Refs(workspace.Recorded)...)
	if err != nil {
		return p, err
	}
	r.hits, r.own = p.hits, p.own
	if r.meta == nil {
		r.meta, r.shadow, r.saved = r.rewriting(r.tombs.Forgotten), r.rewriting(r.list), r.rewriting(r.list)
		r.saved.RecordsOnly = false
	}
	meta, shadow := r.meta, r.shadow
	isV1 := func(r git.Ref) bool { return r.Name == checkpoint.MetadataBranch || r.Name == originV1 }
	local := slices.ContainsFunc(refs, func(r git.Ref) bool { return r.Name == checkpoint.MetadataBranch })
	begin := !slices.ContainsFunc(refs, isV1) // all checkpoints have refs
	for _, ref := range refs {
		change, err := r.change(ctx, meta, shadow, ref)
		if err != nil {
			return p, fmt.Errorf("%s: %w", ref.Name, err)
		}
		if change.New == ref.OID {
			continue
		}
		p.refs = append(p.refs, change)
		p.places = append(p.places, placeOf(change, r.what.Remote))
		if _, inRef := checkpoint.ParseRef(ref.Name); inRef && begin && !meta.Forgotten.Empty() {
			next, err := r.beginV1(ctx, meta, ref.OID)
			if err != nil {
				return p, err
			}
			begin, p.refs = false, append(p.refs, refChange{Name: checkpoint.MetadataBranch, New: next})
		}
		if ref.Name == originV1 && !local { // read and continued without a local branch
			next, err := r.forgetV1(ctx, meta, ref.OID)
			if err != nil {
				return p, err
			}
			p.refs = append(p.refs, refChange{Name: checkpoint.MetadataBranch, New: next})
		}
	}
	// Backups of repairs are not changed if nothing else changes. Their contents are not examined:
	// they are deleted together with anything that is forgotten.
	if !slices.ContainsFunc(p.refs, func(c refChange) bool { return !strings.HasPrefix(c.Name, checkpoint.BackupRefs) }) {
		p.refs, p.places = nil, nil
	}
	for _, w := range []*checkpoint.Rewriting{meta, shadow, r.saved} {
		maps.Copy(p.moved, w.Moved)
	}
	return p, nil
}

// placeOf describes the change of a ref. The checkpoints of the remote replaced are replaced afterwards.
func placeOf(change refChange, replaced string) Place {
	place := Place{Kind: Other, Name: change.Name, What: "is rewritten"}
	_, _, isShadow := checkpoint.ParseShadow(change.Name)
	switch {
	case change.Name == checkpoint.MetadataBranch, change.Name == checkpoint.ImportedRef:
		place.Kind = Branch
	case isShadow:
		place.Kind = Shadow
	case strings.HasPrefix(change.Name, contextstore.Refs):
		place.Kind = Saved
	}
	place.Name = strings.TrimPrefix(place.Name, "refs/heads/")
	if change.New == "" {
		place.What = "is deleted"
	}
	if branch, isRemote := strings.CutPrefix(change.Name, "refs/remotes/"); isRemote {
		name := strings.TrimSuffix(branch, strings.TrimPrefix(checkpoint.RemoteBranches, "refs/remotes/*"))
		place.What = "is deleted here; --push " + name + " replaces it on the remote"
		if name == replaced {
			place.What = "is deleted here, and replaced on the remote"
		}
	}
	return place
}

// originV1 is the metadata branch of origin as it was fetched last.
const originV1 = "refs/remotes/origin/entire/checkpoints/v1"

// isShared reports whether a history of the metadata branch, of this clone or of a remote, contains
// the text, so that other clones may have it, too.
func (r *refs) isShared(ctx context.Context, p refPlan) (bool, error) {
	if len(p.hits) == 0 {
		return false, nil
	}
	reached, err := reachable(ctx, r.w.Repo, checkpoint.MetadataBranch, checkpoint.RemoteBranches, checkpoint.PushedRefs, checkpoint.CheckpointRefs)
	for oid := range p.hits {
		if reached[oid] && !p.own[oid] {
			return true, err
		}
	}
	return false, err
}

// reachable returns the objects that the refs with these prefixes reach.
func reachable(ctx context.Context, repo *git.Repo, prefixes ...string) (map[git.OID]bool, error) {
	globs := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		globs[i] = "--glob=" + prefix + "*"
	}
	return git.ReachableObjects(ctx, repo, globs...)
}

// anyToRewrite reports whether an own ref may match.
func (r *refs) anyToRewrite(ctx context.Context, p refPlan) (bool, error) {
	listed := r.tombs.Forgotten
	listed.Marks = nil
	if r.text == nil || !listed.Empty() { // ids and paths may be anywhere
		return true, nil
	}
	if len(p.hits) == 0 {
		return false, nil
	}
	ours, err := reachable(ctx, r.w.Repo, workspace.Refs(workspace.Recorded)...)
	for oid := range p.hits {
		if ours[oid] && !p.own[oid] {
			return true, err
		}
	}
	return false, err
}

func (r *refs) rewriting(list checkpoint.Forgotten) *checkpoint.Rewriting {
	w := &checkpoint.Rewriting{Repo: r.w.Repo, Forgotten: list}
	w.Progress = func(done, total int64) { r.progress("commits", done, total) }
	if r.what.File != "" {
		w.Files, w.RecordsOnly = r.forgottenPaths(), true
		w.Own = func(oid git.OID) bool { return r.own[oid] }
	}
	w.RecordsOnly = w.RecordsOnly || r.what.RecordsOnly
	if r.find != nil {
		w.Mask = r.find.Mask
		w.Affected = func(oid git.OID) bool { return r.hits[oid] && !r.own[oid] }
	}
	return w
}

// change returns the change of a ref. New is its old value if it doesn't change.
func (r *refs) change(ctx context.Context, meta, shadow *checkpoint.Rewriting, ref git.Ref) (c refChange, err error) {
	c = refChange{Name: ref.Name, Old: ref.OID, New: ref.OID}
	_, _, isShadow := checkpoint.ParseShadow(ref.Name)
	id, isRef := checkpoint.ParseRef(ref.Name)
	switch {
	case ref.Name == checkpoint.MetadataBranch:
		c.New, err = r.forgetV1(ctx, meta, ref.OID)
	case isRef:
		c.New, err = meta.Ref(ctx, ref.OID, id)
	case ref.Name == checkpoint.ImportedRef:
		c.New, err = meta.Metadata(ctx, ref.OID)
	case strings.HasPrefix(ref.Name, checkpoint.BackupRefs):
		c.New = ""
	case strings.HasPrefix(ref.Name, checkpoint.PushedRefs), strings.HasPrefix(ref.Name, checkpoint.FetchedRefs), strings.HasPrefix(ref.Name, "refs/remotes/"):
		var next git.OID
		if next, err = meta.Metadata(ctx, ref.OID); err == nil && next != ref.OID {
			c.New = "" // it would claim that the remote has the rewritten one
		}
	case strings.HasPrefix(ref.Name, contextstore.Refs):
		c.New, err = r.savedContext(ctx, shadow, ref.OID)
	case isShadow, strings.HasPrefix(ref.Name, checkpoint.OwnRefs):
		c.New, err = shadow.Shadow(ctx, ref.OID)
	}
	return c, err
}

// forgetV1 returns the new commit of the metadata branch.
func (r *refs) forgetV1(ctx context.Context, meta *checkpoint.Rewriting, tip git.OID) (git.OID, error) {
	c, err := r.w.Repo.Commit(ctx, string(tip))
	if err != nil {
		return "", err
	}
	by := c.Committer // so that a run after a crash has the same result
	return meta.Forget(ctx, tip, by)
}

// beginV1 returns a first commit of the metadata branch, which lists what is forgotten. of is the commit of
// a checkpoint's ref.
func (r *refs) beginV1(ctx context.Context, meta *checkpoint.Rewriting, of git.OID) (git.OID, error) {
	c, err := r.w.Repo.Commit(ctx, string(of))
	if err != nil {
		return "", err
	}
	return meta.Begin(ctx, c.Committer) // so that a run after a crash has the same result
}

// savedContext returns the new value of a saved context's ref. A saved context is removed with its
// session and by its age.
func (r *refs) savedContext(ctx context.Context, w *checkpoint.Rewriting, tip git.OID) (git.OID, error) {
	c, err := r.w.Repo.Commit(ctx, string(tip))
	if err != nil {
		return "", err
	}
	if r.what.Session != "" || !r.what.Before.IsZero() {
		entry, found, err := git.LookupPath(ctx, r.w.Repo, c.Tree, "checkpoint.json")
		if err != nil || !found {
			return tip, err
		}
		object, err := r.w.Repo.Read(ctx, string(entry.OID))
		if err != nil {
			return tip, err
		}
		var stored struct {
			Sessions []string  `json:"sessions"`
			Created  time.Time `json:"created_at"`
		}
		if json.Unmarshal(object.Data, &stored) == nil &&
			(slices.Contains(stored.Sessions, r.what.Session) || stored.Created.Before(r.what.Before)) {
			return "", nil
		}
		return tip, nil
	}
	if r.what.File != "" {
		next, err := contextstore.Rewrite(ctx, r.w.Repo, tip, contextstore.Without{Paths: r.forgottenPaths(), Mask: r.find.Mask})
		if errors.Is(err, recall.ErrDamaged) {
			return tip, nil // it is not changed, and reported
		}
		return next, err
	}
	if r.what.RecordsOnly { // its files are contents that were redacted
		return r.saved.Shadow(ctx, tip)
	}
	return w.Shadow(ctx, tip)
}

// move moves the refs, all or none. A run that continues after a crash finds them moved.
func (r *refs) move(ctx context.Context, j *journal) error {
	refs, err := git.ListRefs(ctx, r.w.Repo, workspace.Refs(workspace.Recorded)...)
	if err != nil {
		return err
	}
	now := map[string]git.OID{}
	for _, ref := range refs {
		now[ref.Name] = ref.OID
	}
	var updates []git.RefChange
	for _, c := range j.Refs {
		if now[c.Name] != c.New {
			updates = append(updates, git.RefChange{Name: c.Name, Old: c.Old, New: c.New})
		}
	}
	var queue []string // the remote has their former commits
	for _, u := range updates {
		if _, inRef := checkpoint.ParseRef(u.Name); inRef && u.New != "" {
			queue = append(queue, u.Name)
		}
	}
	if err := checkpoint.Enqueue(ctx, r.w.Repo.CommonDir, queue...); err != nil {
		return err
	}
	return git.UpdateRefs(ctx, r.w.Repo, "entire: forget", updates)
}

// expire removes the reflog entries of the program's refs and of the metadata branches of remotes.
func (r *refs) expire(ctx context.Context) error {
	names, err := ownRefs(ctx, r.w.Repo)
	if err != nil {
		return err
	}
	return git.ExpireReflogs(ctx, r.w.Repo, names...)
}

// ownRefs returns the names of the program's refs and of the metadata branches of remotes.
func ownRefs(ctx context.Context, repo *git.Repo) ([]string, error) {
	refs, err := git.ListRefs(ctx, repo, workspace.Refs(workspace.Recorded)...)
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = ref.Name
	}
	return names, err
}
