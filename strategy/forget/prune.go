package forget

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// pruner removes objects that nothing refers to.
type pruner struct {
	*target

	// packErr is the reason why packs could not be rewritten.
	packErr error
}

// ends holds matching objects that no ref of this program needs.
type ends struct {
	places []Place
	// prune are the program's own objects that can be removed.
	prune []git.OID
}

// ends finds the matching objects that neither refs nor reflogs reach, and names those that remain.
func (pr *pruner) ends(ctx context.Context, p refPlan) (found ends, err error) {
	if pr.find == nil && pr.what.Session == "" {
		return found, nil
	}
	reached, err := pr.reached(ctx)
	if err != nil {
		return found, err
	}
	all, err := git.AllObjects(ctx, pr.w.Repo)
	if err != nil {
		return found, err
	}
	all = slices.DeleteFunc(all, func(o git.ObjectInfo) bool { return reached[o.OID] })
	matched, ours, err := pr.matched(ctx, p, all)
	if err != nil {
		return found, err
	}
	packs, err := git.OpenPacks(ctx, pr.w.Repo)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, packs.Close()) }()
	add := func(oid git.OID, place Place) {
		place.Name = oid.Short()
		found.places = append(found.places, place)
	}
	for _, oid := range matched {
		switch {
		case !ours[oid] && pr.what.File != "": // it has a line in common with the file
		case !ours[oid]:
			add(oid, Place{Kind: Object, What: "is unreferenced, of an unknown session: git prune removes it", Stays: true})
		case pr.w.Repo.Loose.Has(oid):
			found.prune = append(found.prune, oid)
			add(oid, Place{Kind: Object, What: "is removed"})
		default:
			place, err := pr.packed(packs, oid)
			if err != nil {
				return found, err
			}
			if !place.Stays {
				found.prune = append(found.prune, oid)
			}
			add(oid, place)
		}
	}
	ourRefs, err := reachable(ctx, pr.w.Repo, workspace.Refs(workspace.Own)...)
	if err != nil {
		return found, err
	}
	var logged map[git.OID]bool // the objects that reflogs of own refs reach
	for oid := range p.hits {
		if reached[oid] && !ourRefs[oid] && !p.own[oid] && logged == nil {
			if logged, err = pr.logged(ctx); err != nil {
				return found, err
			}
		}
		switch {
		case pr.what.File != "" && (p.own[oid] || !pr.content.versions[oid]): // ownCommits names it
		case p.own[oid]:
			add(oid, Place{Kind: Own, What: "is in your own commits or index: rewrite those yourself", Stays: true})
		case reached[oid] && !ourRefs[oid] && logged[oid]:
			add(oid, Place{Kind: Object, What: "is removed from a reflog"})
		case reached[oid] && !ourRefs[oid]:
			add(oid, Place{Kind: Own, What: "is in a reflog: git reflog expire --expire=now --all, then git gc --prune=now", Stays: true})
		}
	}
	return found, nil
}

// logged returns the objects that the reflogs of the program's refs reach, which are emptied.
func (pr *pruner) logged(ctx context.Context) (map[git.OID]bool, error) {
	names, err := ownRefs(ctx, pr.w.Repo)
	if err != nil {
		return nil, err
	}
	oids, err := git.ReflogCommits(ctx, pr.w.Repo, names...)
	if err != nil || len(oids) == 0 {
		return map[git.OID]bool{}, err
	}
	revs := make([]string, len(oids))
	for i, oid := range oids {
		revs[i] = string(oid)
	}
	return git.ReachableObjects(ctx, pr.w.Repo, revs...)
}

// packed returns the place of an object that is not loose.
func (pr *pruner) packed(packs *git.Packs, oid git.OID) (Place, error) {
	why, err := packs.Fixed(oid)
	switch {
	case err != nil:
		return Place{}, err
	case why == "" && pr.packErr == nil:
		return Place{Kind: Packed, What: "is removed, and its pack rewritten"}, nil
	case why == "":
		why = "its pack could not be rewritten (" + plain.FirstLine(pr.packErr.Error()) + ")"
	}
	return Place{Kind: Packed, What: "is unreferenced, but " + why + ": git gc --prune=now removes it", Stays: true}, nil
}

// matched returns the matching ones of the unreferenced objects, and which of them are the
// program's own.
func (pr *pruner) matched(ctx context.Context, p refPlan, list []git.ObjectInfo) (matched []git.OID, ours map[git.OID]bool, err error) {
	is, trees, listed := map[git.OID]bool{}, []git.OID{}, make(map[git.OID]bool, len(list))
	for _, o := range list {
		listed[o.OID] = true
		if o.Type == "tree" {
			trees = append(trees, o.OID)
		}
	}
	if pr.what.Session == "" {
		list = slices.DeleteFunc(slices.Clone(list), func(o git.ObjectInfo) bool { return !p.hits[o.OID] })
	}
	ours = map[git.OID]bool{}
	err = pr.readObjects(ctx, list, func(o git.Object) {
		if p.hits[o.OID] || pr.what.Session != "" && mentions(o.Data, pr.what.Session) {
			is[o.OID], ours[o.OID] = true, isRecord(o) || pr.content.versions[o.OID] || pr.what.Session != "" && o.Type == "tree"
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if len(is) == 0 {
		return nil, nil, nil
	}
	for _, oid := range trees {
		entries, err := pr.w.Repo.Tree(ctx, oid)
		if err != nil {
			continue // git prunes it
		}
		record := slices.ContainsFunc(entries, func(e git.TreeEntry) bool { return recordNames[e.Name] })
		some := slices.ContainsFunc(entries, func(e git.TreeEntry) bool { return is[e.OID] })
		for _, e := range entries {
			switch {
			case !record || !some:
			case is[e.OID]:
				ours[e.OID] = true
			case pr.what.Session != "" && e.Mode == git.ModeFile && listed[e.OID]:
				is[e.OID], ours[e.OID] = true, true
			}
		}
	}
	if pr.text != nil { // files that were changed, from the steps of sessions
		for oid := range pr.namedObjects() {
			ours[oid] = ours[oid] || is[oid]
		}
	}
	for oid := range is {
		matched = append(matched, oid)
	}
	slices.Sort(matched)
	return matched, ours, nil
}

// recordNames are names of files that occur together only in records of this program.
var recordNames = map[string]bool{ //nolint:gochecknoglobals // read only
	"full.jsonl": true, "prompt.txt": true, "context.md": true, "content_hash.txt": true, "checkpoint.json": true,
}

// isRecord reports whether an object was written by the program, as its content shows: a commit
// with its trailers, a piece of a transcript, a piece of metadata.
func isRecord(o git.Object) bool {
	text := string(o.Data[:min(len(o.Data), 64<<10)])
	has := func(part string) bool { return strings.Contains(text, part) }
	switch o.Type {
	case "commit":
		return has("\nEntire-Session: ") || has("\nCheckpoint: ")
	case "tree":
		return has(" full.jsonl\x00") || has(" prompt.txt\x00") || has(".entire")
	default:
		return strings.HasPrefix(text, "{") && (has(`"sessionId":`) || has(`"session_id":`)) || strings.HasPrefix(text, "# Session Context\n")
	}
}

// reached returns the objects that refs, reflogs and indexes reach.
func (pr *pruner) reached(ctx context.Context) (map[git.OID]bool, error) {
	return git.ReachableObjects(ctx, pr.w.Repo, "--all", "--reflog", "--indexed-objects")
}

// dropPacked rewrites packs without objects. It excludes git's gc meanwhile.
func (pr *pruner) dropPacked(ctx context.Context, gone []git.OID) (err error) {
	packs, err := git.OpenPacks(ctx, pr.w.Repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, packs.Close()) }()
	var drop []git.OID
	for _, oid := range gone {
		why, err := packs.Fixed(oid)
		if err != nil {
			return err
		}
		if why == "" {
			drop = append(drop, oid)
		}
	}
	if len(drop) == 0 {
		return nil
	}
	release, err := pr.excludeGC()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	err = packs.Drop(ctx, drop, func() (bool, error) {
		reached, err := pr.reached(ctx)
		return !slices.ContainsFunc(drop, func(oid git.OID) bool { return reached[oid] }), err
	})
	return errors.Join(err, git.RefreshCommitGraph(ctx, pr.w.Repo))
}

// prunable returns the objects to remove: those that only the former values of refs reach, and
// those that ends has found.
func (pr *pruner) prunable(ctx context.Context, j *journal) (prune []git.OID, err error) {
	repo := pr.w.Repo
	var tips []git.OID
	for _, c := range j.Refs {
		if c.Old != "" {
			tips = append(tips, c.Old)
		}
	}
	absent, err := git.MissingObjects(ctx, repo, tips)
	if err != nil {
		return nil, err
	}
	tips = slices.DeleteFunc(tips, func(oid git.OID) bool { return slices.Contains(absent, oid) })
	candidates := map[git.OID]bool{}
	if len(tips) > 0 {
		args := make([]string, len(tips))
		for i, tip := range tips {
			args[i] = string(tip)
		}
		if candidates, err = git.ReachableObjects(ctx, repo, args...); err != nil {
			return nil, err
		}
	}
	var p refPlan
	if err := pr.searchObjects(ctx, &p); err != nil {
		return nil, err
	}
	for oid := range pr.namedObjects() {
		if !p.hits[oid] {
			delete(candidates, oid)
		}
	}
	found, err := pr.ends(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, oid := range found.prune {
		candidates[oid] = true
	}
	reached, err := pr.reached(ctx)
	if err != nil {
		return nil, err
	}
	packs, err := git.OpenPacks(ctx, repo)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, packs.Close()) }()
	for oid := range candidates {
		if reached[oid] {
			continue
		}
		if !repo.Loose.Has(oid) {
			if why, err := packs.Fixed(oid); err != nil {
				return nil, err
			} else if why != "" {
				continue
			}
		}
		prune = append(prune, oid)
	}
	slices.Sort(prune)
	return prune, nil
}

// gcLockAge is the age above which git ignores the lock of its gc.
const gcLockAge = 12 * time.Hour

// excludeGC prevents git's gc from running until release is called, with the file by which one gc
// excludes another. While a gc is running it returns an error.
func (pr *pruner) excludeGC() (release func() error, err error) {
	path := filepath.Join(pr.w.Repo.CommonDir, "gc.pid")
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && pr.w.Env.Now().Sub(info.ModTime()) <= gcLockAge {
		var pid int
		var at string
		data, err := disk.ReadFile(path)
		if n, _ := fmt.Sscanf(string(data), "%d %s", &pid, &at); err == nil && n == 2 && (at != host || pr.w.Env.Alive(pid, 0)) {
			return nil, errors.New("git gc is running")
		}
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, errors.New("git gc is starting")
	}
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(lock, "%d %s", os.Getpid(), host)
	if err = errors.Join(err, lock.Close()); err == nil {
		err = os.Rename(lock.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(lock.Name()))
	}
	return func() error { return disk.Remove(path) }, nil
}
