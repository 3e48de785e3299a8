package blame

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// Basis is why lines have an author, or none that is recorded. It is empty for lines whose author a
// record has. Its values are stable; Text returns the words.
type Basis string

// The bases of a person's lines in commits without a checkpoint.
const (
	// Seen: a git hook saw the commit when it was made, and no session had a share in it.
	Seen Basis = "seen"
	// BeforeRecording: the commit is older than the first record.
	BeforeRecording Basis = "before-recording"
)

// FromContent is the basis of derived lines of a commit that names no checkpoint, but has lines of it.
const FromContent Basis = "content"

// The reasons why the author of lines is not recorded.
const (
	// NoSession: the repository has no record at all.
	NoSession Basis = "no-session"
	// NotFetched: the clone lacks checkpoints that a remote may have.
	NotFetched Basis = "not-fetched"
	// NotSeen: no git hook of this clone saw the commit when it was made.
	NotSeen Basis = "not-seen"
	// OnServer: a server made the commit, so no hook saw it.
	OnServer Basis = "on-server"
	// Declined: the commit's message declines a link.
	Declined Basis = "declined"
	// Merge: the commit merges others, and is asked for as a whole.
	Merge Basis = "merge"
	// Cut: a shallow clone lacks the commit's parents.
	Cut Basis = "cut"
	// NoRecord: the checkpoints that the commit names are not in this clone.
	NoRecord Basis = "no-record"
	// NotListed: the record of the commit's checkpoint doesn't have the line.
	NotListed Basis = "not-listed"
	// Unsure: the record has the line, but not who wrote it.
	Unsure Basis = "unsure"
)

// NotRecorded is the name of an author who isn't recorded.
const NotRecorded = "not recorded"

// Text returns the reason in words, which follow "not recorded: " or the name of a person.
func (b Basis) Text() string {
	switch b {
	case Seen:
		return "no session contributed to the commit"
	case BeforeRecording:
		return "made before recording began"
	case FromContent:
		return "the commit names no checkpoint, but its lines match this one"
	case NoSession:
		return "no session is recorded in this repository"
	case NotFetched:
		return "the remote's checkpoints are not in this clone: run `entire fetch`"
	case NotSeen:
		return "the commit was made in another clone or without git hooks, and was not found in the checkpoints"
	case OnServer:
		return "the commit was made on a server, without git hooks, and was not found in the checkpoints"
	case Declined:
		return "the commit declines a link to a session"
	case Merge:
		return "the commit is a merge: `entire show` shows what it merged"
	case Cut:
		return "this clone is shallow, and the line may be older than the commit"
	case NoRecord:
		return "the checkpoint that the commit names is not in this clone"
	case NotListed:
		return "the checkpoint of the commit doesn't have the line"
	case Unsure:
		return "the checkpoint has the line, but not who wrote it"
	}
	return ""
}

// undecided returns the groups of commits that name no checkpoint and aren't known to be a person's:
// their lines may be those of checkpoints.
func (at *attributing) undecided(ctx context.Context, groups []*group) (list []*group, err error) {
	for _, g := range groups {
		if len(g.ids) > 0 {
			continue
		}
		author, err := at.ofUnlinked(ctx, at.commits[g.commit], at.boundary[g.commit])
		if err != nil {
			return nil, err
		}
		if author.Kind == Unknown && author.Basis != Declined {
			list = append(list, g)
		}
	}
	return list, nil
}

// unlinked finds the authors of the lines of a commit that names no checkpoint. noted are the files of
// the commit's note, whose unsure lines have an unknown author.
func (at *attributing) unlinked(ctx context.Context, g *group, noted []source) error {
	author, err := at.ofUnlinked(ctx, at.commits[g.commit], at.boundary[g.commit])
	if err != nil {
		return err
	}
	for _, l := range g.lines {
		l.Author = at.author(author)
		if slices.ContainsFunc(noted, func(s source) bool { return s.file.unsure.Has(s.line(l.Orig)) }) {
			l.Author = at.author(Author{Kind: Unknown, Commit: g.commit, Basis: Unsure})
		}
	}
	return nil
}

// Unlinked returns the author of the lines of a commit that names no checkpoint: a person, if the
// record shows that, else an unknown one. It doesn't compare the lines with those of checkpoints.
func (r Reader) Unlinked(ctx context.Context, commit git.Commit) (Author, error) {
	return r.withUnlinked().ofUnlinked(ctx, commit, r.IsCut(commit.OID))
}

// ofUnlinked is Unlinked; isCut reports whether a shallow clone lacks the commit's parents.
func (r Reader) ofUnlinked(ctx context.Context, commit git.Commit, isCut bool) (Author, error) {
	person := Author{Kind: Person, Commit: commit.OID, Name: commit.Author.Name}
	because := func(b Basis) (Author, error) { return Author{Kind: Unknown, Commit: commit.OID, Basis: b}, nil }
	switch {
	case isCut:
		return because(Cut)
	case checkpoint.IsDeclined(commit):
		return because(Declined)
	}
	if seen, err := r.known.IsSeen(commit.OID); err != nil || seen {
		person.Basis = Seen
		return person, err
	}
	if earlier, err := r.known.IsEarlier(ctx, commit); err != nil || earlier {
		person.Basis = BeforeRecording
		return person, err
	}
	recording, err := r.known.Recording(ctx)
	switch {
	case err != nil:
		return Author{}, err
	case recording.Unfetched, !recording.Fetched && recording.Remote:
		return because(NotFetched)
	case !recording.Recorded:
		return because(NoSession)
	case commit.Committer.Email == "noreply@github.com":
		return because(OnServer)
	}
	return because(NotSeen)
}

// withUnlinked returns the reader with what is read once for all commits without a checkpoint.
func (r Reader) withUnlinked() Reader {
	if r.known == nil {
		r.known = &tracking.Unlinked{Repo: r.Repo}
	}
	return r
}
