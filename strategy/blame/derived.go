package blame

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// derivedSource is a file of a record that a commit has lines of which doesn't name its checkpoint.
type derivedSource struct {
	source

	// letters are those of the lines found around a line of the commit's file, from 1: the evidence.
	letters map[int]int
	// isWritten reports that the lines are only known from the texts that edit tools wrote.
	isWritten bool
}

// findLinks sets the checkpoints of groups whose commits name none, as far as their lines are those of
// checkpoints.
func (at *attributing) findLinks(ctx context.Context, groups []*group) error {
	var commits []git.Commit
	for _, g := range groups {
		if !slices.ContainsFunc(commits, func(c git.Commit) bool { return c.OID == g.commit }) {
			commits = append(commits, at.commits[g.commit])
		}
	}
	if len(commits) == 0 {
		return nil
	}
	if at.Stages == nil {
		at.Stages = func(do func(query.Progress) error) error { return do(nil) }
	}
	var links map[git.OID][]query.DerivedLink
	err := at.Stages(func(progress query.Progress) (err error) {
		links, err = query.DerivedLinks(ctx, at.Workspace, query.LinkOptions{Index: at.Index, Progress: progress}, commits)
		return err
	})
	if err != nil {
		return err
	}
	for _, g := range groups {
		for _, link := range slices.Backward(links[g.commit]) {
			g.ids, g.isDerived = append(g.ids, link.Checkpoint), true
		}
	}
	return nil
}

// derivedGroup finds the authors of the lines of a commit's file in the records of checkpoints that the
// commit doesn't name.
func (at *attributing) derivedGroup(ctx context.Context, g *group) error {
	sources, err := at.derivedSources(ctx, g)
	if err != nil {
		return err
	}
	rest, err := at.ofUnlinked(ctx, at.commits[g.commit], at.boundary[g.commit])
	if err != nil {
		return err
	}
	for _, l := range g.lines {
		author, err := at.fromDerived(ctx, g, l, sources)
		if err != nil {
			return err
		}
		if author.Kind == Unknown && author.Basis == "" {
			author = rest
		}
		l.Author = at.author(author)
	}
	deriveBetween(g.lines)
	return nil
}

// fromDerived returns the author of a line from the source with most evidence. If sources of several
// sessions have as much, the author is unknown.
func (at *attributing) fromDerived(ctx context.Context, g *group, l *Line, sources []derivedSource) (Author, error) {
	none := Author{Kind: Unknown, Commit: g.commit}
	best, most, isTied := none, 0, false
	plain := make([]source, 0, len(sources))
	for _, s := range sources {
		plain = append(plain, s.source)
	}
	for _, s := range sources {
		evidence := s.letters[l.Orig]
		if evidence == 0 || evidence < most {
			continue
		}
		one := none
		if s.isWritten {
			var err error
			if one, err = at.derive(ctx, &group{groupKey: g.groupKey, ids: []checkpoint.ID{s.id}}, l, none); err != nil {
				return none, err
			}
		} else if !at.fromRecord(&one, s.source, l.Orig, plain) {
			continue
		}
		switch {
		case one.Kind == Unknown: // the record's commit may only have moved the line: an older record counts
			none.Basis = Unsure
		case evidence > most:
			best, most, isTied = one, evidence, false
			best.Derived, best.Basis = true, FromContent
		case one.Kind != best.Kind || one.Session != best.Session:
			isTied = true
		}
	}
	if isTied || most == 0 {
		return none, nil
	}
	return best, nil
}

// derivedSources returns the files of the records of a group's checkpoints of which the commit's file
// has lines, the newest checkpoint's first.
func (at *attributing) derivedSources(ctx context.Context, g *group) (found []derivedSource, err error) {
	p, known, err := at.patches.of(ctx, at.commits[g.commit], g)
	if err != nil || !known {
		return nil, err
	}
	if err := at.readContents(ctx, append(at.unprinted(g), p.was)); err != nil {
		return nil, err
	}
	had := map[uint32]bool{}
	query.AddPrints(had, at.blobs[p.was])
	for _, id := range g.ids {
		for i := range at.records[id].slots {
			s := &at.records[id].slots[i]
			for _, name := range slices.Sorted(maps.Keys(s.files)) {
				if one := at.derivedFile(ctx, g, p, had, recordFile{id: id, slot: s, path: name}); len(one.letters) > 0 {
					found = append(found, one)
				}
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if len(s.files) > 0 {
				continue
			}
			written, err := at.writtenFile(ctx, g, p, had, recordFile{id: id, slot: s, path: g.path})
			if err != nil {
				return nil, err
			}
			found = append(found, written...)
		}
	}
	return found, nil
}

// unprinted returns the blobs of the records of a group's checkpoints that have no fingerprints.
func (at *attributing) unprinted(g *group) (blobs []git.OID) {
	for _, id := range g.ids {
		for _, s := range at.records[id].slots {
			for _, f := range s.files {
				if f.Prints == "" && f.Blob != g.blob {
					blobs = append(blobs, f.Blob)
				}
			}
		}
	}
	return blobs
}

// writtenFile finds the lines that a session's edit tools wrote to a file in the commit's file.
func (at *attributing) writtenFile(ctx context.Context, g *group, p patch, had map[uint32]bool, from recordFile) (found []derivedSource, err error) {
	sessions, err := at.sessionsOf(ctx, from.id)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		if session.meta.SessionID == from.slot.meta.SessionID {
			one := derivedSource{source: source{id: from.id, slot: from.slot}, isWritten: true}
			one.follow(session.written.Lines(g.path), p, had, true)
			found = append(found, one)
		}
	}
	return found, nil
}

// recordFile is a file in the record of a session of a checkpoint.
type recordFile struct {
	id   checkpoint.ID
	slot *slot
	path string
}

// derivedFile finds the lines of a recorded file in the commit's file. had are the lines of the former
// file.
func (at *attributing) derivedFile(ctx context.Context, g *group, p patch, had map[uint32]bool, from recordFile) derivedSource {
	f := from.slot.files[from.path]
	one := derivedSource{source: source{id: from.id, slot: from.slot, file: f}}
	if f.Blob == g.blob {
		one.letters = map[int]int{}
		for _, l := range p.lines {
			one.letters[l.Number] = len(p.lines) + attribution.AllLetters
		}
		return one
	}
	was := at.recordedPrints(f)
	sameName := path.Base(from.path) == path.Base(g.path) || from.path == p.oldPath
	if from.path != g.path && from.path != p.oldPath && len(was) > 0 {
		had = query.WithCopied(ctx, at.Repo, had, at.commits[g.commit], from.path)
	}
	one.follow(was, p, had, sameName)
	return one
}

// follow sets the lines of the commit's file that are lines of a record.
func (s *derivedSource) follow(was []attribution.PrintedLine, p patch, had map[uint32]bool, sameName bool) {
	s.lines, s.letters = []int{}, map[int]int{}
	for i, l := range attribution.FollowPrints(was, p.lines, had, attribution.Evidence{SameName: sameName, Confirmed: true}) {
		if l.Number == 0 {
			continue
		}
		number := p.lines[i].Number
		for len(s.lines) < number {
			s.lines = append(s.lines, 0)
		}
		s.lines[number-1], s.letters[number] = l.Number, l.Letters
	}
}

// recordedPrints returns the lines of a recorded file that its commit added, as far as they are known.
func (at *attributing) recordedPrints(f file) []attribution.PrintedLine {
	if f.Prints != "" {
		return query.RecordedLines(f.added, f.Prints)
	}
	return query.LinesIn(at.blobs[f.Blob], f.added)
}
