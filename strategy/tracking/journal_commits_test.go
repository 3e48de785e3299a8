package tracking

import (
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
)

func TestDecisionReplacedByCommit(t *testing.T) {
	t.Parallel()
	decided := time.Date(2026, 1, 27, 10, 0, 5, 1_000_000, time.UTC)
	begun := time.Date(2026, 1, 27, 10, 0, 3, 0, time.UTC)
	for name, test := range map[string]struct {
		decision Decision
		commit   git.Commit
		replaced bool
	}{
		"dated in the second before the decision": {Decision{Amend: true, Begun: begun}, at(begun.Add(time.Second)), false},
		"dated before git began":                  {Decision{Amend: true, Begun: begun}, at(begun.Add(-time.Second)), true},
		"dated by the user":                       {Decision{Amend: true, Begun: time.Unix(0, 0)}, at(begun.AddDate(-1, 0, 0)), false},
		"of an older version, a second before":    {Decision{Amend: true}, at(begun), false},
		"of an older version, an hour before":     {Decision{Amend: true}, at(begun.Add(-time.Hour)), true},
		"the one that is amended":                 {Decision{Amend: true, Begun: begun, Parent: "1"}, at(begun.Add(time.Minute)), true},
		"no amendment":                            {Decision{Begun: begun}, at(begun.Add(-time.Hour)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.decision.Created = decided
			if got := replacedBy(test.decision, test.commit); got != test.replaced {
				t.Errorf("got %v", got)
			}
		})
	}
}

func at(when time.Time) git.Commit { return git.Commit{OID: "1", Committer: git.Signature{When: when}} }
