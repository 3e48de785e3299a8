package authorship

import (
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// shares are the sessions of a commit, and what of its files is whose.
type shares struct {
	sessions []Slot
	decided  []journal.Share
	changes  journal.Changes
	before   map[string]string // other names that files had before the commit
}

// creates reports whether the commit creates the file.
func (sh *shares) creates(path string) bool {
	c, ok := sh.changes[path]
	return ok && c.OldMode == 0
}

// sharer returns the author of a change to a file, a person for one of a
// session whose share the file is not: what a commit creates is attributed as it
// was linked, be it under the name that the file had before.
func (sh *shares) sharer(path string, by attribution.Author) attribution.Author {
	if by == attribution.Person || !sh.creates(path) {
		return by
	}
	for _, c := range sh.sessions {
		isOwn := func(name string) bool { return workspace.ContainsPath(c.Files, name) }
		if attribution.Author(c.State.ID) == by && slices.ContainsFunc(sh.namesOf(path), isOwn) {
			return by
		}
	}
	return attribution.Person
}

// namesOf returns the name of a file of the commit, and before it the one that it had before
// the commit, if that is another.
func (sh *shares) namesOf(path string) []string {
	if before := sh.before[path]; before != "" {
		return []string{before, path}
	}
	return []string{path}
}

// decidedSharer returns by, or if that is a person the session whose share a
// file that the commit creates was found to be.
func (sh *shares) decidedSharer(path string, by attribution.Author) attribution.Author {
	if by != attribution.Person || !sh.creates(path) {
		return by
	}
	for _, share := range sh.decided {
		if workspace.ContainsPath(share.Files, path) {
			return sh.sharer(path, attribution.Author(share.Session))
		}
	}
	return by
}

// attributeShared attributes a file. One that a replaced commit had created and
// of which a session has nothing worth a share any more is no longer that
// session's; one that was found to be a session's share, though none of its
// lines is left as it was, is what a pre-commit hook made of the session's.
func (sh *shares) attributeShared(path string, file attribution.File) attribution.Lines {
	if !sh.creates(path) {
		return file.Attribute()
	}
	isDecided := func(id string) bool {
		return slices.ContainsFunc(sh.decided, func(s journal.Share) bool { return s.Session == id && workspace.ContainsPath(s.Files, path) })
	}
	shares := file.Shares()
	for i, c := range sh.sessions {
		by := attribution.Author(c.State.ID)
		share, known := shares[by]
		if !known || share.Counts() || isDecided(c.State.ID) {
			continue
		}
		sh.sessions[i].Files = slices.DeleteFunc(slices.Clone(c.Files), func(p string) bool { return p == path })
		for n, s := range file.States {
			if s.By == by {
				file.States[n].By = attribution.Person
			}
			if s.Known != nil {
				maps.DeleteFunc(s.Known.Written, func(_ int, writer attribution.Author) bool { return writer == by })
			}
		}
	}
	lines := file.Attribute()
	if slices.ContainsFunc(lines.Added, func(l attribution.Line) bool { return l.By != attribution.Person }) {
		return lines
	}
	by := sh.decidedSharer(path, file.By)
	if share, known := file.Shares()[by]; known && share.Wrote == 0 {
		return lines // it only renamed the file
	}
	file.By = by
	return file.Attribute()
}
