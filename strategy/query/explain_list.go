package query

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// MaxListed is the maximum number of points in a list.
const MaxListed = 100

// CheckpointList holds the checkpoints of a branch.
type CheckpointList struct {
	Branch string // empty on a detached HEAD, or if Everywhere
	// Everywhere reports that the checkpoints of all branches are listed.
	Everywhere bool
	// Points has the temporary ones first, then those of commits, newest first.
	Points []ExplainPoint
	// MissingRecords are checkpoints that commits name and that are not stored in this repository or can't
	// be read.
	Missing []checkpoint.ID
	// More reports that there are more than MaxPoints, Shallow that the clone has only the
	// newest commits.
	More, Shallow bool

	count int // number of points that were read
}

// ExplainPoint is a checkpoint in a list.
type ExplainPoint struct {
	// ID is defined as in Detail.
	ID              string
	Temporary, Task bool
	Sessions        []string
	// Author is as in Detail, but only that of a point of a commit is read.
	Author git.Signature
	// Agent and Model are the main session's, empty if they aren't known.
	Agent, Model string
	// Prompt describes the main session: the intent of the stored summary, or a request.
	Prompt string
	// Absent reports that contents of it are not in this clone.
	Absent bool
	Date   time.Time
	Files  []string
	// Tokens is the total of all sessions' tokens for it, nil if it isn't known.
	Tokens *checkpoint.Tokens
	// Attribution records who wrote the commit's lines. It is nil if that isn't known or another
	// program computed it.
	Attribution *checkpoint.Attribution
	// Commits are the commits with its id; for a temporary point the shadow commit.
	Commits []git.Commit
}

// CheckpointFilter limits a list to a session, whose id may be abbreviated, to the main sessions of an agent,
// by a part of its label, and to a file, or the files of a folder. The path is relative to the root
// of the worktree, with slashes. Empty fields match everything.
type CheckpointFilter struct{ Session, Agent, Path string }

func (f CheckpointFilter) matches(p ExplainPoint) bool {
	ofSession := func(id string) bool { return strings.HasPrefix(id, f.Session) }
	inPath := func(file string) bool { return file == f.Path || strings.HasPrefix(file, f.Path+"/") }
	ofAgent := strings.Contains(strings.ToLower(p.Agent), strings.ToLower(f.Agent))
	return ofAgent && (f.Session == "" || slices.ContainsFunc(p.Sessions, ofSession)) && (f.Path == "" || slices.ContainsFunc(p.Files, inPath))
}

// List lists the checkpoints of the current branch that the filter matches.
func (r CheckpointReader) List(ctx context.Context, filter CheckpointFilter) (CheckpointList, error) {
	l, points, err := r.Open(ctx, filter)
	if err != nil {
		return CheckpointList{}, err
	}
	for p, err := range points {
		if err != nil {
			return CheckpointList{}, err
		}
		l.Points = append(l.Points, p)
	}
	return *l, nil
}

// Open is like List, but the points are read one by one: Missing and More are set after the last
// one, and Points stays empty.
func (r CheckpointReader) Open(ctx context.Context, filter CheckpointFilter) (*CheckpointList, iter.Seq2[ExplainPoint, error], error) {
	branch, err := git.HeadBranch(ctx, r.Repo)
	if err != nil {
		return nil, nil, err
	}
	commits, err := commitFinder{r.Repo}.branchCommits(ctx, branch)
	if err != nil {
		return nil, nil, err
	}
	temporary, err := shadowReader{r.Repo}.temporaryPoints(ctx)
	if err != nil {
		return nil, nil, err
	}
	l := &CheckpointList{Branch: branch, Shallow: git.IsShallow(r.Repo)}
	return l, func(yield func(ExplainPoint, error) bool) {
		for _, p := range temporary {
			if !filter.matches(p) || l.count == MaxListed {
				continue
			}
			if l.count++; !yield(p, nil) {
				return
			}
		}
		for p, err := range r.committed(ctx, l, commits, filter) {
			if !yield(p, err) {
				return
			}
		}
	}, nil
}

// OfSession lists the newest checkpoints of a session, regardless of the branches of their commits.
// ids are the session's checkpoints.
func (r CheckpointReader) OfSession(ctx context.Context, ids []checkpoint.ID) (CheckpointList, error) {
	l := CheckpointList{Everywhere: true, Shallow: git.IsShallow(r.Repo), More: len(ids) > MaxListed}
	ids = ids[:min(len(ids), MaxListed)]
	var commits []git.Commit
	if len(ids) > 0 {
		var err error
		if commits, err = checkpoint.LinkedCommits(ctx, r.Repo, ids, append(checkpoint.UserRefs(), "--")...); err != nil {
			return CheckpointList{}, err
		}
	}
	book, err := r.openRecord(ctx)
	if err != nil {
		return CheckpointList{}, err
	}
	_, of := idsOf(commits)
	for _, id := range ids {
		c, err := book.Read(ctx, id)
		switch {
		case ctx.Err() != nil:
			return CheckpointList{}, ctx.Err()
		case err != nil: // one that can't be read doesn't hide the others
			l.Missing = append(l.Missing, id)
		default:
			l.Points = append(l.Points, r.point(ctx, c, of[id]))
		}
	}
	return l, nil
}

// committed reads the checkpoints that the commits name and the filter matches, one by one.
func (r CheckpointReader) committed(ctx context.Context, l *CheckpointList, commits []git.Commit, filter CheckpointFilter) iter.Seq2[ExplainPoint, error] {
	return func(yield func(ExplainPoint, error) bool) {
		book, err := r.openRecord(ctx)
		if err != nil {
			yield(ExplainPoint{}, err)
			return
		}
		ids, of := idsOf(commits)
		for _, id := range ids {
			if l.count == MaxListed {
				l.More = true
				return
			}
			c, err := book.Read(ctx, id)
			if ctx.Err() != nil {
				yield(ExplainPoint{}, ctx.Err())
				return
			}
			if err != nil { // one that can't be read doesn't hide the others
				l.Missing = append(l.Missing, id)
				continue
			}
			p := r.point(ctx, c, of[id])
			if !filter.matches(p) {
				continue
			}
			if l.count++; !yield(p, nil) {
				return
			}
		}
	}
}

// idsOf returns the checkpoints that commits name, in order, and the commits that name each of
// them.
func idsOf(commits []git.Commit) ([]checkpoint.ID, map[checkpoint.ID][]git.Commit) {
	var ids []checkpoint.ID
	of := map[checkpoint.ID][]git.Commit{}
	for _, c := range commits {
		for _, id := range checkpoint.IDsOf(c) {
			if of[id] == nil {
				ids = append(ids, id)
			}
			of[id] = append(of[id], c)
		}
	}
	return ids, of
}

func (r CheckpointReader) point(ctx context.Context, c checkpoint.Checkpoint, commits []git.Commit) ExplainPoint {
	p := ExplainPoint{ID: string(c.ID), Commits: commits, Files: c.Summary.FilesTouched, Tokens: c.Summary.TokenUsage, Absent: c.Absent}
	if len(commits) > 0 {
		p.Date = commits[0].Committer.When
	}
	for _, s := range c.Sessions {
		p.Absent = p.Absent || s.Absent
		if s.Meta.SessionID != "" {
			p.Sessions = append(p.Sessions, s.Meta.SessionID)
		}
		p.Task = p.Task || s.Meta.IsTask
	}
	main, ok := c.Main()
	if !ok {
		return p
	}
	sr, t := sessionReader{r.Repo}, CheckpointSession{Agent: main.Meta.Agent}
	if !transcript.IsAgentName(t.Agent) {
		if stored, err := checkpoint.UnhashedTranscript(ctx, r.Repo, main.Dir); err == nil {
			_ = sr.recognize(ctx, &t, stored) // if it can't be read the name remains as recorded
		}
	}
	p.Agent, p.Model = t.Agent, main.Meta.Model
	if summary := checkpoint.ParseSummary(main.Meta.Summary); summary != nil {
		p.Prompt = summary.Intent
	}
	if p.Prompt = cmp.Or(p.Prompt, main.Meta.Title); p.Prompt == "" {
		p.Prompt = sr.pointTitle(ctx, c.Sessions)
	}
	if a, known := checkpoint.ParseAttribution(main.Meta.Attribution); known && isOurs(main.Meta) {
		p.Attribution = &a
	}
	if !main.Meta.CreatedAt.IsZero() {
		p.Date = main.Meta.CreatedAt
	}
	return p
}
