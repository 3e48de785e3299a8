package forget

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// maxObject is the maximum size of an object that is searched: the program writes no larger ones.
const maxObject = 95 << 20

// objects are the objects of the repository's object store.
type objects struct {
	*target

	// searched holds the objects that were read, and whether they match.
	searched map[git.OID]bool
}

// search finds the objects that match, and which of them are the user's own. Without a text or file
// there is nothing to search for. Each object is read only once, even if search is called
// repeatedly.
func (ob *objects) search(ctx context.Context, p *refPlan) error {
	if ob.find == nil {
		return nil
	}
	all, err := git.AllObjects(ctx, ob.w.Repo)
	if err != nil {
		return err
	}
	if ob.searched == nil {
		ob.searched = make(map[git.OID]bool, len(all))
	}
	anew := slices.DeleteFunc(slices.Clone(all), func(o git.ObjectInfo) bool {
		_, known := ob.searched[o.OID]
		return known
	})
	err = ob.readAll(ctx, anew, func(o git.Object) {
		if ob.what.File == "" {
			ob.searched[o.OID] = ob.find.Has(o.Data)
		} else {
			ob.searched[o.OID] = o.Type != "tree" && (ob.content.versions[o.OID] || ob.find.Has(o.Data))
		}
	})
	if err != nil {
		return err
	}
	p.hits = map[git.OID]bool{}
	for _, o := range all {
		if ob.searched[o.OID] {
			p.hits[o.OID] = true
		}
	}
	if len(p.hits) == 0 {
		return nil
	}
	p.own, err = git.ReachableObjects(ctx, ob.w.Repo, append(checkpoint.UserRefs(), "--indexed-objects")...)
	return err
}

// readAll calls look for every object of a list that isn't too large.
func (ob *objects) readAll(ctx context.Context, list []git.ObjectInfo, look func(git.Object)) error {
	var oids []git.OID
	for _, o := range list {
		if o.Size <= maxObject {
			oids = append(oids, o.OID)
		}
	}
	done := int64(0)
	err := ob.w.Repo.ReadMany(ctx, oids, func(o git.Object) error {
		ob.progress("objects", done, int64(len(oids)))
		done++
		look(o)
		return nil
	})
	if err != nil {
		return fmt.Errorf("search objects: %w", err)
	}
	return nil
}
