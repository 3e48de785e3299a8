package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// linkEnv is the variable that a Relinker sets for the hooks of its amend: to the session to link,
// or to linkNone if the message must not change.
const (
	linkEnv  = "ENTIRE_LINK"
	linkNone = "none"
)

// Errors of a Relinker.
var (
	// ErrNotLast means that the commit is not HEAD.
	ErrNotLast = errors.New("is not the last commit")
	// ErrPushed means that a remote has the commit.
	ErrPushed = errors.New("was already pushed")
	// ErrInProgress means that an operation of git that makes commits is in progress.
	ErrInProgress = errors.New("a git operation is in progress")
	// ErrNoLink means that the commit has no link to remove.
	ErrNoLink = errors.New("has no link")
	// ErrLinked means that the commit is already linked to the session.
	ErrLinked = errors.New("is already linked to this session")
	// ErrImported means that the session is known by imported checkpoints alone, which no message names.
	ErrImported = errors.New("is linked to an import that is not shared")
	// ErrNotAdded means that the hooks of the amend didn't add the link.
	ErrNotAdded = errors.New("the git hooks didn't add the link")
)

// Relinked is the result of changing the links of a commit.
type Relinked struct {
	Former, Commit git.Commit
	// IDs are the checkpoints whose links were removed or added.
	IDs []checkpoint.ID
}

// Unlink removes all links from the commit that rev names. The records of the conversation remain. The
// commit's note then declines a link, so that none is derived from the commit's content.
// Without force it returns ErrPushed for a commit that a remote has.
func Unlink(ctx context.Context, w *workspace.Workspace, rev string, force bool) (Relinked, error) {
	// Links that are stored only in the commit's note are removed from the note, and the commit is
	// not amended. If it can't be read, the amend reports the error.
	c, err := w.Repo.Commit(ctx, rev)
	if err == nil && len(checkpoint.NoteIDs(c.Note)) > 0 && len(checkpoint.IDs(c.Message)) == 0 {
		now := c
		now.Note = checkpoint.DeclinedNote
		err = git.WriteNotes(ctx, w.Repo, signature(w, c), map[git.OID]string{c.OID: now.Note})
		return Relinked{Former: c, Commit: now, IDs: checkpoint.IDsOf(c)}, err
	}
	if c, err = amendable(ctx, w, rev, force); err != nil {
		return Relinked{}, err
	}
	if len(checkpoint.IDs(c.Message)) == 0 {
		return Relinked{}, fmt.Errorf("%s %w", c.OID.Short(), ErrNoLink)
	}
	done, err := reword(ctx, w, c, checkpoint.StripIDs(c.Message), linkNone)
	if err != nil {
		return done, err
	}
	note, err := w.Repo.Notes.Own(ctx, done.Commit.OID)
	if err != nil {
		return done, err
	}
	return done, git.WriteNotes(ctx, w.Repo, signature(w, c), map[git.OID]string{done.Commit.OID: note + checkpoint.DeclinedNote})
}

// Link links the commit that rev names to a session: by the checkpoint that was made for it and
// that no commit names, else by a new one, or by the session's newest one if the repository has no
// state of the session. Without force it returns ErrPushed for a commit that a remote has. It returns
// ErrImported for a session whose checkpoints no other clone can get.
func Link(ctx context.Context, w *workspace.Workspace, rev string, s query.Session, force bool) (Relinked, error) {
	c, err := amendable(ctx, w, rev, force)
	if err != nil {
		return Relinked{}, err
	}
	c.Message = checkpoint.StripDeclined(c.Message)
	have := checkpoint.IDs(c.Message)
	if slices.ContainsFunc(s.Checkpoints, func(id checkpoint.ID) bool { return slices.Contains(have, id) }) {
		return Relinked{}, fmt.Errorf("%s %w", c.OID.Short(), ErrLinked)
	}
	id, err := unnamed(ctx, w, c, s)
	if err != nil {
		return Relinked{}, err
	}
	if id == "" && s.Phase != query.Stored {
		return reword(ctx, w, c, c.Message, s.ID)
	}
	if id == "" {
		id = s.Checkpoints[0]
	}
	records, err := w.Records(ctx)
	if err != nil {
		return Relinked{}, err
	}
	if at, err := records.Locate(ctx, id); err == nil && at.Imported {
		return Relinked{}, fmt.Errorf("session %s %w", s.ID, ErrImported)
	}
	message, err := git.AddTrailers(ctx, w.Repo, []byte(checkpoint.StripIDs(c.Message)), trailersOf(append(have, id)))
	if err != nil {
		return Relinked{}, fmt.Errorf("add trailer: %w", err)
	}
	return reword(ctx, w, c, string(message), linkNone)
}

// amendable returns the commit that rev names if it may be amended.
func amendable(ctx context.Context, w *workspace.Workspace, rev string, force bool) (git.Commit, error) {
	head, born, err := w.Head(ctx)
	if err != nil {
		return git.Commit{}, err
	}
	if !born {
		return git.Commit{}, fmt.Errorf("no commit yet: %w", git.ErrMissing)
	}
	c, err := w.Repo.Commit(ctx, rev)
	if err != nil {
		return git.Commit{}, err
	}
	if c.OID != head.OID {
		return git.Commit{}, fmt.Errorf("%s %w", c.OID.Short(), ErrNotLast)
	}
	doing, err := git.OperationInProgress(ctx, w.Repo)
	if err != nil {
		return git.Commit{}, err
	}
	if doing.Rebase || doing.Apply || doing.CherryPick || doing.Revert || doing.Merge {
		return git.Commit{}, ErrInProgress
	}
	if !utf8.ValidString(c.Message) {
		return git.Commit{}, fmt.Errorf("the message of %s is not UTF-8", c.OID.Short())
	}
	if force {
		return c, nil
	}
	pushed, err := git.OnRemote(ctx, w.Repo, c.OID)
	if err == nil && pushed != "" {
		err = fmt.Errorf("%s %w: %s has it", c.OID.Short(), ErrPushed, pushed)
	}
	return c, err
}

// unnamed returns the newest checkpoint of a session that no commit names and that has a file of
// the commit: the one that was made for the commit before its link was removed. It returns "" if
// there is none.
func unnamed(ctx context.Context, w *workspace.Workspace, c git.Commit, s query.Session) (checkpoint.ID, error) {
	changes, err := ChangesOf(ctx, w, c)
	if err != nil {
		return "", err
	}
	const most = 20 // the last commit's checkpoint is among the newest
	for _, id := range s.Checkpoints[:min(len(s.Checkpoints), most)] {
		stored, err := authorship.ReadCheckpoint(ctx, w, id)
		if errors.Is(err, checkpoint.ErrNotFound) { // it was fetched
			continue
		}
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(stored.Summary.FilesTouched, func(p string) bool { _, ok := changes[p]; return ok }) {
			continue
		}
		named, err := checkpoint.LinkedCommits(ctx, w.Repo, []checkpoint.ID{id}, append(checkpoint.UserRefs(), "--")...)
		if err != nil || len(named) == 0 {
			return id, err
		}
	}
	return "", nil
}

// reword replaces the message of the last commit.
func reword(ctx context.Context, w *workspace.Workspace, c git.Commit, message, link string) (Relinked, error) {
	if err := git.Reword(ctx, w.Repo, message, []string{linkEnv + "=" + link}); err != nil {
		if exit, ok := errors.AsType[*git.ExitError](err); ok {
			return Relinked{}, fmt.Errorf("amend %s: %s", c.OID.Short(), git.TrimStderrPrefix(strings.TrimSpace(exit.Stderr)))
		}
		return Relinked{}, err
	}
	now, _, err := w.Head(ctx)
	if err != nil {
		return Relinked{}, err
	}
	before, after := checkpoint.IDs(c.Message), checkpoint.IDs(now.Message)
	done := Relinked{Former: c, Commit: now}
	for _, id := range slices.Concat(before, after) {
		if slices.Contains(before, id) != slices.Contains(after, id) {
			done.IDs = append(done.IDs, id)
		}
	}
	if link == linkNone || len(done.IDs) > 0 {
		return done, nil
	}
	if len(after) > 0 { // the session was added to the checkpoint that the commit had
		done.IDs = after[len(after)-1:]
		stored, err := authorship.ReadCheckpoint(ctx, w, done.IDs[0])
		isAdded := func(s checkpoint.Stored) bool { return s.Meta.SessionID == link }
		if err != nil || slices.ContainsFunc(stored.Sessions, isAdded) {
			return done, err
		}
	}
	return done, ErrNotAdded
}
