package authorship

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

const (
	// mostEarlier is the maximum number of commits before the commit's parent that are read.
	mostEarlier = 20
	// mostLookups is the maximum number of lookups of files in these commits.
	mostLookups = 200
)

// earlier reads the contents of a file in the commits before the commit's parent, some of which
// took up a part of the file as it was then. It reads the commits since the first early step of the
// file. If the commit has content that no state has, it reads all, because the time of that change
// isn't known. Contents that can't be read are omitted.
func (a *attributing) earlier(ctx context.Context, name string, base git.OID, steps []tracking.AuthoredStep, file attribution.File) [][]byte {
	since := time.Time{}
	if n := len(file.States); n > 0 && bytes.Equal(file.States[n-1].Content, file.Final) {
		first := slices.IndexFunc(steps, func(s tracking.AuthoredStep) bool { return s.Early })
		if first < 0 {
			return nil
		}
		since = steps[first].At.Truncate(time.Second)
	}
	if base == "" {
		return nil
	}
	last := a.base
	if n := len(a.past); n > 0 {
		last = a.past[n-1]
	}
	for len(a.past) < mostEarlier && len(last.Parents) > 0 && !last.Committer.When.Before(since) {
		next, err := a.w.Repo.Commit(ctx, string(last.Parents[0]))
		if err != nil {
			break
		}
		last, a.past = next, append(a.past, next)
	}
	var contents [][]byte
	seen := base
	for _, c := range a.past {
		if a.lookups++; a.lookups > mostLookups {
			break
		}
		e, _, err := a.w.Lookup(ctx, c.Tree, name)
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
