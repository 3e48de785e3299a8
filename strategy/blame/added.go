package blame

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
)

// AddedFile is a file of a commit, with lines that the commit adds.
type AddedFile struct {
	Commit git.OID
	Path   string
	// Lines need Text and Orig, the line's number in the commit's file.
	Lines []Line
}

// Attribute finds the authors of lines that commits add, and sets the Author of each. The results
// are those of File for lines of these commits.
func (r Reader) Attribute(ctx context.Context, files []AddedFile) error {
	at := newAttributing(r, map[git.OID]git.Commit{})
	groups := make([]*group, 0, len(files))
	for i := range files {
		f := &files[i]
		g := &group{groupKey: groupKey{f.Commit, f.Path}}
		for n := range f.Lines {
			l := &f.Lines[n]
			l.Commit, l.Path = f.Commit, f.Path
			g.lines = append(g.lines, l)
		}
		groups = append(groups, g)
	}
	return at.attribute(ctx, groups)
}

// AddedLines returns the lines that a patch adds, with their numbers and without authors.
func AddedLines(p git.Patch) (lines []Line) {
	for i, h := range p.Hunks {
		n := h.New
		for _, text := range p.Texts[i] {
			switch text[:min(1, len(text))] {
			case "+":
				lines = append(lines, Line{Number: n, Orig: n, Text: strings.TrimSuffix(text[1:], "\r")})
				n++
			case "-":
			default:
				n++
			}
		}
	}
	return lines
}

// Share counts the lines that a commit adds, by their authors.
type Share struct{ Agent, Person, Unknown int }

// Count adds a line of a file. Lines of the files that enabling writes count only for agents.
func (s *Share) Count(path string, a *Author) {
	switch {
	case agent.IsOwnFile(path) && (a == nil || a.Kind != Agent):
	case a == nil, a.Kind == Unknown:
		s.Unknown++
	case a.Kind == Agent:
		s.Agent++
	default:
		s.Person++
	}
}

// Total returns the number of lines.
func (s *Share) Total() int { return s.Agent + s.Person + s.Unknown }

// Share counts the lines that a commit adds. It reads at most maxPatch bytes of the commit's diff.
func (r Reader) Share(ctx context.Context, commit git.OID) (s Share, err error) {
	files, err := r.added(ctx, commit)
	for _, f := range files {
		for i := range f.Lines {
			s.Count(f.Path, f.Lines[i].Author)
		}
	}
	return s, err
}

// added returns the lines that a commit adds, with their authors.
func (r Reader) added(ctx context.Context, commit git.OID) (files []AddedFile, err error) {
	err = git.Patches(ctx, r.Repo, []git.OID{commit}, maxPatch, func(_ git.OID, patches []git.Patch) error {
		for _, p := range patches {
			files = append(files, AddedFile{Commit: commit, Path: p.Path, Lines: AddedLines(p)})
		}
		return nil
	})
	if err == nil {
		err = r.Attribute(ctx, files)
	}
	return files, err
}

// mostAdded returns an author for a commit: it selects the session that added most lines, then its
// author of most lines, and the file with most of these; of several the first. It returns false if
// no line is an agent's. It reads at most maxPatch bytes of the commit's diff.
func (r Reader) mostAdded(ctx context.Context, commit git.OID) (a Author, file string, found bool, err error) {
	files, err := r.added(ctx, commit)
	if err != nil {
		return a, "", false, err
	}
	type place struct {
		author Author
		path   string
	}
	var places []place // one for each line, in order
	bySession, byAuthor, byPlace := map[string]int{}, map[Author]int{}, map[place]int{}
	for _, f := range files {
		for _, l := range f.Lines {
			if l.Author.Kind == Agent {
				at := place{*l.Author, f.Path}
				places = append(places, at)
				bySession[at.author.Session]++
				byAuthor[at.author]++
				byPlace[at]++
			}
		}
	}
	if len(places) == 0 {
		return a, "", false, nil
	}
	most := slices.MaxFunc(places, func(p, q place) int {
		return cmp.Or(
			cmp.Compare(bySession[p.author.Session], bySession[q.author.Session]),
			cmp.Compare(byAuthor[p.author], byAuthor[q.author]),
			cmp.Compare(byPlace[p], byPlace[q]),
		)
	})
	return most.author, most.path, true, nil
}
