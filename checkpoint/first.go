package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
)

const (
	// mostRoots is the maximum number of checkpoints in the first commits of the metadata branches
	// whose metadata is read, mostFirst that of the oldest checkpoints whose transcripts are read.
	mostRoots, mostFirst = 2000, 3
	// mostUndated is the maximum number of lines at the beginning of a transcript without a time.
	mostUndated = 50
)

// FirstRecord returns the time of the earliest record on the metadata branches: of their first
// commit, of a checkpoint that it has already, or of the beginning of an imported session or of the
// session of one of the oldest checkpoints. It returns false if that isn't known, as in a shallow clone
// of the branches, or if there is no metadata branch. What the commits in since have is left out.
func FirstRecord(ctx context.Context, repo *git.Repo, since []git.OID) (first time.Time, found bool, err error) {
	args := branchRevisions()
	for _, oid := range since {
		args = append(args, "^"+string(oid))
	}
	commits, err := git.Commits(ctx, repo, append(args, "--")...)
	if err != nil || len(commits) == 0 {
		return first, false, err
	}
	boundary, err := git.ShallowBoundary(repo)
	if err != nil {
		return first, false, err
	}
	earlier := func(at time.Time) {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	type stored struct {
		tree git.OID
		id   ID
	}
	var oldest []stored
	for _, c := range slices.Backward(commits) {
		earlier(c.Committer.When)
		if started, ok := startedIn(c.Message); ok {
			earlier(started)
		} else if r, ok := RecordOf(c); ok && len(oldest) < mostFirst {
			oldest = append(oldest, stored{c.Tree, r.ID})
		}
		switch {
		case boundary[c.OID]:
			return time.Time{}, false, nil
		case len(c.Parents) > 0:
		default: // the branch may have been squashed to this commit
			ids, err := findInTree(ctx, repo, c.Tree, "")
			if err != nil || len(ids) > mostRoots {
				return time.Time{}, false, git.UnlessMissing(err)
			}
			at, begun, err := earliest(ctx, repo, c.Tree, ids)
			if err != nil {
				return time.Time{}, false, err
			}
			earlier(at)
			for _, id := range begun {
				oldest = append(oldest, stored{c.Tree, id})
			}
		}
	}
	for _, c := range oldest {
		at, err := beginning(ctx, repo, BranchSource(repo, c.tree), c.id)
		if err != nil {
			return time.Time{}, false, err
		}
		earlier(at)
	}
	return first, true, nil
}

// FirstImported returns the time at which the earliest session began that ImportedRef has, or had before
// its content was forgotten; zero if there is none.
func FirstImported(ctx context.Context, repo *git.Repo) (first time.Time, err error) {
	tip, err := ImportedTip(ctx, repo)
	if err != nil || tip == "" {
		return first, err
	}
	return firstStarted(ctx, repo, []git.OID{tip})
}

// firstStarted returns the earliest beginning of a session that an import stored in the histories of tips;
// zero if there is none.
func firstStarted(ctx context.Context, repo *git.Repo, tips []git.OID) (first time.Time, err error) {
	commits, err := git.CommitsBetween(ctx, repo, startedKey+": ", tips, nil)
	for _, c := range commits {
		if at, ok := startedIn(c.Message); ok && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first, err
}

// FirstOfRefs returns the time of the earliest record in the refs of checkpoints: that of the oldest
// ULID, of a checkpoint with another id, or of the beginning of an imported session or of the session of
// one of the oldest. It returns false if there are none.
func FirstOfRefs(ctx context.Context, repo *git.Repo) (first time.Time, found bool, err error) {
	refs, err := RefsOf(ctx, repo) // ULIDs in the order of their times
	if err != nil || len(refs) == 0 {
		return first, false, err
	}
	earlier := func(at time.Time) {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	var oldest, undated []ID
	var tips []git.OID // of the undated: imported checkpoints are among them
	for _, ref := range refs {
		at, dated := ref.ID.Time()
		earlier(at)
		if !dated {
			undated, tips = append(undated, ref.ID), append(tips, ref.Tip)
		} else if len(oldest) < mostFirst {
			oldest = append(oldest, ref.ID)
		}
	}
	started, err := firstStarted(ctx, repo, tips)
	if err != nil {
		return time.Time{}, false, err
	}
	earlier(started)
	from := Source{repo: repo}
	in := Records{repo: repo, Sources: []Source{from}}
	err = in.ReadAll(ctx, undated[:min(len(undated), mostRoots)], func(_ ID, c Checkpoint, err error) error {
		if err != nil {
			return ctx.Err() // a checkpoint that can't be read has no time
		}
		for _, s := range c.Sessions {
			earlier(s.Meta.CreatedAt)
		}
		return nil
	})
	for _, id := range oldest {
		at, failed := beginning(ctx, repo, from, id)
		err = errors.Join(err, failed)
		earlier(at)
	}
	return first, true, err
}

// earliest returns the earliest time at which one of the checkpoints was created, and the ids of those
// whose sessions may have begun earlier: of this one, and of those with imported sessions.
func earliest(ctx context.Context, repo *git.Repo, tree git.OID, ids []ID) (first time.Time, begun []ID, err error) {
	in := Records{repo: repo, Sources: []Source{BranchSource(repo, tree)}}
	var id ID
	err = in.ReadAll(ctx, ids, func(one ID, c Checkpoint, err error) error {
		if err != nil {
			return ctx.Err() // a checkpoint that can't be read has no time
		}
		for _, s := range c.Sessions {
			if at := s.Meta.CreatedAt; !at.IsZero() && (first.IsZero() || at.Before(first)) {
				first, id = at, one
			}
			if s.Meta.IsImported() && !slices.Contains(begun, one) {
				begun = append(begun, one)
			}
		}
		return nil
	})
	if id != "" && !slices.Contains(begun, id) {
		begun = append(begun, id)
	}
	return first, begun, err
}

// beginning returns the time at which the first session of a checkpoint began, as its transcript has
// it; zero if it isn't known.
func beginning(ctx context.Context, repo *git.Repo, from Source, id ID) (first time.Time, err error) {
	c, err := from.Read(ctx, id)
	if err != nil {
		return first, ctx.Err()
	}
	for _, s := range c.Sessions {
		t, err := UnhashedTranscript(ctx, repo, s.Dir)
		if err == nil {
			err = t.Lines(ctx, repo, LineSpan{To: mostUndated}, func(line []byte, _ int) error {
				at := transcript.LastTime(line)
				if at.IsZero() {
					return nil
				}
				if first.IsZero() || at.Before(first) {
					first = at
				}
				return io.EOF
			})
		}
		if err != nil && !errors.Is(err, io.EOF) && ctx.Err() != nil { // else it is not in this repository
			return first, fmt.Errorf("read the transcript of %s: %w", id, ctx.Err())
		}
	}
	return first, nil
}
