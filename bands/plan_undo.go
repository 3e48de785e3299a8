package bands

import (
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// undoing limits a plan to what a restore changed and nobody changed since.
type undoing struct {
	changed *changedList
	// interrupted lets attributes differ, as they may have been half set, and
	// paths be missing.
	interrupted bool
	// begun reports whether a file holds the beginning of what an interrupted
	// restore was writing; nil if none was interrupted.
	begun func(path string, was *tree.Entry) bool
}

// takesBack reports whether the path is what the restore made of it, so that it
// may be made what it was before. Without an undo every path of the scope may.
func (p *planner) takesBack(path string, was *tree.Entry) bool {
	u := p.scope.undo
	if u == nil {
		return true
	}
	states := u.changed.at(path)
	if len(states) == 0 {
		return false
	}
	if u.interrupted && was == nil {
		return true // removed, and what replaces it not yet made
	}
	var parts func(band.Ref) ([]band.Part, error)
	if now, ok := p.now.(parter); ok {
		parts = now.Parts
	}
	is, ok := stateOf(path, was, parts)
	if !ok {
		return false
	}
	for i := range states {
		s := &states[i]
		if s.kind == is.kind && s.content == is.content && (s.attr == is.attr || u.interrupted || isDir(was)) {
			return true
		}
	}
	return u.begun != nil && was != nil && was.Kind == tree.File && u.begun(path, was)
}

// may reports whether the plan may change the path.
func (p *planner) may(path string, was *tree.Entry) bool {
	return p.scope.relate(path) == inside && p.takesBack(path, was)
}

// undoKeeps lists a path that an undo leaves: the restore that is taken back
// didn't change it, or it was changed since. Directories that come or go are
// decided by what is in them.
func (p *planner) undoKeeps(path string, was, want *tree.Entry, out *Plan) bool {
	wasDir, wantDir := isDir(was), isDir(want)
	if p.scope.undo == nil || wasDir && (wantDir || want == nil) || was == nil && wantDir || p.takesBack(path, was) {
		return false
	}
	p.keep(path, was, want, out)
	return true
}

// keep names a path that an undo leaves, unless its time is all that differs.
func (p *planner) keep(path string, was, want *tree.Entry, out *Plan) {
	switch {
	case was != nil && want != nil && was.Kind == want.Kind && p.sameContent(was, want) && sameButTime(&was.Attr, &want.Attr):
	case len(p.scope.undo.changed.at(path)) > 0:
		out.ChangedSince = append(out.ChangedSince, path)
	default:
		out.Untouched = append(out.Untouched, path)
	}
}

// keepsDirectory lists a directory whose attributes an undo leaves.
func (p *planner) keepsDirectory(path string, was, want *tree.Directory, out *Plan) bool {
	u := p.scope.undo
	if u == nil {
		return false
	}
	is := attrState(&tree.Entry{Kind: tree.Dir, Attr: was.Attr})
	for _, s := range u.changed.at(path) {
		if s.kind == tree.Dir && s.attr == is || u.interrupted {
			return false
		}
	}
	if !sameButTime(&was.Attr, &want.Attr) {
		p.keep(shownPath(path), &tree.Entry{Kind: tree.Dir, Attr: was.Attr}, &tree.Entry{Kind: tree.Dir, Attr: want.Attr}, out)
	}
	return true
}

// addUndo takes up the plan for a directory that is on one side only. If all in
// it stays since the restore didn't touch it, the directory is listed in its place.
func (p *planner) addUndo(path string, part, out *Plan) {
	if p.scope.undo != nil && part.steps.empty() {
		named := 0
		for _, list := range part.lists() {
			named += len(*list)
		}
		if named == len(part.Untouched) {
			part = &Plan{Untouched: []string{path}}
			if len(p.scope.undo.changed.at(path)) > 0 {
				part = &Plan{ChangedSince: []string{path}}
			}
		}
	}
	out.add(part)
}

// undoUnit lists the files of a database that an undo leaves: all of them, if
// one was changed since. It reports whether they stay.
func (p *planner) undoUnit(dir string, members []pair, out *Plan) bool {
	u := p.scope.undo
	if u == nil {
		return false
	}
	touched, since := false, false
	for _, m := range members {
		path := joinPath(dir, m.name)
		if p.same(m.was, m.want) || strings.HasSuffix(path, "-shm") {
			continue
		}
		mine := p.takesBack(path, m.was)
		touched = touched || len(u.changed.at(path)) > 0
		// An empty journal or log has nothing in it that could be lost.
		since = since || !mine && (m.was == nil || m.was.Size > 0 || m.want != nil)
	}
	if touched && !since {
		return false
	}
	for _, m := range members {
		if path := joinPath(dir, m.name); !p.same(m.was, m.want) {
			if touched {
				out.ChangedSince = append(out.ChangedSince, path)
			} else {
				p.keep(path, m.was, m.want, out)
			}
		}
	}
	return true
}
