package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/tracking"
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
			err = fmt.Errorf("record new files: %w", failed)
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
	made := born && head.OID != before.OID && head.FirstParent() == before.OID
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
	return "committed as " + head.OID.Short() + ", but not linked: git doesn't run Entire's hooks (`entire enable` installs them)", nil
}

// reason returns a line with the reason why git made no commit, from the first line of output of
// git or of a user's hook.
func reason(w *workspace.Workspace, err error) string {
	const longest = 200
	reason := err.Error()
	if exit, ok := errors.AsType[*git.ExitError](err); ok {
		reason = cmp.Or(git.TrimStderrPrefix(plain.FirstLine(exit.Stderr)), reason)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		reason = fmt.Sprintf("git took more than %v", turnCommitTimeout)
	}
	runes := []rune(strings.Join(strings.Fields(plain.Prose(w.Redact.Text(reason))), " "))
	return string(runes[:min(longest, len(runes))])
}

// intent records the new files that were added to the index for a turn's commit. It is written
// before the index, and removed when the commit is made or the index is restored.
type intent struct {
	Files session.Paths `json:"files"`
}

// commitFile returns the path of a file about the turns' commits of this worktree.
func commitFile(w *workspace.Workspace, kind string) string {
	return filepath.Join(w.RecordsDir(), "commit-"+checkpoint.WorktreeHash(w.Repo.WorktreeID)+kind)
}

// intended reports whether an intent is recorded.
func intended(w *workspace.Workspace) bool {
	_, err := os.Lstat(commitFile(w, ".json"))
	return err == nil
}

// withdraw unstages the files of the intent that still have no content in the index: their commit
// was not made.
func withdraw(ctx context.Context, w *workspace.Workspace) error {
	path := commitFile(w, ".json")
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read list of new files: %w", err)
	}
	var note intent
	if json.Unmarshal(data, &note) == nil && len(note.Files) > 0 {
		entries, err := git.Status(ctx, w.Repo, note.Files...)
		if err != nil {
			return fmt.Errorf("remove new files from the index: %w", err)
		}
		var empty []string
		for _, e := range entries {
			if e.Index == ' ' { // else it was staged since
				empty = append(empty, e.Path)
			}
		}
		if err := git.Unstage(ctx, w.Repo, empty); err != nil {
			return fmt.Errorf("remove new files from the index: %w", err)
		}
	}
	return dropIntent(w)
}

// dropIntent removes the intent.
func dropIntent(w *workspace.Workspace) error {
	path := commitFile(w, ".json")
	if !intended(w) {
		return nil
	}
	if err := disk.Remove(path); err != nil {
		return fmt.Errorf("remove list of new files: %w", err)
	}
	return nil
}

// commitPlan holds the files of a turn's commit.
type commitPlan struct {
	paths []string
	fresh []string // those of paths that are not in the index
}

// planCommit determines with git which of the due files to commit. Files that the user has staged,
// wholly or in part, are the user's to commit. Files that the agent has staged as they are in the
// working tree are the turn's.
func planCommit(ctx context.Context, w *workspace.Workspace, s *session.State) (commitPlan, error) {
	due := s.Recorder.Due
	files := slices.DeleteFunc(slices.Clone(due.Files), func(p string) bool { return !workspace.ContainsPath(s.FilesTouched, p) })
	if len(files) == 0 {
		return commitPlan{}, nil
	}
	entries, err := git.Status(ctx, w.Repo, files...)
	if err != nil {
		return commitPlan{}, fmt.Errorf("find what to commit: %w", err)
	}
	byAgent := !due.Index.IsZero() && due.Index.Equal(tracking.IndexTime(w))
	var plan commitPlan
	var theirs []string
	for _, e := range entries {
		switch {
		case !workspace.ContainsPath(files, e.Path): // below a path that became a folder
		case e.Index == '?':
			plan.fresh = append(plan.fresh, e.Path)
			plan.paths = append(plan.paths, e.Path)
		case e.Index == ' ', byAgent && e.Worktree == ' ':
			plan.paths = append(plan.paths, e.Path)
		default:
			theirs = append(theirs, e.Path)
		}
	}
	if len(theirs) > 0 {
		w.Log.InfoContext(ctx, "left out of the turn's commit: staged", "session_id", s.ID, "files", len(theirs), "first", theirs[0])
	}
	slices.Sort(plan.paths)
	return plan, nil
}

// alignIndex updates the index to the commit where nothing else is staged: git doesn't add changes
// to the index that a user's hook makes during the commit.
func alignIndex(ctx context.Context, w *workspace.Workspace, head git.Commit, paths []string) error {
	staged, err := git.Staged(ctx, w.Repo, head.OID)
	var stale []string
	if err == nil && len(staged) > 0 {
		var list []git.Change
		list, err = git.Changes(ctx, w.Repo, head.FirstParent(), head.OID)
		committed := tracking.ByPath(list)
		for _, c := range staged {
			was, ok := committed[c.Path]
			asBefore := ok && was.Old == c.New && was.OldMode == c.NewMode
			if asBefore || workspace.ContainsPath(paths, c.Path) {
				stale = append(stale, c.Path)
			}
		}
	}
	if err == nil {
		err = git.Unstage(ctx, w.Repo, stale)
	}
	if err != nil {
		return fmt.Errorf("update the index to %s: %w", head.OID.Short(), err)
	}
	return nil
}
