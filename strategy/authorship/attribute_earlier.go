package authorship

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/strategy/provenance"
)

// mostEarlier is how many commits before the commit's parent are looked at.
const mostEarlier = 20

// earlier reads what a file was in the commits between its first step and the commit's parent, of
// which some took up a part of the steps. What can't be read is left out.
func (a *attributing) earlier(ctx context.Context, f gitdiff.FileDiff, steps []provenance.AuthoredStep) [][]byte {
	first := slices.IndexFunc(steps, func(s provenance.AuthoredStep) bool { return s.Early })
	if first < 0 {
		return nil
	}
	var contents [][]byte
	seen := f.Old
	for _, c := range a.commitsSince(ctx, steps[first].At.Truncate(time.Second)) {
		e, _, err := a.r.Lookup(ctx, c.Tree, cmp.Or(f.OldPath, f.Path))
		if err != nil || e.OID == seen || e.OID == f.Old {
			continue
		}
		seen = e.OID
		if content, ok := a.read(ctx, e.OID); ok {
			contents = append(contents, content)
		}
	}
	return contents
}

// commitsSince returns the commits before the commit's parent up to the one that was there at a
// time, newest first.
func (a *attributing) commitsSince(ctx context.Context, at time.Time) []git.Commit {
	c := a.base
	if n := len(a.past); n > 0 {
		c = a.past[n-1]
	}
	for len(a.past) < mostEarlier && len(c.Parents) > 0 && !c.Committer.When.Before(at) {
		next, err := a.r.Repo.Commit(ctx, string(c.Parents[0]))
		if err != nil {
			break
		}
		c, a.past = next, append(a.past, next)
	}
	return a.past
}
