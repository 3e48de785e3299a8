// Package blame finds who wrote the lines of a file, and what led to them: git finds the commit of
// each line, and the records of its checkpoints have the authors. docs/formats/authorship.md
// defines the result.
//
// It writes nothing.
package blame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Reader reads the authors of lines in a worktree's repository.
type Reader struct {
	Repo *git.Repo
	// Workspace has the sessions whose lines aren't committed yet.
	Workspace *workspace.Workspace
	// Index is an index that the caller has open, nil if there is none: no other process, nor the Reader,
	// can write to an open one.
	Index *index.Reader
	// Stages calls do and shows the progress of it; nil if it isn't shown.
	Stages func(do func(query.Progress) error) error

	known *tracking.Unlinked
}

// Kind is the kind of an author.
type Kind string

// The kinds.
const (
	Agent   Kind = "agent"
	Person  Kind = "person"
	Unknown Kind = "unknown"
)

// Author describes the author of lines of one commit. Authors are compared by value.
type Author struct {
	Kind Kind
	// Commit is the commit that has the lines, empty if they aren't committed.
	Commit git.OID
	// Checkpoint has the record of the session. It is empty for a person, and for lines that aren't
	// committed.
	Checkpoint checkpoint.ID
	// Name is the name of a person, Agent that of an agent.
	Name, Agent string
	Session     string
	// Turn is the turn, as far as it is known, and Number its number in the session, from 1; 0 if
	// it isn't known.
	Turn   checkpoint.Turn
	Number int
	// Call is the tool use that wrote the lines; Subagent and Type describe the subagent.
	Call, Subagent, Type string
	// Derived reports that no record has the lines: their texts match those of an edit.
	Derived bool
	// Imported reports that the session was imported after the commit was made.
	Imported bool
	// Basis is why the author isn't recorded, or why the lines of a commit without a checkpoint are a
	// person's.
	Basis Basis
}

// Line is a line of a file.
type Line struct {
	// Number counts from 1. Text lacks the line's end.
	Number int
	Text   string
	// Commit added the line as line Orig of Path; it is empty if the line isn't committed.
	Commit git.OID
	Path   string
	Orig   int
	Author *Author
}

// File is a file with the authors of its lines.
type File struct {
	// Rev is empty for the file of the worktree.
	Rev, Path string
	Lines     []Line
	Commits   map[git.OID]git.Commit
}

// maxFile is the maximum size of a file whose lines are shown.
const maxFile = 64 << 20

// IsCut reports whether a shallow clone lacks the parents of a commit, so that lines that git assigns
// to it may be older.
func (r Reader) IsCut(commit git.OID) bool {
	boundary, err := git.ShallowBoundary(r.Repo)
	return err == nil && boundary[commit]
}

// LacksRecord reports whether a commit names checkpoints and this clone has the record of none of them.
func (r Reader) LacksRecord(ctx context.Context, commit git.Commit) bool {
	ids := checkpoint.IDsOf(commit)
	records, err := r.Workspace.Records(ctx)
	if err != nil || len(ids) == 0 {
		return false
	}
	for _, id := range ids {
		if c, err := records.Read(ctx, id); err == nil && !c.Absent {
			return false
		}
	}
	return true
}

// ErrBinary means that a file has no lines.
var ErrBinary = errors.New("binary file")

// File finds the authors of the lines of a file.
func (r Reader) File(ctx context.Context, q git.BlameRequest) (File, error) {
	left := mostBlamed
	return r.file(ctx, q, &left)
}

// file finds the authors of the lines of a file. left is the number of commits in whose parents it
// may blame lines.
func (r Reader) file(ctx context.Context, q git.BlameRequest, left *int) (File, error) {
	f := File{Rev: q.Rev, Path: q.Path, Commits: map[git.OID]git.Commit{}}
	content, err := r.content(ctx, q)
	if err != nil {
		return f, err
	}
	found, err := git.Blame(ctx, r.Repo, q)
	if err != nil {
		return f, err
	}
	texts := bytes.Split(content, []byte{'\n'})
	f.Lines = make([]Line, len(found))
	groups := map[groupKey]*group{}
	var order []*group
	for i, l := range found {
		f.Lines[i] = Line{Number: l.Final, Commit: l.Commit, Path: l.Path, Orig: l.Orig}
		if l.Final <= len(texts) {
			f.Lines[i].Text = string(bytes.TrimSuffix(texts[l.Final-1], []byte{'\r'}))
		}
		key := groupKey{l.Commit, l.Path}
		g := groups[key]
		if g == nil {
			g = &group{groupKey: key}
			groups[key], order = g, append(order, g)
		}
		g.lines = append(g.lines, &f.Lines[i])
	}
	a := newAttributing(r, f.Commits)
	if err := a.attribute(ctx, order); err != nil {
		return f, err
	}
	var own []*Line // lines that no commit has
	var added checkpoint.LineRanges
	for i := range f.Lines {
		if l := &f.Lines[i]; l.Commit == "" {
			own = append(own, l)
		}
	}
	if len(own) == 0 {
		return f, a.followFormatted(ctx, content, &f, order, left)
	}
	slices.SortFunc(own, func(a, b *Line) int { return a.Number - b.Number })
	for _, l := range own {
		added = added.With(l.Number)
	}
	by, err := authorship.Uncommitted(ctx, r.Workspace, authorship.WorktreeFile{Path: q.Path, Content: content, Added: added})
	if err != nil {
		return f, err
	}
	for _, l := range own {
		author := Author{Kind: Unknown, Basis: Unsure}
		if w, known := by[l.Number]; known && w.Session != "" {
			author = Author{
				Kind: Agent, Agent: w.Agent, Session: w.Session, Turn: w.Turn, Number: w.Number,
				Call: w.Writer.Call, Subagent: w.Writer.Subagent, Type: w.Writer.Type,
			}
		} else if known {
			author = Author{Kind: Person}
		}
		l.Author = a.author(author)
	}
	return f, a.followFormatted(ctx, content, &f, order, left)
}

// content reads the requested file.
func (r Reader) content(ctx context.Context, q git.BlameRequest) ([]byte, error) {
	var data []byte
	if q.Rev == "" {
		name := filepath.Join(r.Repo.Root, filepath.FromSlash(q.Path))
		info, err := os.Lstat(name) // a link may lead out of the worktree
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a file", q.Path)
		case info.Size() > maxFile:
			return nil, git.ErrTooMuch
		}
		if data, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	} else {
		object, err := r.Repo.ReadWithin(ctx, q.Rev+":"+q.Path, maxFile)
		if err != nil {
			return nil, err
		}
		data = object.Data
	}
	const sniffed = 8000 // as git does
	if bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0 {
		return nil, ErrBinary
	}
	return data, nil
}

// groupKey identifies a file of a commit.
type groupKey struct {
	commit git.OID
	path   string
}

// group holds the lines that come from one file of a commit.
type group struct {
	groupKey

	lines []*Line
	blob  git.OID // of the commit's file; empty if it isn't known
	// unsure holds the files whose unsure lines are listed in the commit's note.
	unsure []file
	ids    []checkpoint.ID
	// isDerived reports that the commit doesn't name ids: it has their lines. isImported reports that it
	// has records of its own nevertheless, which an import made.
	isDerived, isImported bool
	// rest holds the lines that are a person's because no record of the commit's checkpoints has them.
	rest map[*Line]bool
}

// attributing finds the authors of lines.
type attributing struct {
	Reader

	commits map[git.OID]git.Commit
	// boundary are the commits whose parents a shallow clone lacks.
	boundary map[git.OID]bool

	authors map[Author]*Author
	records map[checkpoint.ID]*record
	derived derivation
	blobs   map[git.OID][]byte
	follows map[[2]git.OID][]int
	patches patches
	rest    []*group // those with rest
}

func newAttributing(r Reader, commits map[git.OID]git.Commit) *attributing {
	return &attributing{Reader: r.withUnlinked(), commits: commits, authors: map[Author]*Author{}, patches: patches{repo: r.Repo}}
}

// author returns the unique Author that is equal to a.
func (at *attributing) author(a Author) *Author {
	known := at.authors[a]
	if known == nil {
		known = &a
		at.authors[a] = known
	}
	return known
}

// attribute finds the authors of committed lines.
func (at *attributing) attribute(ctx context.Context, groups []*group) error {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return g.commit == "" })
	var err error
	if at.boundary, err = git.ShallowBoundary(at.Repo); err != nil {
		return err
	}
	var oids []git.OID
	for _, g := range groups {
		if _, known := at.commits[g.commit]; !known {
			at.commits[g.commit] = git.Commit{}
			oids = append(oids, g.commit)
		}
	}
	err = at.Repo.ReadMany(ctx, oids, func(o git.Object) error {
		c, err := git.ParseCommit(o)
		if err == nil {
			at.commits[o.OID] = c
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, oid := range oids {
		c := at.commits[oid]
		if c.Note, err = at.Repo.Notes.Of(ctx, oid); err != nil {
			return err
		}
		at.commits[oid] = c
	}
	for _, g := range groups {
		g.ids = checkpoint.IDsOf(at.commits[g.commit])
		g.isDerived, g.isImported = checkpoint.IsDerived(at.commits[g.commit]), checkpoint.IsImported(at.commits[g.commit])
		slices.Reverse(g.ids)
		for _, u := range checkpoint.UnsureOf(at.commits[g.commit].Note) {
			if u.Path == g.path {
				f := file{FileAttribution: checkpoint.FileAttribution{Blob: u.Blob}, unsure: u.Lines}
				g.unsure = append(g.unsure, f)
			}
		}
	}
	undecided, err := at.undecided(ctx, groups)
	if err != nil {
		return err
	}
	if err := at.findLinks(ctx, undecided); err != nil {
		return err
	}
	if err := at.readRecords(ctx, groups); err != nil {
		return err
	}
	if err := at.readBlobs(ctx, groups); err != nil {
		return err
	}
	for _, g := range groups {
		if err := at.group(ctx, g); err != nil {
			return err
		}
	}
	return at.followMoves(ctx)
}

// readBlobs reads the contents needed to apply records of files that the commit has in another
// version than the record.
func (at *attributing) readBlobs(ctx context.Context, groups []*group) error {
	var wanted []git.OID
	for _, g := range groups {
		for _, id := range g.ids {
			for i := range at.records[id].slots {
				if f, ok := at.records[id].slots[i].bound(g.path, g.blob); ok && g.blob != "" && f.Blob != g.blob {
					wanted = append(wanted, f.Blob, g.blob)
				}
			}
		}
		for _, f := range g.unsure {
			if g.blob != "" && f.Blob != g.blob {
				wanted = append(wanted, f.Blob, g.blob)
			}
		}
	}
	return at.readContents(ctx, wanted)
}

// person returns the author of a commit with checkpoints as a person. Lines of a commit whose parents a shallow clone
// lacks may be older: their author is unknown.
func (at *attributing) person(commit git.OID) Author {
	if at.boundary[commit] {
		return Author{Kind: Unknown, Commit: commit, Basis: Cut}
	}
	return Author{Kind: Person, Commit: commit, Name: at.commits[commit].Author.Name}
}
