package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// notLinked is the message for a user whose commit should get a trailer but doesn't.
const notLinked = "this commit is not linked to its conversation"

// noteUnseen records that a commit without a link must not be registered as seen, if that is known or if
// it folds commits of others.
func noteUnseen(ctx context.Context, w *workspace.Workspace, d tracking.Decision, op operation, isUnseen bool) (err error) {
	if op == commitSquash && !isUnseen {
		if isUnseen, err = foldsOthers(ctx, w); err != nil {
			return err
		}
	}
	if !isUnseen {
		return nil
	}
	return recordUnseen(w, d)
}

// PrepareCommitMsg decides whether the commit that git is making belongs to sessions. If it does,
// it records the decision and adds the trailer to the message. If the decision can't be recorded,
// the message doesn't change and an error is returned.
func PrepareCommitMsg(ctx context.Context, w *workspace.Workspace, m CommitMessage) error {
	msg, err := readMessage(ctx, w, m)
	if err != nil {
		return err
	}
	if !showsEditor(w) && strings.TrimSpace(checkpoint.StripIDs(withoutComments(msg))) == "" {
		return nil // git starts no editor and rejects an empty message
	}
	op := currentOperation(ctx, w, m, msg.prose)
	d, err := decide(ctx, w, op, &msg)
	if err != nil {
		return err
	}
	isUnseen := false
	if d.ID != "" && !d.Amend && !op.copies() && w.Options.Ask && m.Source == "message" && msg.rest == "" && w.Env.Terminal() {
		if !w.Env.Confirm(ctx, "Link this commit to "+agents(w, d)+" session context?") {
			d, isUnseen = d.Declined(), true
		}
	}
	if d.ID != "" {
		// Don't add a trailer for a checkpoint that can't be stored.
		branch, err := BlockingBranch(ctx, w)
		if err != nil {
			return err
		}
		if branch != "" {
			w.Env.Say(fmt.Sprintf("entire: %s: the branch %s blocks %s; %s",
				notLinked, branch, strings.TrimPrefix(checkpoint.MetadataBranch, "refs/heads/"), BlockingHint(branch)))
			d, isUnseen = d.Declined(), true
		}
	}
	// In a copy of a commit the last line already contains the only id to keep.
	isLast := len(d.Keep) == 1 && strings.HasSuffix("\n"+strings.TrimRight(msg.prose, "\n"), "\n"+trailersOf(d.Keep)[0])
	switch {
	case len(d.Keep) == 0:
		if err := noteUnseen(ctx, w, d, op, isUnseen); err != nil {
			return err
		}
		return disown(ctx, w, op, &msg)
	case d.ID == "" && op.copies() && m.Source == "message" && isLast && !showsEditor(w):
		return nil
	}
	hint := hint(w, d, op)
	d.Hint = msg.rest != "" && hint != ""
	d.Prose = msg.digest()
	if err := tracking.RecordDecision(w, &d); err != nil {
		return fmt.Errorf("%s: %w", notLinked, err)
	}
	if d.ID != "" {
		if err := authorship.RecordMade(w, d); err != nil { // only doctor needs it
			w.Log.WarnContext(ctx, "id not noted", "checkpoint_id", string(d.ID), "error", err.Error())
		}
	}
	if err := add(ctx, w, &msg, d.Keep, hint); err != nil {
		return fmt.Errorf("%s: %w", notLinked, errors.Join(err, tracking.RemoveDecision(d)))
	}
	if err := msg.write(); err != nil {
		return fmt.Errorf("%s: %w", notLinked, errors.Join(err, tracking.RemoveDecision(d)))
	}
	for _, old := range d.Abandoned {
		if err := tracking.RemoveDecision(old); err != nil {
			return err
		}
	}
	w.Log.InfoContext(ctx, "commit linked", "checkpoint_id", string(d.ID), "kept", len(d.Keep), "sessions", len(d.Shares))
	return nil
}

// disown removes ids from the message of a commit that keeps none: they are those of other commits,
// whose text was used again.
func disown(ctx context.Context, w *workspace.Workspace, op operation, msg *message) error {
	ids := checkpoint.IDs(msg.prose)
	if len(ids) == 0 || op.copies() || w.Env.Getenv(linkEnv) == linkNone || checkpoint.Declines(msg.prose) {
		return nil
	}
	w.Log.InfoContext(ctx, "ids of other commits removed from the message", "ids", len(ids))
	msg.prose = checkpoint.QuoteIDs(checkpoint.StripIDs(msg.prose))
	return msg.write()
}

// isCaller reports whether the git process that runs this hook is the process of the decision.
func isCaller(w *workspace.Workspace, d tracking.Decision) bool {
	caller, ok := w.Env.Caller()
	return ok && caller.PID == d.Git && caller.Start == d.GitStart
}

// decide makes the decision about the commit. If Keep is empty the commit gets no trailer.
func decide(ctx context.Context, w *workspace.Workspace, op operation, msg *message) (tracking.Decision, error) {
	switch {
	case op == commitRevert, op == commitClean,
		op == commitAmend && w.Env.Getenv(linkEnv) == linkNone,
		!op.copies() && checkpoint.Declines(msg.prose):
		return tracking.Decision{}, nil
	}
	here := w.PendingSessions(ctx)
	if op == commitNew && len(here) == 0 &&
		!agent.IsCalling(w.Env.Getenv) && len(tracking.Links(w)) == 0 {
		// No session has a share, and no link in this repository could be taken over by the commit:
		// no git process is needed.
		return tracking.Decision{}, nil
	}
	head, born, err := w.Head(ctx)
	if err != nil {
		return tracking.Decision{}, fmt.Errorf("read HEAD: %w", err)
	}
	d := tracking.Decision{Worktree: w.Repo.WorktreeID, Parent: head.OID, Created: w.Env.Now().UTC(), Keep: prior(ctx, w, op, head, msg.prose)}
	if caller, ok := w.Env.Caller(); ok {
		d.Git, d.GitStart = caller.PID, caller.Start
		if age, ok := caller.Age(); ok { // some hundredths of a second are not known
			d.Begun = d.Created.Add(-age - time.Second).Truncate(time.Second)
		}
	}
	if w.Env.Getenv("GIT_COMMITTER_DATE") != "" {
		d.Begun = time.Unix(0, 0).UTC()
	}
	if d.Nonce, err = w.NewNonce(); err != nil {
		return tracking.Decision{}, err
	}
	q := commitRequest{op: op, head: head, here: here}
	base := head.OID // the parent of the new commit
	switch op {
	case commitRebase, commitPick, commitEdit:
		if len(here) == 0 && !agent.IsCalling(w.Env.Getenv) {
			return d, nil
		}
		if q.resolved, err = resolved(ctx, w, op, head); err != nil || len(q.resolved) == 0 {
			return d, err
		}
		if isFold := op == commitRebase && gitFile(w, "rebase-merge", "current-fixups") != ""; (isFold || op == commitEdit) && born {
			base = head.FirstParent()
		}
	case commitAmend:
		base = head.FirstParent()
	default:
	}
	if !op.copies() {
		d.Abandoned = abandoned(ctx, w, checkpoint.IDs(msg.prose))
	}
	list, err := git.Staged(ctx, w.Repo, base)
	if err != nil {
		return d, fmt.Errorf("read staged changes: %w", err)
	}
	changes := tracking.ByPath(list)
	if op == commitMerge { // it has only changes against every parent
		for rev := range strings.FieldsSeq(gitFile(w, "MERGE_HEAD")) {
			other, err := git.Staged(ctx, w.Repo, git.OID(rev))
			if err != nil {
				return d, fmt.Errorf("read staged changes: %w", err)
			}
			differs := tracking.ByPath(other)
			maps.DeleteFunc(changes, func(p string, _ git.Change) bool { _, ok := differs[p]; return !ok })
		}
	}
	q.changes = changes
	return link(ctx, w, d, q)
}

// resolved returns the paths that were changed since git stopped an operation that copies commits:
// those that differ from git's own attempt to resolve a conflict, or from the commit that is
// amended. It returns none if git didn't stop.
func resolved(ctx context.Context, w *workspace.Workspace, op operation, head git.Commit) (tracking.CommitChanges, error) {
	from := head.OID
	if op != commitEdit {
		verb, _ := GitCommand(ctx, w)
		tree := git.OID(strings.TrimSpace(gitFile(w, "AUTO_MERGE")))
		if verb != "commit" || !w.Repo.Format.Valid(tree) {
			return nil, nil //nolint:nilnil // git did not stop
		}
		from = tree
	}
	list, err := git.Staged(ctx, w.Repo, from)
	if err != nil {
		return nil, fmt.Errorf("read staged changes: %w", err)
	}
	return tracking.ByPath(list), nil
}

// abandoned returns the decisions of this worktree about commits that were never made but whose ids
// the message contains: a message of a commit that a hook refused is used again. An id without a
// checkpoint must not get into a commit only because its message has it.
func abandoned(ctx context.Context, w *workspace.Workspace, ids []checkpoint.ID) []tracking.Decision {
	if len(ids) == 0 {
		return nil
	}
	list := slices.DeleteFunc(tracking.WorktreeDecisions(ctx, w), func(d tracking.Decision) bool {
		return d.ID == "" || d.Amend || isLive(w, d) || !slices.Contains(ids, d.ID)
	})
	if len(list) == 0 {
		return nil
	}
	found, err := tracking.FindCommits(ctx, w, list, tracking.AllCommits)
	if err != nil {
		w.Log.WarnContext(ctx, "commits not searched, every id is kept", "error", err.Error())
		return nil
	}
	return slices.DeleteFunc(list, func(d tracking.Decision) bool { _, made := found[d.Nonce]; return made })
}

// commitRequest holds everything that a decision about a commit depends on.
type commitRequest struct {
	op      operation
	head    git.Commit
	here    []*session.State
	changes tracking.CommitChanges
	// resolved are the changes since git stopped; nil unless the commit is a copy.
	resolved tracking.CommitChanges
}

// amended returns the tree of the commit that the commit amends, "" if it amends none.
func (q commitRequest) amended() git.OID {
	if q.op == commitAmend || q.op == commitEdit {
		return q.head.Tree
	}
	return ""
}

// link adds the sessions with a share to the decision, and the id of their checkpoint.
func link(ctx context.Context, w *workspace.Workspace, d tracking.Decision, q commitRequest) (tracking.Decision, error) {
	var shares []tracking.Share
	var err error
	if id := w.Env.Getenv(linkEnv); id != "" && q.op == commitAmend {
		// The user named the session with `entire link`: its share is the whole commit.
		shares = []tracking.Share{{Session: id, Files: slices.Sorted(maps.Keys(q.changes))}}
	} else if shares, err = SharesOf(ctx, w, q.here, q.changes, q.amended()); err != nil {
		return d, err
	}
	if q.resolved != nil {
		shares = within(shares, func(p string) bool { _, ok := q.resolved[p]; return ok })
		if len(shares) == 0 {
			return d, nil
		}
	}
	d.Shares = shares
	switch q.op {
	case commitAmend, commitEdit:
		own := checkpoint.LinkedIDs(q.head)
		d.Replaced = own
		isMadeFor := func(l tracking.Link) bool { return l.ID == own[len(own)-1] && l.Commit == q.head.OID }
		if len(own) > 0 && (len(shares) > 0 || slices.ContainsFunc(tracking.Links(w), isMadeFor)) {
			d.ID, d.Amend, d.Former = own[len(own)-1], true, []git.OID{q.head.OID}
			return d, nil
		}
	case commitNew, commitAside:
		var covered []string
		for _, c := range Continued(ctx, w, q.head.OID, q.changes, picked(ctx, w, q.op)) {
			covered = append(covered, c.Covered...)
			if c.ID == "" {
				continue
			}
			d.Keep = append(d.Keep, c.ID)
			if c.Whole && q.op == commitNew {
				d.Replaced, d.Former = append(d.Replaced, c.ID), append(d.Former, c.Commit)
				d.ID, d.Amend = c.ID, true
			}
		}
		d.Keep = unique(d.Keep)
		if d.Amend {
			return d, nil
		}
		if len(covered) > 0 {
			d.Shares = within(shares, func(p string) bool { return !slices.Contains(covered, p) })
		}
	case commitRebase, commitPick:
		for _, c := range copied(ctx, w, q.op) {
			d.Copies = append(d.Copies, c.OID)
		}
	default: // it takes over only the ids that it keeps
	}
	if len(d.Shares) == 0 {
		return d, nil
	}
	if len(d.Abandoned) > 0 {
		d.ID = d.Abandoned[0].ID
	} else if d.ID, err = w.NewID(); err != nil {
		return d, err
	}
	d.Keep = append(d.Keep, d.ID)
	return d, nil
}

// within returns the shares with those of their files for which has is true, without the shares
// that have no such file.
func within(shares []tracking.Share, has func(path string) bool) []tracking.Share {
	var list []tracking.Share
	for _, s := range shares {
		if s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(p string) bool { return !has(p) }); len(s.Files) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// picked returns the links of the commits that a stopped rebase has picked, which may be taken apart
// now. A commit without an id has a link without one.
func picked(ctx context.Context, w *workspace.Workspace, op operation) []tracking.Link {
	if op != commitAside {
		return nil
	}
	var links []tracking.Link
	for _, c := range rebased(ctx, w) {
		ids := checkpoint.LinkedIDs(c)
		if len(ids) == 0 {
			ids = append(ids, "")
		}
		for _, id := range ids {
			links = append(links, tracking.Link{ID: id, Commit: c.OID, Worktree: w.Repo.WorktreeID})
		}
	}
	return links
}

// agents returns the names of the agents whose sessions a decision links.
func agents(w *workspace.Workspace, d tracking.Decision) string {
	var labels []string
	for _, share := range d.Shares {
		label := agent.Default().Label
		if s, err := w.Sessions.Load(share.Session); err == nil {
			label = agent.Of(s.AgentType).Label
		}
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	if len(labels) == 0 {
		return agent.Default().Label
	}
	return strings.Join(labels, " and ")
}

// hint returns the comment that the editor shows below the message.
func hint(w *workspace.Workspace, d tracking.Decision, op operation) string {
	isReworded := op == commitAmend || op == commitEdit || op == commitPick || op == commitRebase && gitFile(w, "rebase-merge", "current-fixups") == ""
	switch {
	case isReworded && (d.ID == "" || d.Amend):
		return hintMark + " above to unlink this commit from its conversation."
	case d.ID == "" || d.Amend:
		return ""
	}
	var hint strings.Builder
	hint.WriteString(hintMark + " above if you don't want to link this commit to " + agents(w, d) + ".")
	for _, share := range d.Shares {
		s, err := w.Sessions.Load(share.Session)
		if err == nil && s.FirstPrompt != "" {
			hint.WriteString("\nSession: " + s.FirstPrompt)
		}
	}
	return hint.String()
}
