// Package explain reads the record: which checkpoints a branch has, and what
// was asked, replied and done for each of them. It takes what any version of the
// tool wrote, and what anybody who can push to the metadata branch put there:
// ids are well formed, texts are whatever they are.
//
// It writes nothing.
package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/checkpoint/segments"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Reader reads the record of a repository, as seen from one of its worktrees.
type Reader struct{ Repo *git.Repo }

// NotFoundError means that nothing has the name.
type NotFoundError struct{ Kind, Name string }

// Error describes what was searched for.
func (e *NotFoundError) Error() string { return fmt.Sprintf("%s not found: %.80s", e.Kind, e.Name) }

// AmbiguousError means that a prefix fits more than one checkpoint.
type AmbiguousError struct {
	Prefix string
	Found  []string
}

// Error names the prefix and how much fits it.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is the beginning of %d checkpoints", e.Prefix, len(e.Found))
}

// Detail is a checkpoint in full.
type Detail struct {
	// ID is the checkpoint's, or the shadow commit's of a temporary one: a turn
	// that no commit has taken up.
	ID        string
	Temporary bool
	// Task reports whether it is a subagent's.
	Task bool
	// Forgotten reports that what it held was removed on purpose.
	Forgotten bool

	Strategy string
	Branch   string
	Created  time.Time
	// Author wrote the newest commit, or the checkpoint if there is none. It is
	// zero if that isn't known.
	Author git.Signature
	Files  []string
	// Tokens is what all sessions used for it, nil if that isn't known; those of
	// subagents are apart.
	Tokens *checkpoint.Tokens
	// Commits carry its id, the newest first.
	Commits  []git.Commit
	Sessions []Session
	// Edited is counted where another program computed the attribution of the commit;
	// nil where that can't be.
	Edited *EditedLines
	// Absent reports that its own metadata is not in this clone.
	Absent bool
}

// Session is a session's part in a checkpoint.
type Session struct {
	Session string
	// Agent is as it was recorded, or where it was not, the one whose form the
	// transcript has; empty if that is not known either.
	Agent string
	// Model is the one that the agent used last, empty if that isn't known.
	Model   string
	Created time.Time
	Files   []string
	Tokens  *checkpoint.Tokens
	// Intent and Outcome are the summary's, or else the first request of the part and
	// the last answer; empty if there is none.
	Intent, Outcome string
	Summary         *checkpoint.SessionSummary
	Attribution     *checkpoint.Attribution
	// Items are the messages and tool calls in this checkpoint's part of the
	// conversation, Lines what that is of the transcript.
	Items []transcript.Item
	Lines segments.Span
	// Subagents are the conversations of the subagents that Items start, by tool use.
	Subagents map[string][]transcript.Item

	// NothingNew reports that the session was stored again with nothing said since its
	// previous checkpoint.
	NothingNew bool
	// Recorder is the version of another program that computed Attribution, empty for
	// this one.
	Recorder string
	// Problem is why something of it is not shown, nil if all is. It wraps git.ErrMissing
	// for what is not in this clone.
	Problem error

	stored   segments.Transcript
	subagent bool // it is a subagent's own
	full     bool // [transcript.Conversation.Full]
}

// HasTranscript reports whether a transcript of the session is stored.
func (s *Session) HasTranscript() bool { return len(s.stored.Segments) > 0 }

// Scope is how much of the conversations a Detail has.
type Scope int

// The scopes.
const (
	Part  Scope = iota // the checkpoint's own part
	Whole              // all of each transcript
)

// Search is where the commits of a checkpoint are searched for.
type Search int

// The searches.
const (
	Branches Search = iota // local branches, and HEAD
	All                    // all refs, however old the commits are
)

// Options are those of a Detail.
type Options struct {
	Scope  Scope
	Search Search
	// Lines requests Points instead of many details of a commit.
	Lines bool
	// Subagents requests the conversations of subagents too.
	Subagents bool
}

// Lookup returns the id that Checkpoint would show, without reading more of it, and
// whether it is that of a shadow commit. The errors are those of Checkpoint.
func (r Reader) Lookup(ctx context.Context, prefix string) (id string, temporary bool, err error) {
	book, err := openRecord(ctx, r.Repo)
	if err != nil {
		return "", false, err
	}
	name := strings.ToLower(prefix)
	ids, err := book.find(ctx, name)
	switch {
	case err != nil:
		return "", false, err
	case len(ids) > 1:
		return "", false, ambiguous(prefix, ids)
	case len(ids) == 1:
		return string(ids[0]), false, nil
	}
	c, err := (shadowReader{r.Repo}).findShadow(ctx, name)
	return string(c.OID), err == nil, err
}

// Checkpoint reads the checkpoint whose id begins with prefix, or the shadow
// commit, if no checkpoint does. The error is a *NotFoundError or an
// *AmbiguousError if it names none or several.
func (r Reader) Checkpoint(ctx context.Context, prefix string, o Options) (Detail, error) {
	book, err := openRecord(ctx, r.Repo)
	if err != nil {
		return Detail{}, err
	}
	name := strings.ToLower(prefix)
	ids, err := book.find(ctx, name)
	switch {
	case err != nil:
		return Detail{}, err
	case len(ids) > 1:
		return Detail{}, ambiguous(prefix, ids)
	case len(ids) == 1:
		return r.detail(ctx, book, ids[0], o)
	}
	return shadowReader{r.Repo}.temporary(ctx, name, o)
}

// OfCommit is what a commit's message has of its checkpoints.
type OfCommit struct {
	Commit git.Commit
	// Checkpoints are those that it names, in its order, Missing those of them
	// that are not stored here.
	Checkpoints []Detail
	Missing     []checkpoint.ID
	// Points are the checkpoints instead, where a line each is requested: those that a
	// merge brings in, or those of a commit that names more than MostDetails.
	Points []Point
	Merge  bool
	// Cut reports that the commits which a merge brings in are not in this shallow clone.
	Cut bool
}

// MostDetails is how many checkpoints of a commit are shown in full.
const MostDetails = 5

// Commit reads the checkpoints of the commit that rev names.
func (r Reader) Commit(ctx context.Context, rev string, o Options) (OfCommit, error) {
	commit, err := r.Repo.Commit(ctx, rev)
	if err != nil {
		return OfCommit{}, errors.Join(&NotFoundError{Kind: "commit", Name: rev}, unlessMissing(err))
	}
	of := OfCommit{Commit: commit}
	ids := checkpoint.IDsOf(commit)
	if len(ids) == 0 && len(commit.Parents) < 2 {
		return of, nil
	}
	book, err := openRecord(ctx, r.Repo)
	if err != nil {
		return OfCommit{}, err
	}
	switch {
	case len(ids) == 0:
		of.Merge = true
		if _, err := r.Repo.Commit(ctx, string(commit.Parents[0])); err != nil {
			of.Cut = errors.Is(err, git.ErrMissing)
			return of, unlessMissing(err)
		}
		brought, err := gitlog.Commits(ctx, r.Repo, "--max-count="+strconv.Itoa(mostCommits), string(commit.OID), "^"+string(commit.Parents[0]), "--")
		if err != nil {
			return OfCommit{}, err
		}
		return of, r.addPoints(ctx, &of, brought)
	case o.Lines && len(ids) > MostDetails:
		return of, r.addPoints(ctx, &of, []git.Commit{commit})
	}
	for _, id := range ids {
		d, err := r.detail(ctx, book, id, o)
		if errors.Is(err, checkpoint.ErrNotFound) || errors.Is(err, git.ErrMissing) || len(ids) > 1 && errors.Is(err, git.ErrTooMuch) {
			of.Missing = append(of.Missing, id)
			continue
		}
		if err != nil {
			return OfCommit{}, err
		}
		if !slices.ContainsFunc(d.Commits, func(c git.Commit) bool { return c.OID == commit.OID }) {
			d.Commits = append(d.Commits, commit) // no local branch has it
			if d.Edited, err = (editCounter{repo: r.Repo}).count(ctx, &d); err != nil {
				return OfCommit{}, err
			}
		}
		of.Checkpoints = append(of.Checkpoints, d)
	}
	return of, nil
}

func (r Reader) addPoints(ctx context.Context, of *OfCommit, commits []git.Commit) error {
	var l List
	for p, err := range r.committed(ctx, &l, commits, Filter{}) {
		if err != nil {
			return err
		}
		of.Points = append(of.Points, p)
	}
	of.Missing = l.Missing
	return nil
}

// unlessMissing is err, or nil if it only means that there is no such object.
func unlessMissing(err error) error {
	if errors.Is(err, git.ErrMissing) {
		return nil
	}
	return err
}

func ambiguous[T ~string](prefix string, found []T) error {
	e := &AmbiguousError{Prefix: prefix}
	for _, f := range found {
		e.Found = append(e.Found, string(f))
	}
	return e
}
