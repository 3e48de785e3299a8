package blame

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

const (
	// mostFormatted is the maximum number of commits whose lines are compared with those of their
	// parents, mostBlamed of those in whose parents lines are blamed, for one file.
	mostFormatted = 60
	mostBlamed    = 15
	// mostRanges is the maximum number of ranges of lines for git.
	mostRanges = 500
	// largestFormatted is the maximum size of a file that is compared.
	largestFormatted = 4 << 20
)

// formattedFile is a version of a file in which lines may be only formatted, with the version before.
type formattedFile struct {
	lines    []*Line
	now, was git.OID // blobs; now is empty for the worktree's file
	commit   git.OID // that has now, empty for the worktree
	before   string  // the revision that has was
	path     string
	number   func(*Line) int // the number of a line in now, from 1
}

// followFormatted gives lines whose tokens the commit's parent has, too, the author whom they have
// there: those of persons that are in no record, and those whose author isn't known. Each commit
// that only formatted them is skipped. left is the number of commits in which lines may be blamed.
func (at *attributing) followFormatted(ctx context.Context, content []byte, f *File, groups []*group, left *int) error {
	var files []formattedFile
	worktree := formattedFile{before: "HEAD", path: f.Path, number: func(l *Line) int { return l.Number }}
	for _, g := range groups {
		one := formattedFile{now: g.blob, commit: g.commit, path: g.path, number: func(l *Line) int { return l.Orig }}
		c := at.commits[g.commit]
		for _, l := range g.lines {
			if l.Author.Kind == Unknown || l.Author.Kind == Person && (len(g.ids) == 0 || g.rest[l]) {
				one.lines = append(one.lines, l)
			}
		}
		switch {
		case g.commit == "":
			worktree.lines = slices.DeleteFunc(one.lines, func(l *Line) bool { return l.Author.Kind != Unknown })
		case len(one.lines) > 0 && len(c.Parents) == 1 && g.blob != "":
			one.before = string(c.Parents[0])
			files = append(files, one)
		}
	}
	slices.SortStableFunc(files, func(a, b formattedFile) int { return cmp.Compare(len(b.lines), len(a.lines)) })
	files = files[:min(len(files), mostFormatted)]
	if len(worktree.lines) > 0 {
		files = append([]formattedFile{worktree}, files...)
	}
	names := make([]string, 0, len(files))
	for _, one := range files {
		names = append(names, one.before+":"+one.path)
	}
	oids, err := git.ResolveNames(ctx, at.Repo, names)
	if err != nil {
		return err
	}
	wanted := make([]git.OID, 0, 2*len(files)) //nolint:mnd // two for each
	for i := range files {
		if files[i].was = oids[i]; files[i].was == "" {
			if err := at.renamed(ctx, &files[i]); err != nil {
				return err
			}
		}
		wanted = append(wanted, files[i].was, files[i].now)
	}
	if err := at.readContents(ctx, wanted); err != nil {
		return err
	}
	at.blobs[""] = nil
	for _, one := range files {
		was, now := at.blobs[one.was], at.blobs[one.now]
		if one.now == "" {
			now = content
		}
		if len(was) == 0 || max(len(was), len(now)) > largestFormatted || *left <= 0 {
			continue
		}
		if err := at.followFile(ctx, one, attribution.Origins(was, now), f, left); err != nil {
			return err
		}
	}
	return nil
}

// renamed sets the name and the version that a file of a commit had in the parent, if the commit
// renames it.
func (at *attributing) renamed(ctx context.Context, one *formattedFile) error {
	if one.commit == "" {
		return nil
	}
	changed, err := git.LineCounts(ctx, at.Repo, git.OID(one.before), one.commit)
	if err != nil {
		return ctx.Err() // objects may be missing
	}
	for i := range changed {
		if f := &changed[i]; f.Path == one.path && f.OldPath != "" {
			oids, err := git.ResolveNames(ctx, at.Repo, []string{one.before + ":" + f.OldPath})
			if err != nil {
				return err
			}
			one.path, one.was = f.OldPath, oids[0]
			break
		}
	}
	return nil
}

// followFile gives the lines of a file that have origins in the version before their authors.
func (at *attributing) followFile(ctx context.Context, one formattedFile, origins [][]attribution.Part, f *File, left *int) error {
	parts := func(l *Line) []attribution.Part {
		if n := one.number(l); n <= len(origins) {
			return origins[n-1]
		}
		return nil
	}
	var numbers []int
	for _, l := range one.lines {
		for _, p := range parts(l) {
			numbers = append(numbers, p.Line+1)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	slices.Sort(numbers)
	var ranges []string
	for first, i := 0, 0; i < len(numbers); i++ {
		if i+1 == len(numbers) || numbers[i+1] > numbers[i]+1 {
			ranges = append(ranges, strconv.Itoa(numbers[first])+","+strconv.Itoa(numbers[i]))
			first = i + 1
		}
	}
	if len(ranges) > mostRanges {
		ranges = nil
	}
	*left--
	before, err := at.file(ctx, git.BlameRequest{Rev: one.before, Path: one.path, Ranges: ranges}, left)
	if err != nil {
		return ctx.Err() // the parent may be missing
	}
	found := make(map[int]*Line, len(before.Lines))
	for i := range before.Lines {
		found[before.Lines[i].Number] = &before.Lines[i]
	}
	for oid, c := range before.Commits {
		if known := f.Commits[oid]; known.OID == "" {
			f.Commits[oid] = c
		}
	}
	for _, l := range one.lines {
		if from, ok := majority(parts(l), found); ok {
			l.Commit, l.Path, l.Orig = from.Commit, from.Path, from.Orig
			l.Author = at.author(*from.Author)
		} else if len(parts(l)) > 0 && l.Author.Kind != Unknown {
			l.Author = at.author(Author{Kind: Unknown, Commit: l.Commit, Basis: Unsure})
		}
	}
	return nil
}

// majority returns the line with most of the tokens by the author who wrote more than half of them.
// It returns false if there is none.
func majority(parts []attribution.Part, found map[int]*Line) (*Line, bool) {
	type person struct{ session, subagent, name string }
	by := func(l *Line) person { return person{l.Author.Session, l.Author.Subagent, l.Author.Name} }
	all, most := 0, 0
	tokens := map[person]int{}
	for _, p := range parts {
		if l := found[p.Line+1]; l != nil && l.Author.Kind != Unknown {
			tokens[by(l)] += p.Tokens
		}
		all += p.Tokens
	}
	var best *Line
	for _, p := range parts {
		if l := found[p.Line+1]; l != nil && l.Author.Kind != Unknown && 2*tokens[by(l)] > all && p.Tokens > most { //nolint:mnd // more than half
			best, most = l, p.Tokens
		}
	}
	return best, best != nil
}
