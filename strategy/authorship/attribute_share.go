package authorship

import (
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// shares holds the sessions of a commit and their shares of its files.
type shares struct {
	sessions []Slot
	decided  []tracking.Share
	changes  tracking.CommitChanges
	before   map[string]string // other names that files had before the commit
}

// creates reports whether the commit creates the file.
func (sh *shares) creates(path string) bool {
	c, ok := sh.changes[path]
	return ok && c.OldMode == 0
}

// sharer returns the author of a change to a file. In a file that the commit creates, a session
// counts as a person unless the file is its share: attribution follows the link, also under the
// previous name of the file.
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

// namesOf returns the name of a file of the commit, preceded by its name before the commit if that
// differs.
func (sh *shares) namesOf(path string) []string {
	if before := sh.before[path]; before != "" {
		return []string{before, path}
	}
	return []string{path}
}

// decidedSharer returns the session that has a file as its share if by is a person and the commit
// creates the file, and by otherwise.
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

// attributeShared attributes a file. A session loses a file that a replaced commit created if too
// few of its lines are left for a share. If a session's share has no line as the session left it, a
// pre-commit hook rewrote the file, and all of it is the session's.
func (sh *shares) attributeShared(path string, file attribution.File) attribution.Lines {
	if !sh.creates(path) {
		return file.Attribute()
	}
	isDecided := func(id string) bool {
		return slices.ContainsFunc(sh.decided, func(s tracking.Share) bool { return s.Session == id && workspace.ContainsPath(s.Files, path) })
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
