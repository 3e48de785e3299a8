package blame

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

const (
	// mostPatches is the maximum number of commits whose diff is read, maxPatch the maximum size of
	// a diff.
	mostPatches = 100
	maxPatch    = 16 << 20
)

// source is a file's record in one slot. lines maps the lines of the commit's file to those of the
// record, from 1; it is nil if the numbers are equal.
type source struct {
	id    checkpoint.ID
	slot  *slot
	file  file
	lines []int
}

// line returns the record's number of a line of the commit's file, 0 if the record doesn't have it.
func (s source) line(number int) int {
	if s.lines == nil {
		return number
	}
	if number > len(s.lines) {
		return 0
	}
	return s.lines[number-1]
}

// group finds the authors of the lines of one file of a commit.
func (at *attributing) group(ctx context.Context, g *group) error {
	if g.isDerived && !g.isImported {
		return at.derivedGroup(ctx, g)
	}
	sources, all, err := at.sources(ctx, g)
	if err != nil {
		return err
	}
	// Unsure lines of the note apply as far as they can be followed to the committed content.
	var unsure []source
	for _, f := range g.unsure {
		lines, applies, err := at.apply(ctx, g, f)
		if err != nil {
			return err
		}
		if applies {
			unsure = append(unsure, source{file: f, lines: lines})
		}
	}
	if len(g.ids) == 0 {
		return at.unlinked(ctx, g, unsure)
	}
	isComplete, isRecorded := true, false
	for _, id := range g.ids {
		isComplete = isComplete && at.records[id].complete
		isRecorded = isRecorded || at.records[id].stored
	}
	followed := at.followed(ctx, g)
	for _, l := range g.lines {
		isUnsure := func(s source) bool { return s.file.unsure.Has(s.line(l.Orig)) }
		isOlder := func(s source) bool { // the recorded commit had the line from its parent
			line := s.line(l.Orig)
			return line > 0 && !s.file.added.Has(line) && !s.file.Estimated
		}
		author, found := at.fromRecords(g, l, sources)
		if !found && (!all || len(g.ids) > 1) {
			if author, found, err = followed(l); err != nil {
				return err
			}
		}
		switch {
		case found:
		case slices.ContainsFunc(unsure, isUnsure):
			author.Basis = Unsure
		case all && isComplete && (len(sources) == 0 || len(g.ids) > 1 || slices.ContainsFunc(sources, isOlder)):
			// No checkpoint lists the file; or the commit folds others, and the line is from one
			// that had no session.
			author = at.person(g.commit)
			if g.rest == nil {
				g.rest = map[*Line]bool{}
				at.rest = append(at.rest, g)
			}
			g.rest[l] = true
		case isRecorded:
			author.Basis = NotListed
			derived, err := at.derive(ctx, g, l, author)
			if err != nil {
				return err
			}
			author = derived
		default:
			author.Basis = NoRecord
		}
		author.Derived = author.Derived || g.isDerived && author.Imported
		l.Author = at.author(author)
	}
	if isRecorded {
		deriveBetween(g.lines)
	}
	return nil
}

// followed returns a function that finds the author of a line by the fingerprints of lines in all files
// of the records of a commit's checkpoints. It returns false if no record has the line. The fingerprints
// are read for the first line.
func (at *attributing) followed(ctx context.Context, g *group) func(l *Line) (Author, bool, error) {
	var sources []derivedSource
	isRead := false
	return func(l *Line) (author Author, found bool, err error) {
		none := Author{Kind: Unknown, Commit: g.commit}
		if !isRead {
			isRead = true
			if sources, err = at.derivedSources(ctx, g); err != nil {
				return none, false, err
			}
		}
		author, err = at.fromDerived(ctx, g, l, slices.DeleteFunc(slices.Clone(sources), func(s derivedSource) bool { return s.isWritten }))
		if err != nil || author.Kind == Unknown {
			return none, false, err
		}
		author.Derived, author.Basis = false, ""
		return author, true, nil
	}
}

// deriveBetween sets the authors of lines that are not derived from their text, such as blank ones:
// they belong to the session to which the added lines around them were derived.
func deriveBetween(lines []*Line) {
	isOpen := func(l *Line) bool { return l.Author.Kind == Unknown && !attribution.Significant([]byte(l.Text)) }
	for i := 0; i < len(lines); i++ {
		if !isOpen(lines[i]) {
			continue
		}
		end := i + 1
		for end < len(lines) && isOpen(lines[end]) && lines[end].Orig == lines[end-1].Orig+1 {
			end++
		}
		var around []*Author
		if i > 0 && lines[i-1].Orig == lines[i].Orig-1 {
			around = append(around, lines[i-1].Author)
		}
		if end < len(lines) && lines[end].Orig == lines[end-1].Orig+1 {
			around = append(around, lines[end].Author)
		}
		one := len(around) > 0
		for _, a := range around {
			one = one && a.Kind == Agent && a.Derived && a.Session == around[0].Session
		}
		for ; i < end; i++ {
			if one {
				lines[i].Author = around[0]
			}
		}
		i--
	}
}

// fromRecords returns the author of a line from the newest record that has the line. If that record
// has an unknown author, older records are used: the line may only have been moved. It returns
// false if no record has the line.
func (at *attributing) fromRecords(g *group, l *Line, sources []source) (author Author, found bool) {
	author = Author{Kind: Unknown, Commit: g.commit}
	for _, s := range sources {
		one := Author{Kind: Unknown, Commit: g.commit}
		if !at.fromRecord(&one, s, l.Orig, sources) {
			continue
		}
		if one.Kind != Unknown {
			return one, true
		}
		if !found {
			author, found = one, true
		}
	}
	return author, found
}

// fromRecord sets the author of a line from a record. It returns false if the record doesn't have
// the line.
func (at *attributing) fromRecord(author *Author, s source, number int, all []source) bool {
	line := s.line(number)
	if line == 0 || !s.file.added.Has(line) {
		return false
	}
	a := Author{Commit: author.Commit, Checkpoint: s.id}
	for _, other := range all { // the sessions of one checkpoint
		isUnsure := other.file.unsure.Has(other.line(number))
		if other.id != s.id || !isUnsure && !other.file.own.Has(other.line(number)) {
			continue
		}
		if other.file.Estimated || isUnsure {
			*author = Author{Kind: Unknown, Commit: author.Commit, Checkpoint: s.id, Basis: Unsure}
			return true
		}
		*author = other.slot.writer(other.file, other.line(number), a)
		return true
	}
	if s.file.Estimated || s.slot.meta.IsImported() { // an import knows no line to be a person's
		*author = Author{Kind: Unknown, Commit: author.Commit, Checkpoint: s.id, Basis: Unsure}
		return true
	}
	*author = at.person(author.Commit)
	return true
}

// sources returns the records of a commit's file that apply to it exactly, those of the newest
// checkpoint first, and whether all records that list the file apply.
func (at *attributing) sources(ctx context.Context, g *group) (found []source, all bool, err error) {
	all = true
	for _, id := range g.ids {
		rec := at.records[id]
		for i := range rec.slots {
			s := &rec.slots[i]
			f, ok := s.bound(g.path, g.blob)
			if !ok {
				continue
			}
			lines, applies, err := at.apply(ctx, g, f)
			if err != nil {
				return nil, false, err
			}
			if all = all && applies; applies {
				found = append(found, source{id: id, slot: s, file: f, lines: lines})
			}
		}
	}
	return found, all, nil
}

// apply maps the lines of the commit's file to those of a record.
func (at *attributing) apply(ctx context.Context, g *group, f file) (lines []int, applies bool, err error) {
	if g.blob != "" && f.Blob == g.blob {
		return nil, true, nil
	}
	was, isA := at.blobs[f.Blob]
	now, isB := at.blobs[g.blob]
	if !isA || !isB {
		return at.byPatch(ctx, g, f)
	}
	key := [2]git.OID{f.Blob, g.blob}
	if lines, known := at.follows[key]; known {
		return lines, true, nil
	}
	lines = attribution.Follow(was, now)
	for i := range lines {
		lines[i]++
	}
	if at.follows == nil {
		at.follows = map[[2]git.OID][]int{}
	}
	at.follows[key] = lines
	return lines, true, nil
}

// readContents reads the blobs that exist in this repository and weren't read before.
func (at *attributing) readContents(ctx context.Context, wanted []git.OID) error {
	if at.blobs == nil {
		at.blobs = map[git.OID][]byte{}
	}
	slices.Sort(wanted)
	wanted = slices.DeleteFunc(slices.Compact(wanted), func(oid git.OID) bool {
		_, known := at.blobs[oid]
		return known || !at.Repo.Format.Valid(oid)
	})
	return at.Repo.ReadMany(ctx, wanted, func(o git.Object) error {
		if o.Type == "blob" {
			at.blobs[o.OID] = o.Data
		}
		return nil
	})
}

// byPatch maps the lines of a record whose blob is missing, if the commit adds the same lines as
// the commit of the record.
func (at *attributing) byPatch(ctx context.Context, g *group, f file) (lines []int, applies bool, err error) {
	if f.Patch == "" {
		return nil, false, nil
	}
	p, ok, err := at.patches.of(ctx, at.commits[g.commit], g)
	if err != nil || !ok || p.id != f.Patch {
		return nil, false, err
	}
	for _, r := range p.added {
		for line := r.First; line <= r.Last; line++ {
			place, _ := p.added.Place(line)
			was, found := f.added.At(place)
			if !found {
				return nil, false, nil
			}
			for len(lines) < line {
				lines = append(lines, 0)
			}
			lines[line-1] = was
		}
	}
	return lines, true, nil
}
