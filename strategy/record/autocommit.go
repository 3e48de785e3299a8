package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// turnCommitTimeout limits the commit of a turn, including the user's hooks.
const turnCommitTimeout = 60 * time.Second

// tidyTimeout limits the work after the commit, whether or not it succeeded.
const tidyTimeout = 5 * time.Second

// CommitTurn commits the files that the session's turns changed, if the strategy is auto-commit:
// exactly those files, except files that the user has staged. It is called after a stop was saved.
// notice is a redacted line for the user that gives the reason if git or the state of the
// repository prevented the commit, and is empty if all went well. Without a commit everything is
// restored, and the next stop retries. postCommit does the work of the post-commit hook. CommitTurn
// calls it if git didn't run the hook.
func CommitTurn(ctx context.Context, w *workspace.Workspace, id string, postCommit func(context.Context) error) (notice string, err error) {
	if w.Options.Strategy != workspace.AutoCommit && !intended(w) {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, turnCommitTimeout)
	defer cancel()
	lock, err := disk.AcquireLock(ctx, commitFile(w, ".lock")) // one commit at a time in this worktree
	if err != nil {
		return "", err
	}
	if err = withdraw(ctx, w); err == nil { // the leftovers of a stop that was killed
		s, failed := w.Sessions.Load(id)
		switch {
		case w.Options.Strategy != workspace.AutoCommit, errors.Is(failed, session.ErrNotFound):
		case failed != nil:
			err = failed
		case s.Phase == session.Active || !w.OwnsSession(s): // the next stop does it
		default:
			notice, err = commitDue(ctx, w, s, postCommit)
		}
	}
	err = errors.Join(err, lock.Unlock())
	if notice != "" {
		w.Log.WarnContext(ctx, "commit of a turn", "session_id", id, "notice", notice)
	}
	return notice, err
}

// commitDue commits the files that are due.
func commitDue(ctx context.Context, w *workspace.Workspace, s *session.State, postCommit func(context.Context) error) (notice string, err error) {
	plan, err := planCommit(ctx, w, s)
	if err != nil || len(plan.paths) == 0 {
		return "", err
	}
	doing, err := git.OperationInProgress(ctx, w.Repo)
	if err != nil {
		return "", err
	}
	if name := doing.Name(); name != "" {
		return "not committed: a " + name + " is in progress", nil
	}
	before, _, err := w.Head(ctx)
	if err != nil {
		return "", err
	}
	if len(plan.fresh) > 0 { // they get entries in the index
		data, failed := json.Marshal(intent{Files: plan.fresh})
		if failed == nil {
			failed = disk.WriteDurable(commitFile(w, ".json"), append(data, '\n'), 0o600)
		}
		if failed != nil {
			err = fmt.Errorf("note new files: %w", failed)
		} else {
			err = git.IntendToAdd(ctx, w.Repo, plan.fresh)
		}
	}
	if err == nil {
		err = git.CommitPaths(ctx, w.Repo, git.PathCommit{
			Paths: plan.paths, Message: s.Recorder.Due.Subject,
			Env: append(agent.Of(s.AgentType).Environ(s.ID), workspace.TurnVariable+"="+s.TurnID),
		})
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTimeout)
	defer cancel()
	head, born, lost := w.Head(after)
	if lost != nil {
		return "", errors.Join(err, lost)
	}
	made := born && head.OID != before.OID && firstParent(head) == before.OID
	if err != nil && !made { // if only its last hook was cut short, the commit exists
		return "not committed: " + reason(w, err), withdraw(after, w)
	}
	w.Log.InfoContext(ctx, "turn committed", "session_id", s.ID, "commit", head.OID.Short(), "files", len(plan.paths))
	if err := dropIntent(w); err != nil {
		return "", err
	}
	if err := alignIndex(after, w, head, plan.paths); err != nil {
		return "", err
	}
	linked := func() (bool, error) {
		s, err := w.Sessions.Load(s.ID)
		return err == nil && s.BaseCommit == string(head.OID), err
	}
	if ok, err := linked(); ok || err != nil {
		return "", err
	}
	if err := postCommit(after); err != nil {
		return "", err
	}
	if ok, err := linked(); ok || err != nil {
		return "", err
	}
	return "committed as " + head.OID.Short() + ", but not linked: git doesn't run our hooks (`entire enable` installs them)", nil
}

func firstParent(c git.Commit) git.OID {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// reason returns a line with the reason why git made no commit, from the first line of output of
// git or of a user's hook.
func reason(w *workspace.Workspace, err error) string {
	const longest = 200
	reason := err.Error()
	if exit, ok := errors.AsType[*git.ExitError](err); ok {
		reason = cmp.Or(git.TrimStderrPrefix(workspace.FirstLine(exit.Stderr)), reason)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		reason = fmt.Sprintf("git took more than %v", turnCommitTimeout)
	}
	runes := []rune(strings.Join(strings.Fields(plain.Prose(w.Redact.Text(reason))), " "))
	return string(runes[:min(longest, len(runes))])
}
