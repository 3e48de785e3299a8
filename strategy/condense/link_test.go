package condense

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/strategy/journal"
)

func TestRecommittedContent(t *testing.T) {
	t.Parallel()
	link := journal.Link{ID: "0123456789ab", Blobs: map[string]git.OID{"a": "1", "b": "2"}}
	for name, tc := range map[string]struct {
		changes map[string]gitdiff.Change
		want    bool
	}{
		"the same blob":    {map[string]gitdiff.Change{"b": {New: "2"}}, true},
		"another blob":     {map[string]gitdiff.Change{"b": {New: "3"}}, false},
		"at another place": {map[string]gitdiff.Change{"c": {New: "1"}}, false},
		"nothing":          {nil, false},
	} {
		if got := sharesBlob(link, tc.changes); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
