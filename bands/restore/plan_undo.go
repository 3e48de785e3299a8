package restore

import (
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
)

// undoScope limits a plan to changes of a restore that weren't changed again since.
type undoScope struct {
	Changed *ChangedList
	// Interrupted tolerates missing paths, and attributes that differ because they were set in
	// part.
	Interrupted bool
	// Begun reports whether a file holds the beginning of content that an interrupted restore was
	// writing; nil if none was interrupted.
	Begun func(path string, was *band.Entry) bool
}

// takesBack reports whether the path still has a state that the restore gave it, so that an undo
// may change it. Without an undo it returns true.
func (c *comparison) takesBack(path string, was *band.Entry) bool {
	u := c.Scope.Undo
	if u == nil {
		return true
	}
	states := u.Changed.at(path)
	if len(states) == 0 {
		return false
	}
	if u.Interrupted && was == nil {
		return true // removed, and its replacement not yet created
	}
	var parts func(band.Ref) ([]band.Part, error)
	if now, ok := c.Now.(parter); ok {
		parts = now.Parts
	}
	is, ok := stateOf(path, was, parts)
	if !ok {
		return false
	}
	for i := range states {
		s := &states[i]
		if s.kind == is.kind && s.content == is.content && (s.attr == is.attr || u.Interrupted || band.IsDir(was)) {
			return true
		}
	}
	return u.Begun != nil && was != nil && was.Kind == band.File && u.Begun(path, was)
}

// may reports whether the plan may change the path.
func (c *comparison) may(path string, was *band.Entry) bool {
	return c.Scope.Relate(path) == Inside && c.takesBack(path, was)
}

// keep lists a path that an undo leaves, unless it differs only in its time.
func (c *comparison) keep(path string, was, want *band.Entry, out *Plan) {
	switch {
	case was != nil && want != nil && was.Kind == want.Kind && c.sameContent(was, want) && sameButTime(&was.Attr, &want.Attr):
	case len(c.Scope.Undo.Changed.at(path)) > 0:
		out.ChangedSince = append(out.ChangedSince, path)
	default:
		out.Untouched = append(out.Untouched, path)
	}
}

// keepsDirectory reports whether an undo leaves a directory's attributes, and lists it.
func (c *comparison) keepsDirectory(path string, was, want *band.Directory, out *Plan) bool {
	u := c.Scope.Undo
	if u == nil {
		return false
	}
	is := attrState(&band.Entry{Kind: band.Dir, Attr: was.Attr})
	for _, s := range u.Changed.at(path) {
		if s.kind == band.Dir && s.attr == is || u.Interrupted {
			return false
		}
	}
	if !sameButTime(&was.Attr, &want.Attr) {
		c.keep(band.ShownPath(path), &band.Entry{Kind: band.Dir, Attr: was.Attr}, &band.Entry{Kind: band.Dir, Attr: want.Attr}, out)
	}
	return true
}

// addUndo adds the plan for a directory that is only on one side. If the restore touched nothing
// in it, the directory is listed instead of its contents.
func (c *comparison) addUndo(path string, part, out *Plan) {
	if c.Scope.Undo != nil && part.Root.empty() {
		named := 0
		for _, list := range part.lists() {
			named += len(*list)
		}
		if named == len(part.Untouched) {
			part = &Plan{Untouched: []string{path}}
			if len(c.Scope.Undo.Changed.at(path)) > 0 {
				part = &Plan{ChangedSince: []string{path}}
			}
		}
	}
	out.add(part)
}

// undoUnit lists the files of a database that an undo leaves: all of them, if one was changed
// since. It reports whether they stay.
func (c *comparison) undoUnit(dir string, members []pair, out *Plan) bool {
	u := c.Scope.Undo
	if u == nil {
		return false
	}
	touched, since := false, false
	for _, m := range members {
		path := band.JoinPath(dir, m.name)
		if c.same(m.was, m.want) || strings.HasSuffix(path, "-shm") {
			continue
		}
		mine := c.takesBack(path, m.was)
		touched = touched || len(u.Changed.at(path)) > 0
		// An empty journal or log contains nothing that could be lost.
		since = since || !mine && (m.was == nil || m.was.Size > 0 || m.want != nil)
	}
	if touched && !since {
		return false
	}
	for _, m := range members {
		if path := band.JoinPath(dir, m.name); !c.same(m.was, m.want) {
			if touched {
				out.ChangedSince = append(out.ChangedSince, path)
			} else {
				c.keep(path, m.was, m.want, out)
			}
		}
	}
	return true
}
