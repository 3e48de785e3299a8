package blame

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// Reason describes what led to the lines or the commit of a question.
type Reason struct {
	File *File // nil for a commit
	// Lines are the lines of the author of Story.
	Lines []Line
	// Commit is the commit of the lines, or the commit of the question. It is empty for lines that
	// aren't committed.
	Commit git.Commit
	Story  Story
	// Others is the number of other authors of the question's lines.
	Others int
}

// Errors of questions without lines.
var (
	ErrEmpty  = errors.New("empty file")
	ErrNoText = errors.New("no line and no commit contains this text")
)

// WhyLines finds what led to the lines of a file that belong to the author of most of them, of
// several the first. The error is ErrEmpty if there are no lines.
func (r Reader) WhyLines(ctx context.Context, q git.BlameRequest) (Reason, error) {
	f, err := r.File(ctx, q)
	if err != nil {
		return Reason{}, err
	}
	if len(f.Lines) == 0 {
		return Reason{}, ErrEmpty
	}
	return r.why(ctx, &f)
}

func (r Reader) why(ctx context.Context, f *File) (found Reason, err error) {
	counts, most := map[*Author]int{}, f.Lines[0].Author
	for _, l := range f.Lines {
		counts[l.Author]++
	}
	for _, l := range f.Lines {
		if counts[l.Author] > counts[most] {
			most = l.Author
		}
	}
	found = Reason{File: f, Others: len(counts) - 1, Commit: f.Commits[most.Commit]}
	name := f.Path
	for _, l := range f.Lines {
		if l.Author == most {
			found.Lines = append(found.Lines, l)
			name = l.Path
		}
	}
	found.Story, err = r.Story(ctx, *most, name)
	return found, err
}

// WhyCommit finds what led to a commit.
func (r Reader) WhyCommit(ctx context.Context, commit git.Commit) (Reason, error) {
	author, file, known, err := r.OfCommit(ctx, commit)
	if err != nil {
		return Reason{}, err
	}
	switch {
	case known:
	case r.IsCut(commit.OID): // what it merges is not here
		author = Author{Kind: Unknown, Commit: commit.OID, Basis: Cut}
	case len(checkpoint.IDsOf(commit)) > 0: // what it names is not here
		author = Author{Kind: Unknown, Commit: commit.OID, Basis: NoRecord}
	case len(commit.Parents) > 1:
		author = Author{Kind: Unknown, Commit: commit.OID, Basis: Merge}
	default:
		if author, err = r.Unlinked(ctx, commit); err != nil {
			return Reason{}, err
		}
	}
	found := Reason{Commit: commit}
	found.Story, err = r.Story(ctx, author, file)
	return found, err
}

// mostHits is the maximum number of lines with a text that are examined.
const mostHits = 10

// WhyText finds what led to the newest line of the tracked files that contains a text, else to the
// newest commit that added or removed it. The error is ErrNoText if there is neither.
func (r Reader) WhyText(ctx context.Context, text string) (Reason, error) {
	r = r.withUnlinked()
	var newest *File
	if r.Repo.Root != "" {
		hits, err := git.BlameContaining(ctx, r.Repo, text, mostHits)
		if err != nil {
			return Reason{}, err
		}
		for _, hit := range hits {
			f, err := r.File(ctx, git.BlameRequest{Path: hit.Path, Ranges: []string{fmt.Sprintf("%d,%d", hit.Final, hit.Final)}})
			if err == nil && len(f.Lines) > 0 && (newest == nil || isNewer(&f, newest)) {
				newest = &f
			}
		}
	}
	if newest != nil {
		return r.why(ctx, newest)
	}
	oid, _, known, err := git.Pickaxe(ctx, r.Repo, text)
	if _, isExit := errors.AsType[*git.ExitError](err); isExit || err == nil && !known { // without a commit git fails
		return Reason{}, errors.Join(ErrNoText, ctx.Err())
	}
	if err != nil {
		return Reason{}, err
	}
	commit, err := r.Repo.Commit(ctx, string(oid))
	if err != nil {
		return Reason{}, err
	}
	return r.WhyCommit(ctx, commit)
}

// isNewer reports whether the first line of a is newer than that of b. Uncommitted lines are the
// newest.
func isNewer(a, b *File) bool {
	left, right := a.Lines[0].Commit, b.Lines[0].Commit
	if left == "" || right == "" {
		return left == "" && right != ""
	}
	return a.Commits[left].Committer.When.After(b.Commits[right].Committer.When)
}
