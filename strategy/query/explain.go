package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// CheckpointReader reads the record of a repository, as seen from one of its worktrees.
type CheckpointReader struct {
	Repo *git.Repo
	// Index opens the index if it is up to date, and returns an error if it isn't. Without it, what is
	// recorded of sessions and authors is searched for on the branches of checkpoints.
	Index func(ctx context.Context) (*index.Reader, error)
	// Order is the order in which checkpoints are read from their sources.
	Order checkpoint.Order
}

// NotFoundError means that no object has the name.
type NotFoundError struct{ Kind, Name string }

// Error names the object that was not found.
func (e *NotFoundError) Error() string { return fmt.Sprintf("%s not found: %.80s", e.Kind, e.Name) }

// AmbiguousError means that a prefix matches more than one checkpoint.
type AmbiguousError struct {
	Prefix string
	Found  []string
}

// Error returns the prefix and the number of its matches.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is ambiguous: it matches %d checkpoints", e.Prefix, len(e.Found))
}

// Detail is a complete checkpoint.
type Detail struct {
	// ID is the checkpoint's id. For a temporary one, a turn that no commit has taken up, it is the
	// id of the shadow commit.
	ID        string
	Temporary bool
	// Task reports whether it is a subagent's.
	Task bool
	// Forgotten reports that its contents were removed on purpose.
	Forgotten bool

	Strategy string
	Branch   string
	Created  time.Time
	// Author is the person in whose clone it was recorded first, whoever made its commits. It is zero
	// if unknown.
	Author git.Signature
	Files  []string
	// Tokens is the total of all sessions' tokens for it, nil if it isn't known. Tokens of
	// subagents are separate.
	Tokens *checkpoint.Tokens
	// Commits are the commits with its id, newest first.
	Commits  []git.Commit
	Sessions []CheckpointSession
	// Unsearched is the reason why not all Commits are known, nil if they are.
	Unsearched error
	// Absent reports that its own metadata is not in this clone.
	Absent bool
}

// CheckpointSession is a session's part in a checkpoint.
type CheckpointSession struct {
	Session string
	// Agent is the recorded agent, or else the agent whose form the transcript has; empty if it is
	// unknown.
	Agent string
	// Model is the model that the agent used last, empty if it isn't known.
	Model   string
	Created time.Time
	Files   []string
	Tokens  *checkpoint.Tokens
	// Imported reports that the session was imported.
	Imported bool
	// Others are the names of the other repositories that the session changed.
	Others []string
	// Intent and Outcome are the summary's, or else the first request of the part and the last
	// answer; empty if there is none.
	Intent, Outcome string
	Summary         *checkpoint.SessionSummary
	Attribution     *checkpoint.Attribution
	// Items are the messages and tool calls in this checkpoint's part of the conversation, Lines is
	// the span of the part in the transcript.
	Items []transcript.Item
	Lines checkpoint.LineSpan
	// Subagents are the conversations of the subagents that Items start, by tool use.
	Subagents map[string][]transcript.Item

	// NothingNew reports that the session was stored again without anything new since its previous
	// checkpoint.
	NothingNew bool
	// Recorder is the version of another program that computed Attribution, empty for this one.
	Recorder string
	// Problem is the reason why a part of it is not shown, nil if all is. It wraps git.ErrMissing
	// for parts that are not in this clone.
	Problem error

	stored   checkpoint.StoredTranscript
	subagent bool // it is a subagent's own
	full     bool // [transcript.Conversation.Full]
}

// HasTranscript reports whether a transcript of the session is stored.
func (s *CheckpointSession) HasTranscript() bool { return len(s.stored.Segments) > 0 }

// Scope is the extent of the conversations in a Detail.
type Scope int

// The scopes.
const (
	Part  Scope = iota // the checkpoint's own part
	Whole              // all of each transcript
)

// Search selects the commits that are searched for a checkpoint's id.
type Search int

// The searches.
const (
	Branches Search = iota // local branches, and HEAD
	All                    // all refs, regardless of the commits' age
)

// ExplainOptions are the options of a Detail.
type ExplainOptions struct {
	Scope  Scope
	Search Search
	// MostDetails is the number of checkpoints of a commit above which Points are returned instead of
	// them, 0 for no limit.
	MostDetails int
	// Subagents requests the conversations of subagents, too.
	Subagents bool
	// Derive finds the checkpoints of a commit that names none; nil if they are not requested.
	Derive func(ctx context.Context, c git.Commit) ([]DerivedLink, error)
}

// Lookup returns the id that Checkpoint would show, and whether it is that of a shadow commit,
// without reading more of it. Its errors are those of Checkpoint.
func (r CheckpointReader) Lookup(ctx context.Context, prefix string) (id string, temporary bool, err error) {
	book, err := r.openRecord(ctx)
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

// Checkpoint reads the checkpoint whose id begins with prefix, or the shadow commit if there is no
// such checkpoint. The error is a *NotFoundError or an *AmbiguousError if the prefix matches none
// or several.
func (r CheckpointReader) Checkpoint(ctx context.Context, prefix string, o ExplainOptions) (Detail, error) {
	book, err := r.openRecord(ctx)
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

// OfCommit holds the checkpoints named by a commit, or derived from its lines.
type OfCommit struct {
	Commit git.Commit
	// Derived reports that the commit doesn't name the checkpoints: it has lines of them.
	Derived bool
	// Imported reports that an import linked it.
	Imported bool
	// Checkpoints are the checkpoints that it names, in its order. Missing are those that are not
	// stored in this repository, or can't be read.
	Checkpoints []Detail
	Missing     []checkpoint.ID
	// Points are returned instead of Checkpoints, where a line each is requested: the checkpoints
	// that a merge brings in, or those of a commit that names more than Options.MostDetails.
	Points []ExplainPoint
	Merge  bool
	// Cut reports that the commits which a merge brings in are not in this shallow clone.
	Cut bool
}

// Commit reads the checkpoints of the commit that rev names.
func (r CheckpointReader) Commit(ctx context.Context, rev string, o ExplainOptions) (OfCommit, error) {
	commit, err := r.Repo.Commit(ctx, rev)
	if err != nil {
		return OfCommit{}, errors.Join(&NotFoundError{Kind: "commit", Name: rev}, git.UnlessMissing(err))
	}
	isNoted := len(checkpoint.IDs(commit.Message)) == 0
	of := OfCommit{Commit: commit, Derived: isNoted && checkpoint.IsDerived(commit), Imported: isNoted && checkpoint.IsImported(commit)}
	ids := checkpoint.IDsOf(commit)
	if len(ids) == 0 && len(commit.Parents) < 2 && o.Derive != nil && !checkpoint.IsDeclined(commit) {
		links, err := o.Derive(ctx, commit)
		if err != nil {
			return OfCommit{}, err
		}
		for _, link := range links {
			ids, of.Derived = append(ids, link.Checkpoint), true
		}
		commit.Note += checkpoint.DerivedText(ids) // so that the commit is found by its ids below
	}
	if len(ids) == 0 && len(commit.Parents) < 2 {
		return of, nil
	}
	book, err := r.openRecord(ctx)
	if err != nil {
		return OfCommit{}, err
	}
	switch {
	case len(ids) == 0:
		of.Merge = true
		if _, err := r.Repo.Commit(ctx, string(commit.Parents[0])); err != nil {
			of.Cut = errors.Is(err, git.ErrMissing)
			return of, git.UnlessMissing(err)
		}
		brought, err := git.Commits(ctx, r.Repo, "--max-count="+strconv.Itoa(mostCommits), string(commit.OID), "^"+string(commit.Parents[0]), "--")
		if err != nil {
			return OfCommit{}, err
		}
		return of, r.addPoints(ctx, &of, brought)
	case o.MostDetails > 0 && len(ids) > o.MostDetails:
		if err := r.addPoints(ctx, &of, []git.Commit{commit}); err != nil || len(of.Points) != 1 {
			return of, err
		}
		of.Points, of.Missing = nil, nil // the only one that is stored here is shown in detail
	}
	for _, id := range ids {
		d, err := r.detail(ctx, book, id, o)
		if errors.Is(err, checkpoint.ErrNotFound) || errors.Is(err, git.ErrMissing) || err != nil && len(ids) > 1 && ctx.Err() == nil {
			of.Missing = append(of.Missing, id)
			continue
		}
		if err != nil {
			return OfCommit{}, err
		}
		if !slices.ContainsFunc(d.Commits, func(c git.Commit) bool { return c.OID == commit.OID }) {
			d.Commits = append(d.Commits, commit) // no local branch has it
		}
		of.Checkpoints = append(of.Checkpoints, d)
	}
	return of, nil
}

func (r CheckpointReader) addPoints(ctx context.Context, of *OfCommit, commits []git.Commit) error {
	var l CheckpointList
	for p, err := range r.committed(ctx, &l, commits, CheckpointFilter{}) {
		if err != nil {
			return err
		}
		of.Points = append(of.Points, p)
	}
	of.Missing = l.Missing
	ids := make([]checkpoint.ID, len(of.Points))
	for i, p := range of.Points {
		ids[i] = checkpoint.ID(p.ID)
	}
	authors, _ := r.authors(ctx, ids...) // the points are shown without them, too
	for i, id := range ids {
		of.Points[i].Author = authors[id]
	}
	return ctx.Err()
}

func ambiguous[T ~string](prefix string, found []T) error {
	e := &AmbiguousError{Prefix: prefix}
	for _, f := range found {
		e.Found = append(e.Found, string(f))
	}
	return e
}
