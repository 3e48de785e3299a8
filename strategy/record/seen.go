package record

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// markHeadSeen adds HEAD to the register of seen commits. The caller has decided that no session has
// a share in it. A commit that git made of another one, which may have been made anywhere, is added
// only if that one is known to be a person's. doing is the operation in progress. It starts no git
// process unless HEAD is such a copy.
func markHeadSeen(ctx context.Context, w *workspace.Workspace, doing git.Operation) error {
	head, err := w.Repo.ResolveRef("HEAD")
	if err != nil {
		commit, born, err := w.Head(ctx)
		if err != nil || !born {
			return err
		}
		head = commit.OID
	}
	return markSeen(ctx, w, doing, head)
}

// markSeen is markHeadSeen for HEAD's commit.
func markSeen(ctx context.Context, w *workspace.Workspace, doing git.Operation, head git.OID) error {
	if w.Env.Getenv(linkEnv) != "" || agent.IsCalling(w.Env.Getenv) && len(w.PendingSessions(ctx)) == 0 {
		return nil // a link was removed, or the session of the agent is not recorded
	}
	if former, isCopy := copiedBy(ctx, w, doing, head); isCopy {
		if former == "" {
			return nil
		}
		is, err := arePersons(ctx, &tracking.Unlinked{Repo: w.Repo}, former)
		if err != nil || !is {
			return err
		}
	}
	return tracking.MarkSeen(w.Repo, head)
}

// arePersons reports whether the record shows that commits without a checkpoint are a person's. One
// that can't be read is none.
func arePersons(ctx context.Context, known *tracking.Unlinked, revs ...string) (bool, error) {
	for _, rev := range revs {
		commit, err := known.Repo.Commit(ctx, rev)
		if err != nil {
			return false, ctx.Err()
		}
		if is, err := known.IsPersons(ctx, commit); err != nil || !is {
			return false, err
		}
	}
	return true, nil
}

// recordUnseen records for post-commit that the commit being made must not be added to the register:
// the user declined its link, or it folds commits that aren't known to be a person's.
func recordUnseen(w *workspace.Workspace, d tracking.Decision) error {
	d.Keep, d.Unseen = []checkpoint.ID{}, true
	return tracking.RecordDecision(w, &d)
}

// foldsOthers reports whether a merge --squash folds a commit that isn't known to be a person's.
func foldsOthers(ctx context.Context, w *workspace.Workspace) (bool, error) {
	var folded []string
	for line := range strings.Lines(gitFile(w, "SQUASH_MSG")) {
		if oid, found := strings.CutPrefix(strings.TrimSpace(line), "commit "); found && w.Repo.Format.Valid(git.OID(oid)) {
			folded = append(folded, oid)
		}
	}
	is, err := arePersons(ctx, &tracking.Unlinked{Repo: w.Repo}, folded...)
	return !is, err
}

// copiedBy reports whether git made HEAD of another commit, by an amend or a cherry-pick, and
// returns that commit, "" if it isn't known.
func copiedBy(ctx context.Context, w *workspace.Workspace, doing git.Operation, head git.OID) (former string, isCopy bool) {
	before, action, found := lastReflog(w, head)
	if !found { // git keeps no reflog, or the action has another name
		switch verb, args := GitCommand(ctx, w); {
		case verb == "commit" && amends(CommitMessage{}, verb, args):
			return "HEAD@{1}", true
		case verb == "commit" || verb == "revert":
			return "", false
		}
	}
	switch {
	case doing.CherryPick:
		return "CHERRY_PICK_HEAD", true
	case action == "commit (amend)":
		return string(before), true
	case action == "commit", action == "commit (initial)", action == "commit (merge)", strings.HasPrefix(action, "revert"):
		return "", false
	default:
		return "", true
	}
}

// lastReflog returns the last action in the reflog of HEAD, and the commit at which HEAD was before
// it. It returns false if the reflog isn't known, or isn't about head.
func lastReflog(w *workspace.Workspace, head git.OID) (before git.OID, action string, found bool) {
	const end = 8 << 10
	file, err := os.Open(filepath.Join(w.Repo.GitDir, "logs", "HEAD"))
	if err != nil {
		return "", "", false
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", "", false
	}
	text := make([]byte, min(info.Size(), end))
	if _, err := file.ReadAt(text, info.Size()-int64(len(text))); err != nil {
		return "", "", false
	}
	last := strings.TrimSuffix(string(text), "\n")
	last = last[strings.LastIndexByte(last, '\n')+1:]
	entry, message, _ := strings.Cut(last, "\t")
	f := strings.Fields(entry)
	if len(f) < 2 || git.OID(f[1]) != head { //nolint:mnd // the commits before and after
		return "", "", false
	}
	action, _, _ = strings.Cut(message, ":")
	known := []string{"commit", "commit (initial)", "commit (merge)", "commit (amend)", "commit (cherry-pick)", "cherry-pick", "revert"}
	return git.OID(f[0]), action, slices.Contains(known, action)
}

// markSeenAside adds HEAD to the register if a person made it by git commit while a rebase had
// stopped, and the commit that the rebase had picked there, which may have been taken apart, is
// known to be a person's.
func markSeenAside(ctx context.Context, w *workspace.Workspace, mine []tracking.Decision) error {
	verb, args := GitCommand(ctx, w)
	if verb != "commit" || continues(args) || amends(CommitMessage{}, verb, args) || len(mine) > 0 || w.Env.Getenv(linkEnv) != "" {
		return nil
	}
	head, born, err := w.Head(ctx)
	if err != nil || !born || len(checkpoint.IDsOf(head)) > 0 {
		return err
	}
	var names []string
	for _, c := range rebased(ctx, w) {
		names = append(names, string(c.OID))
	}
	if is, err := arePersons(ctx, &tracking.Unlinked{Repo: w.Repo}, names...); err != nil || !is {
		return err
	}
	return tracking.MarkSeen(w.Repo, head.OID)
}

// followSeen adds commits that git has rewritten to the register, given as a map of old ids to new
// ids: those that replace only commits that are known to be a person's.
func followSeen(ctx context.Context, w *workspace.Workspace, moved map[git.OID]git.OID) error {
	known := tracking.Unlinked{Repo: w.Repo}
	others := map[git.OID]bool{} // commits that replace one that isn't known to be a person's
	var list []git.OID
	for from, to := range moved {
		list = append(list, to)
		seen, err := known.IsSeen(from)
		if err != nil {
			return err
		}
		if seen || others[to] {
			continue
		}
		is, err := arePersons(ctx, &known, string(from))
		if err != nil {
			return err
		}
		others[to] = !is
	}
	slices.Sort(list)
	list = slices.DeleteFunc(slices.Compact(list), func(oid git.OID) bool {
		seen, err := known.IsSeen(oid)
		return others[oid] || err != nil || seen || !w.Repo.Format.Valid(oid)
	})
	return tracking.MarkSeen(w.Repo, list...)
}
