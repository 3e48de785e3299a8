package forget

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitobject"
)

// maxObject is the size of the largest object that is searched: none of ours is
// larger.
const maxObject = 95 << 20

// search finds the objects that have the text, and which of them are the user's
// own. Without a text there is nothing to search for. Each object is read once,
// however often it is called.
func (f *Forgetting) search(ctx context.Context, p *refPlan) error {
	if f.find == nil {
		return nil
	}
	all, err := gitobject.All(ctx, f.rec.Repo)
	if err != nil {
		return err
	}
	if f.searched == nil {
		f.searched = make(map[git.OID]bool, len(all))
	}
	anew := slices.DeleteFunc(slices.Clone(all), func(o gitobject.Info) bool {
		_, known := f.searched[o.OID]
		return known
	})
	if err := f.readAll(ctx, anew, func(o git.Object) { f.searched[o.OID] = f.has(o) }); err != nil {
		return err
	}
	p.hits = map[git.OID]bool{}
	for _, o := range all {
		if f.searched[o.OID] {
			p.hits[o.OID] = true
		}
	}
	if len(p.hits) == 0 {
		return nil
	}
	p.own, err = gitobject.Reachable(ctx, f.rec.Repo, append(userRefs(), "--indexed-objects")...)
	return err
}

// has reports whether an object has something of it.
func (f *Forgetting) has(o git.Object) bool {
	if f.what.File == "" {
		return f.find.Has(o.Data)
	}
	return o.Type != "tree" && (f.content.versions[o.OID] || f.find.Has(o.Data))
}

// readAll hands every object of a list that isn't too large to look.
func (f *Forgetting) readAll(ctx context.Context, list []gitobject.Info, look func(git.Object)) error {
	var oids []git.OID
	for _, o := range list {
		if o.Size <= maxObject {
			oids = append(oids, o.OID)
		}
	}
	err := f.rec.Repo.ReadMany(ctx, oids, func(o git.Object) error {
		look(o)
		return nil
	})
	if err != nil {
		return fmt.Errorf("search objects: %w", err)
	}
	return nil
}

// ends are objects that no ref of ours needs, and that have something of it.
type ends struct {
	places []Place
	// prune are those that are ours and loose.
	prune []git.OID
}

// looseEnds finds the objects with something of it that neither refs nor reflogs
// reach, and names those that stay.
func (f *Forgetting) looseEnds(ctx context.Context, p refPlan) (ends, error) {
	var found ends
	if f.find == nil && f.what.Session == "" {
		return found, nil
	}
	reached, err := gitobject.Reachable(ctx, f.rec.Repo, "--all", "--reflog", "--indexed-objects")
	if err != nil {
		return found, err
	}
	all, err := gitobject.All(ctx, f.rec.Repo)
	if err != nil {
		return found, err
	}
	all = slices.DeleteFunc(all, func(o gitobject.Info) bool { return reached[o.OID] })
	matched, ours, err := f.matched(ctx, p, all)
	if err != nil {
		return found, err
	}
	add := func(oid git.OID, place Place) {
		place.Name = oid.Short()
		found.places = append(found.places, place)
	}
	for _, oid := range matched {
		switch {
		case !ours[oid] && f.what.File != "": // it has a line in common with the file
		case !ours[oid]:
			add(oid, Place{Kind: Object, What: "nothing refers to it, and it isn't known whose it is: git prune removes it", Stays: true})
		case f.rec.Repo.IsLoose(oid):
			found.prune = append(found.prune, oid)
			add(oid, Place{Kind: Object, What: "is removed"})
		default:
			add(oid, Place{Kind: Packed, What: "nothing refers to it, but it is in a pack: git gc --prune=now removes it", Stays: true})
		}
	}
	ourRefs, err := gitobject.Reachable(ctx, f.rec.Repo, "--glob=refs/heads/entire/*", "--glob=refs/entire/*")
	if err != nil {
		return found, err
	}
	for oid := range p.hits {
		switch {
		case f.what.File != "" && (p.own[oid] || !f.content.versions[oid]): // ownCommits names it
		case p.own[oid]:
			add(oid, Place{Kind: Own, What: "is in your own commits or index: rewriting those is yours to do", Stays: true})
		case reached[oid] && !ourRefs[oid]:
			add(oid, Place{Kind: Own, What: "is in a reflog: git reflog expire --expire=now --all, then git gc --prune=now", Stays: true})
		}
	}
	return found, nil
}

// matched returns which of the unreferenced objects have something of it, and
// which of them are ours.
func (f *Forgetting) matched(ctx context.Context, p refPlan, list []gitobject.Info) (matched []git.OID, ours map[git.OID]bool, err error) {
	is, trees, listed := map[git.OID]bool{}, []git.OID{}, make(map[git.OID]bool, len(list))
	for _, o := range list {
		listed[o.OID] = true
		if o.Type == "tree" {
			trees = append(trees, o.OID)
		}
	}
	if f.what.Session == "" {
		list = slices.DeleteFunc(slices.Clone(list), func(o gitobject.Info) bool { return !p.hits[o.OID] })
	}
	ours = map[git.OID]bool{}
	err = f.readAll(ctx, list, func(o git.Object) {
		if p.hits[o.OID] || f.what.Session != "" && mentions(o.Data, f.what.Session) {
			is[o.OID], ours[o.OID] = true, isRecord(o) || f.content.versions[o.OID] || f.what.Session != "" && o.Type == "tree"
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if len(is) == 0 {
		return nil, nil, nil
	}
	for _, oid := range trees {
		entries, err := f.rec.Repo.Tree(ctx, oid)
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
			case f.what.Session != "" && e.Mode == git.ModeFile && listed[e.OID]:
				is[e.OID], ours[e.OID] = true, true
			}
		}
	}
	for oid := range is {
		matched = append(matched, oid)
	}
	slices.Sort(matched)
	return matched, ours, nil
}

// recordNames are names of files that only records of ours have together.
var recordNames = map[string]bool{ //nolint:gochecknoglobals // read only
	"full.jsonl": true, "prompt.txt": true, "context.md": true, "content_hash.txt": true, "checkpoint.json": true,
}

// isRecord reports whether an object is by its content one that the program
// wrote: a commit with its trailers, a piece of a transcript, a piece of metadata.
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

// prune removes the loose objects that the rewritten histories had and that
// nothing refers to any more. Files of the records that name an object keep it.
func (f *Forgetting) prune(ctx context.Context, j *journal) error {
	if len(j.Prune) == 0 {
		var err error
		if j.Prune, err = f.prunable(ctx, j); err != nil {
			return err
		}
		if err := f.write(j); err != nil {
			return err
		}
	}
	reached, err := gitobject.Reachable(ctx, f.rec.Repo, "--all", "--reflog", "--indexed-objects")
	if err != nil {
		return err
	}
	return f.rec.Repo.RemoveLoose(slices.DeleteFunc(slices.Clone(j.Prune), func(oid git.OID) bool { return reached[oid] }))
}

func (f *Forgetting) prunable(ctx context.Context, j *journal) ([]git.OID, error) {
	repo := f.rec.Repo
	var tips []git.OID
	for _, c := range j.Refs {
		if c.Old != "" {
			tips = append(tips, c.Old)
		}
	}
	absent, err := gitobject.Absent(ctx, repo, tips)
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
		if candidates, err = gitobject.Reachable(ctx, repo, args...); err != nil {
			return nil, err
		}
	}
	for oid := range f.named() {
		delete(candidates, oid)
	}
	var p refPlan
	if err := f.search(ctx, &p); err != nil {
		return nil, err
	}
	found, err := f.looseEnds(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, oid := range found.prune {
		candidates[oid] = true
	}
	reached, err := gitobject.Reachable(ctx, repo, "--all", "--reflog", "--indexed-objects")
	if err != nil {
		return nil, err
	}
	var prune []git.OID
	for oid := range candidates {
		if !reached[oid] && repo.IsLoose(oid) {
			prune = append(prune, oid)
		}
	}
	slices.Sort(prune)
	return prune, nil
}
