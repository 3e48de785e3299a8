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

// searchObjects finds the objects that match, and which of them are the user's own. Without a text
// or file there is nothing to search for. Each object is read only once, even if search is called
// repeatedly.
func (t *target) searchObjects(ctx context.Context, p *refPlan) error {
	if t.find == nil {
		return nil
	}
	all, err := git.AllObjects(ctx, t.w.Repo)
	if err != nil {
		return err
	}
	if t.searched == nil {
		t.searched = make(map[git.OID]bool, len(all))
	}
	anew := slices.DeleteFunc(slices.Clone(all), func(o git.ObjectInfo) bool {
		_, known := t.searched[o.OID]
		return known
	})
	err = t.readObjects(ctx, anew, func(o git.Object) {
		if t.what.File == "" {
			t.searched[o.OID] = t.find.Has(o.Data)
		} else {
			t.searched[o.OID] = o.Type != "tree" && (t.content.versions[o.OID] || t.find.Has(o.Data))
		}
	})
	if err != nil {
		return err
	}
	p.hits = map[git.OID]bool{}
	for _, o := range all {
		if t.searched[o.OID] {
			p.hits[o.OID] = true
		}
	}
	if len(p.hits) == 0 {
		return nil
	}
	p.own, err = git.ReachableObjects(ctx, t.w.Repo, append(checkpoint.UserRefs(), "--indexed-objects")...)
	return err
}

// readObjects calls look for every object of a list that isn't too large.
func (t *target) readObjects(ctx context.Context, list []git.ObjectInfo, look func(git.Object)) error {
	var oids []git.OID
	for _, o := range list {
		if o.Size <= maxObject {
			oids = append(oids, o.OID)
		}
	}
	done := int64(0)
	err := t.w.Repo.ReadMany(ctx, oids, func(o git.Object) error {
		t.progress("objects", done, int64(len(oids)))
		done++
		look(o)
		return nil
	})
	if err != nil {
		return fmt.Errorf("search objects: %w", err)
	}
	return nil
}
