package sharing

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Loss is how a remote has lost checkpoints that were sent to it.
type Loss string

// The losses.
const (
	NoLoss   Loss = ""
	Deleted  Loss = "deleted"  // the branch is gone
	SetBack  Loss = "set-back" // it is at an earlier commit
	Replaced Loss = "replaced" // it has another history
)

// Lost describes the loss of a remote's checkpoints.
type Lost struct {
	Remote string // its name
	How    Loss
	// Checkpoints is the number of checkpoints on the branch here that the remote lacks.
	Checkpoints int

	record string // the ref that records what was sent
	sent   git.OID
}

// String returns a sentence about the loss, without a full stop.
func (l Lost) String() string {
	how := map[Loss]string{Deleted: "deleted", SetBack: "reset", Replaced: "replaced"}[l.How]
	switch l.Checkpoints {
	case 0:
		return "the record of checkpoints at " + l.Remote + " was " + how
	case 1:
		return "1 checkpoint is missing at " + l.Remote + ", whose record was " + how
	}
	return plain.Plural(l.Checkpoints, "checkpoint") + " are missing at " + l.Remote + ", whose record was " + how
}

// FindLost compares what was last sent to a remote with what the last fetch of it has shown. It uses no
// network. A history that lists forgotten content which this clone doesn't know is no loss, and neither is
// another history that has all checkpoints: somebody has forgotten content of it.
func FindLost(ctx context.Context, w *workspace.Workspace, remote string, place git.PushDestination) (Lost, error) {
	lost := Lost{Remote: remote, record: sentRecord(place)}
	if !place.Configured {
		return Lost{}, nil
	}
	var err error
	if lost.sent, err = tipOf(ctx, w, lost.record); err != nil || lost.sent == "" {
		return Lost{}, err
	}
	shown, err := tipOf(ctx, w, trackingRef(remote))
	if err != nil || shown == lost.sent {
		return Lost{}, err
	}
	if shown == "" {
		if tracked, err := isTracked(ctx, w, remote); err != nil || !tracked {
			return Lost{}, err
		}
		lost.How = Deleted
		lost.Checkpoints, err = countMissing(ctx, w, "")
		return lost, err
	}
	if more, err := w.LacksTombstones(ctx, shown); err != nil || more {
		return Lost{}, err
	}
	base, err := git.MergeBase(ctx, w.Repo, lost.sent, shown)
	if err != nil || base == lost.sent {
		return Lost{}, err
	}
	if lost.Checkpoints, err = countMissing(ctx, w, shown); err != nil {
		return Lost{}, err
	}
	switch {
	case base == shown:
		lost.How = SetBack
	case lost.Checkpoints > 0:
		lost.How = Replaced
	default:
		return Lost{}, nil
	}
	return lost, nil
}

// countMissing returns the number of checkpoints on the branch here that are not on a remote's, given its
// commit, empty if it has none.
func countMissing(ctx context.Context, w *workspace.Workspace, theirs git.OID) (int, error) {
	var lists [2][]checkpoint.ID
	for i, name := range []string{checkpoint.MetadataBranch, string(theirs)} {
		if name == "" {
			continue
		}
		tip, err := tipOf(ctx, w, name)
		if err != nil {
			return 0, err
		}
		if tip == "" {
			continue
		}
		c, err := w.Repo.Commit(ctx, string(tip))
		if err != nil {
			return 0, err
		}
		if lists[i], err = checkpoint.BranchSource(w.Repo, c.Tree).Find(ctx, ""); err != nil {
			return 0, err
		}
	}
	missing := slices.DeleteFunc(lists[0], func(id checkpoint.ID) bool {
		_, found := slices.BinarySearch(lists[1], id)
		return found
	})
	return len(missing), nil
}

// isTracked reports whether a fetch of a remote updates the ref that records its branch of checkpoints.
func isTracked(ctx context.Context, w *workspace.Workspace, remote string) (bool, error) {
	vars, err := w.Repo.Config.Variables(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(vars["remote."+remote+".fetch"], func(refspec string) bool {
		from, to, _ := strings.Cut(strings.TrimPrefix(refspec, "+"), ":")
		covers := func(pattern, name string) bool {
			prefix, suffix, isPattern := strings.Cut(pattern, "*")
			return pattern == name || isPattern && len(name) >= len(prefix+suffix) && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix)
		}
		return covers(from, checkpoint.MetadataBranch) && covers(to, trackingRef(remote))
	}), nil
}
