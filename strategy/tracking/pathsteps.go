package tracking

import (
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
)

// PathSteps are the steps of all sessions, by path and in the order of time.
type PathSteps map[string][]AuthoredStep

// AuthoredStep is the state of a path after one step.
type AuthoredStep struct {
	At   time.Time
	By   string // a session, empty for a person
	Blob git.OID
	Raw  bool
	// Turn is the turn of the session.
	Turn string
	// Early reports that a later commit did not take up the path as the step left it.
	Early bool
	// Unproven reports that lines that appear in it are By's only if a call wrote them.
	Unproven bool
	// Unsure reports that it is counted as a person's, though a session made it.
	Unsure bool
}

// AddSession adds the steps of a session.
func (ps PathSteps) AddSession(id string, steps []Step) {
	for _, s := range steps {
		by := ""
		if s.By == byAgent {
			by = id
		}
		for i, p := range s.Paths {
			ps[p] = append(ps[p], AuthoredStep{At: s.At, By: by, Blob: s.Blobs[i], Raw: s.Raw, Turn: s.Turn, Early: s.Early, Unproven: s.Unsure})
		}
	}
}

// Of returns a path's steps, oldest first. A renamed file also has those of its old name,
// without the removal.
func (ps PathSteps) Of(path, oldPath string) []AuthoredStep {
	steps := slices.Clone(ps[path])
	if oldPath != "" {
		for _, s := range ps[oldPath] {
			if s.Blob != GoneBlob {
				steps = append(steps, s)
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b AuthoredStep) int { return a.At.Compare(b.At) })
	if len(steps) > mostSteps {
		// Drop all but the last of consecutive steps of one author: they matter only if an
		// author restores older content.
		all := steps
		steps = nil
		for _, s := range all {
			if n := len(steps); n > 0 && steps[n-1].By == s.By && steps[n-1].Unproven == s.Unproven {
				steps[n-1] = s
			} else {
				steps = append(steps, s)
			}
		}
	}
	return steps[max(0, len(steps)-mostSteps):]
}

// mostSteps is the maximum number of steps of a file that are compared, the newest ones.
const mostSteps = 40
