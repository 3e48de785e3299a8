package restore

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/sqlite"
)

// pageUnit divides the length of every idle database.
const pageUnit = 512

// units plans the databases of a directory: main file, journal and log are restored together or
// not at all. It returns the planned names, each with whether its database is gone afterwards.
func (p *planner) units(dir string, list []pair, out *Plan) map[string]bool {
	var mains []string // names of possible databases with something to restore
	add := func(name string) {
		if !slices.Contains(mains, name) {
			mains = append(mains, name)
		}
	}
	exists := func(name string) bool { _, ok := find(list, name); return ok }
	for _, pr := range list {
		if main, ok := sqlite.Unit(exists, pr.name); ok {
			add(main)
		} else if pr.was != nil && !p.same(pr.was, pr.want) && (pages(pr.was) || pages(pr.want)) {
			add(pr.name)
		}
	}
	var done map[string]bool
	for _, main := range mains {
		if _, planned := done[main]; planned {
			continue // planned as a companion of another database
		}
		first, _ := find(list, main)
		members := []pair{first} // the main file first
		for _, name := range sqlite.Companions(main) {
			if m, ok := find(list, name); ok && mayBeOf(m.was) && mayBeOf(m.want) {
				members = append(members, m)
			}
		}
		if !p.isUnit(dir, members) {
			continue
		}
		gone := p.unit(dir, members, out)
		if done == nil {
			done = map[string]bool{}
		}
		for _, m := range members {
			done[m.name] = gone
		}
	}
	return done
}

func find(list []pair, name string) (pair, bool) {
	i, ok := slices.BinarySearchFunc(list, name, func(p pair, name string) int { return strings.Compare(p.name, name) })
	if !ok {
		return pair{}, false
	}
	return list[i], true
}

func pages(e *band.Entry) bool {
	return e != nil && e.Kind == band.File && e.Size > 0 && e.Size%pageUnit == 0
}

// mayBeOf reports whether SQLite may have created the file: directories, links and sockets are
// not its files.
func mayBeOf(e *band.Entry) bool {
	if e == nil || e.Kind != band.Unknown {
		return e == nil || e.Kind == band.File
	}
	switch e.Reason {
	case band.Unreadable, band.Moving, band.Excluded, band.Budget, band.Busy, band.Forgotten:
		return true
	default:
		return false
	}
}

// isUnit reports whether the files are a database that needs a step.
func (c *comparison) isUnit(dir string, members []pair) bool {
	main := members[0]
	differs := slices.ContainsFunc(members, func(m pair) bool { return !c.same(m.was, m.want) })
	if !differs || !mayBeOf(main.was) || !mayBeOf(main.want) || c.Scope.Hides(band.JoinPath(dir, main.name)) {
		return false
	}
	if main.want != nil && main.want.Kind == band.File && main.want.Size > 0 {
		if head, err := c.Content.Head(main.want); err == nil && sqlite.IsDatabase(head) {
			return true
		}
	}
	return main.was != nil && main.was.Size > 0 && sqlite.IsDatabase(bands.HeadBelow(c.Scope.Root, band.JoinPath(dir, main.name)))
}

// unit plans one database. It reports whether the database is gone afterwards.
func (p *planner) unit(dir string, members []pair, out *Plan) (gone bool) {
	main := band.JoinPath(dir, members[0].name)
	inScope := false
	for _, m := range members {
		path := band.JoinPath(dir, m.name)
		p.see(path)
		inScope = inScope || p.Scope.Relate(path) == Inside
	}
	if !inScope {
		return false
	}
	if p.undoUnit(dir, members, out) {
		return false
	}
	if list := p.unitStays(dir, members, out); list != nil {
		for _, m := range members {
			if !p.same(m.was, m.want) {
				*list = append(*list, band.JoinPath(dir, m.name))
			}
		}
		return false
	}
	if p.busy[main] {
		out.Busy = append(out.Busy, main)
		return false
	}
	there := slices.ContainsFunc(members, func(m pair) bool { return m.was != nil })
	p.Plan.Units = append(p.Plan.Units, unitPlan{Main: main, there: there, Removed: members[0].want == nil})
	for _, m := range members {
		path := band.JoinPath(dir, m.name)
		p.noteLinks(path, m.was, m.want, p.Scope.Relate(path))
		want := m.want
		if path == main+"-shm" {
			want = nil // it only describes the former log
		}
		switch {
		case want == nil && m.was != nil:
			p.does(out, namedStep{Name: m.name, Kind: StepDelete, Was: m.was.Kind, Unit: int32(len(p.Plan.Units))}, nil)
		case want != nil && !p.same(m.was, want):
			p.does(out, namedStep{Name: m.name, Kind: p.kindOf(m.was, want), Was: kindOf(m.was), Unit: int32(len(p.Plan.Units))}, want)
		}
	}
	return members[0].want == nil
}

// unitStays returns the list to which the database's files are added if they stay; nil if they
// don't.
func (c *comparison) unitStays(dir string, members []pair, out *Plan) *[]string {
	main := members[0]
	for _, m := range members {
		switch {
		case c.Scope.keeps(band.JoinPath(dir, m.name), m.was, m.want):
			return &out.Kept
		case m.was != nil && m.was.Kind == band.Unknown, m.want != nil && m.want.Kind == band.Unknown:
			return &out.Unknown
		}
	}
	if main.want == nil && !c.Scope.deletes(band.JoinPath(dir, main.name), main.was) {
		return &out.Kept
	}
	for _, m := range members {
		if m.want != nil && !c.Content.Whole(m.want) {
			return &out.Damaged
		}
	}
	return nil
}

// inUse returns those of the databases, paths of main files, that a process has open. A database
// that can't be examined counts as open.
func inUse(root string, mains []string) map[string]bool {
	places := make([]sqlite.Place, 0, len(mains))
	names := map[sqlite.Place]string{}
	for _, main := range mains {
		at := sqlite.Place{Dir: filepath.Join(root, filepath.FromSlash(band.ParentPath(main))), Main: band.BasePath(main)}
		places = append(places, at)
		names[at] = main
	}
	used, err := sqlite.Used(places)
	if err != nil {
		used = slices.DeleteFunc(places, func(at sqlite.Place) bool {
			in, err := sqlite.InUse(at.Dir, at.Main)
			// If the name is too long for a journal's, no process has the database open.
			return err == nil && !in || errors.Is(err, syscall.ENAMETOOLONG)
		})
	}
	busy := map[string]bool{}
	for _, at := range used {
		busy[names[at]] = true
	}
	return busy
}
