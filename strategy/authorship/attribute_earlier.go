package authorship

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/provenance"
)

// mostEarlier is how many commits before the commit's parent are looked at.
const mostEarlier = 20

// earlier reads what a file was in the commits between its first early state and the commit's
// parent, of which some took up a part of that. What can't be read is left out.
func (a *attributing) earlier(ctx context.Context, name string, base git.OID, steps []provenance.AuthoredStep, rest restState) [][]byte {
	since := rest.at
	if first := slices.IndexFunc(steps, func(s provenance.AuthoredStep) bool { return s.Early }); first >= 0 {
		since = steps[first].At
	} else if !rest.early {
		return nil
	}
	var contents [][]byte
	seen := base
	for _, c := range a.commitsSince(ctx, since.Truncate(time.Second)) {
		e, _, err := a.r.Lookup(ctx, c.Tree, name)
		if err != nil || e.OID == seen || e.OID == base {
			continue
		}
		seen = e.OID
		if content, ok := a.read(ctx, e.OID); ok {
			contents = append(contents, content)
		}
	}
	return contents
}

// restState is when a file of the worktree changed last, and whether that may have been before
// the commit's parent was committed.
type restState struct {
	at    time.Time
	early bool
}

// restState returns that of a path; the zero one if the file isn't there. Times of commits are
// whole seconds.
func (a *attributing) restState(name string) restState {
	info, err := os.Lstat(filepath.Join(a.r.Repo.Root, filepath.FromSlash(name)))
	if err != nil {
		return restState{}
	}
	at := disk.Changed(info)
	return restState{at, !at.Truncate(time.Second).After(a.base.Committer.When)}
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
