package importing

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// history holds the commits to which sessions may be linked.
type history struct {
	// commits are all commits of the user's refs since the sessions began, the oldest first, without merges.
	commits []git.Commit
	byID    []git.OID // of commits, sorted
	open    map[git.OID]int
	// closed are the reasons why commits stay as they are.
	closed map[git.OID]string
}

// readHistory reads the commits since a time, all if it is zero.
func readHistory(ctx context.Context, w *workspace.Workspace, since time.Time) (*history, error) {
	args := []string{"--no-merges"}
	if !since.IsZero() {
		args = append(args, "--since="+since.Add(-time.Hour).Format(time.RFC3339))
	}
	args = append(args, checkpoint.UserRefs()...)
	list, err := git.Commits(ctx, w.Repo, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b git.Commit) int { return a.Committer.When.Compare(b.Committer.When) })
	seen, err := tracking.SeenCommits(w.Repo)
	if err != nil {
		return nil, err
	}
	cut, err := git.ShallowBoundary(w.Repo)
	if err != nil {
		return nil, err
	}
	h := &history{commits: list, open: make(map[git.OID]int, len(list)), closed: map[git.OID]string{}}
	for i, c := range list {
		h.byID = append(h.byID, c.OID)
		switch {
		case len(checkpoint.IDsOf(c)) > 0 && !checkpoint.IsImported(c):
			h.closed[c.OID] = alreadyLinked
		case checkpoint.IsDeclined(c):
			h.closed[c.OID] = "it declines a link"
		case seen[c.OID]:
			h.closed[c.OID] = "no session contributed to it"
		case cut[c.OID]:
			h.closed[c.OID] = "its changes are unknown: this clone is shallow"
		default:
			h.open[c.OID] = i
		}
	}
	slices.Sort(h.byID)
	return h, nil
}

// alreadyLinked is the reason to leave a commit that names a checkpoint.
const alreadyLinked = "already linked"

// resolve returns the commit with an abbreviated id, "" if there is none, or several.
func (h *history) resolve(id string) git.OID {
	if id == "" {
		return ""
	}
	at, _ := slices.BinarySearch(h.byID, git.OID(id))
	if at == len(h.byID) || !strings.HasPrefix(string(h.byID[at]), id) {
		return ""
	}
	if at+1 < len(h.byID) && strings.HasPrefix(string(h.byID[at+1]), id) {
		return ""
	}
	return h.byID[at]
}

const (
	// madeBefore is how long before the result of the command that made it a commit may have been made:
	// hooks and other commands may follow it.
	madeBefore = 15 * time.Minute
	// listedSoon is how long before a command that shows a commit the commit was made if the same agent made it.
	listedSoon = time.Minute
	// madeAfter allows for fractions of seconds, which commits don't have.
	madeAfter = 2 * time.Second
)

// isMadeWithin reports whether the author of a commit made it between two times.
func (h *history) isMadeWithin(oid git.OID, from, to time.Time) bool {
	i, isOpen := h.open[oid]
	return isOpen && !h.commits[i].Author.When.Before(from) && !h.commits[i].Author.When.After(to)
}

// withSubject returns the commits with a subject whose author made them between two times.
func (h *history) withSubject(subject string, from, to time.Time) (found []git.OID) {
	for _, c := range h.commits {
		if !c.Author.When.Before(from) && !c.Author.When.After(to) && c.Subject() == subject {
			found = append(found, c.OID)
		}
	}
	return found
}

// rewritten returns the commits into which a shown commit was rewritten: git keeps the author's date and the
// subject. It returns none if they were changed, too.
func (h *history) rewritten(s shownCommit) (found []git.OID) {
	if s.subject == "" || s.at.IsZero() {
		return nil
	}
	best := madeBefore + 1 // how long before the result the commit was made
	for _, c := range h.commits {
		before := s.at.Sub(c.Author.When)
		if before < -madeAfter || before > madeBefore || c.Subject() != s.subject {
			continue
		}
		if before < best {
			best, found = before, found[:0]
		}
		if before == best {
			found = append(found, c.OID)
		}
	}
	return found
}
