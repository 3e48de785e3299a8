package bands

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-3aff656d/entire/bands/sqlite"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// pageUnit divides the length of every database that is at rest.
const pageUnit = 512

// units plans the databases of a directory: main file, journal and log are
// restored together or not at all. It answers for each name it has planned
// whether nothing is there in the end.
func (p *planner) units(dir string, list []pair, out *Plan) map[string]bool {
	var done map[string]bool
	for _, main := range p.mains(list) {
		members := membersOf(list, main)
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

// mains are the names that may be databases with something to restore.
func (p *planner) mains(list []pair) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
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
	return names
}

func pages(e *tree.Entry) bool {
	return e != nil && e.Kind == tree.File && e.Size > 0 && e.Size%pageUnit == 0
}

// membersOf are the files of a database, the main file first.
func membersOf(list []pair, main string) []pair {
	first, _ := find(list, main)
	members := []pair{first}
	for _, name := range sqlite.Companions(main) {
		if m, ok := find(list, name); ok && mayBeOf(m.was) && mayBeOf(m.want) {
			members = append(members, m)
		}
	}
	return members
}

// mayBeOf says whether SQLite may have made the file: directories, links and
// sockets are none of its.
func mayBeOf(e *tree.Entry) bool {
	if e == nil || e.Kind != tree.Unknown {
		return e == nil || e.Kind == tree.File
	}
	switch e.Reason {
	case tree.Unreadable, tree.Moving, tree.Excluded, tree.Budget, tree.Busy, tree.Forgotten:
		return true
	default:
		return false
	}
}

// isUnit says whether the files are a database with something to restore.
func (p *planner) isUnit(dir string, members []pair) bool {
	main := members[0]
	differs := slices.ContainsFunc(members, func(m pair) bool { return !p.same(m.was, m.want) })
	if !differs || !mayBeOf(main.was) || !mayBeOf(main.want) || p.scope.hides(joinPath(dir, main.name)) {
		return false
	}
	if main.want != nil && main.want.Kind == tree.File && main.want.Size > 0 {
		if head, err := p.content.head(main.want); err == nil && sqlite.IsDatabase(head) {
			return true
		}
	}
	return main.was != nil && main.was.Size > 0 && sqlite.IsDatabase(headBelow(p.scope.Root, joinPath(dir, main.name)))
}

// unit plans one database. It answers whether nothing of it is there in the end.
func (p *planner) unit(dir string, members []pair, out *Plan) (gone bool) {
	main := joinPath(dir, members[0].name)
	inScope := false
	for _, m := range members {
		path := joinPath(dir, m.name)
		p.see(path)
		inScope = inScope || p.scope.relate(path) == inside
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
				*list = append(*list, joinPath(dir, m.name))
			}
		}
		return false
	}
	if p.busy[main] {
		out.Busy = append(out.Busy, main)
		return false
	}
	there := slices.ContainsFunc(members, func(m pair) bool { return m.was != nil })
	p.plan.units = append(p.plan.units, unitPlan{main: main, there: there, goes: members[0].want == nil})
	for _, m := range members {
		path := joinPath(dir, m.name)
		p.noteLinks(path, m.was, m.want, p.scope.relate(path))
		want := m.want
		if path == main+"-shm" {
			want = nil // it only describes the log that was beside it
		}
		switch {
		case want == nil && m.was != nil:
			p.does(out, step{name: m.name, kind: StepDelete, was: m.was.Kind, unit: int32(len(p.plan.units))}, nil)
		case want != nil && !p.same(m.was, want):
			p.does(out, step{name: m.name, kind: p.kindOf(m.was, want), was: kindOf(m.was), unit: int32(len(p.plan.units))}, want)
		}
	}
	return members[0].want == nil
}

// unitStays is the list that the files of the database are named in if they
// stay; nil if they don't.
func (p *planner) unitStays(dir string, members []pair, out *Plan) *[]string {
	main := members[0]
	for _, m := range members {
		switch {
		case p.scope.keeps(joinPath(dir, m.name), m.was, m.want):
			return &out.Kept
		case m.was != nil && m.was.Kind == tree.Unknown, m.want != nil && m.want.Kind == tree.Unknown:
			return &out.Unknown
		}
	}
	if main.want == nil && !p.scope.deletes(joinPath(dir, main.name), main.was) {
		return &out.Kept
	}
	for _, m := range members {
		if m.want != nil && !p.content.whole(m.want) {
			return &out.Damaged
		}
	}
	return nil
}

// inUse answers which of the databases, paths of main files, some process has
// open. One that can't be looked at counts as open.
func inUse(root string, mains []string) map[string]bool {
	places := make([]sqlite.Place, 0, len(mains))
	names := map[sqlite.Place]string{}
	for _, main := range mains {
		at := sqlite.Place{Dir: filepath.Join(root, filepath.FromSlash(parentOf(main))), Main: baseOf(main)}
		places = append(places, at)
		names[at] = main
	}
	used, err := sqlite.Used(places)
	if err != nil {
		used = slices.DeleteFunc(places, func(at sqlite.Place) bool {
			in, err := sqlite.InUse(at.Dir, at.Main)
			// A name too long for a journal's is that of no open database.
			return err == nil && !in || errors.Is(err, syscall.ENAMETOOLONG)
		})
	}
	busy := map[string]bool{}
	for _, at := range used {
		busy[names[at]] = true
	}
	return busy
}

// headBelow is the beginning of the file path below root, nothing if it can't be read.
func headBelow(root, path string) []byte {
	dir, err := openBelow(root, parentOf(path))
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	f, err := dir.OpenFile(baseOf(path))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, headLength)
	n, err := f.ReadAt(head, 0)
	if n < headLength && err != nil {
		return nil
	}
	return head
}

// headLength is how much of a file tells whether it is a database.
const headLength = 16

// openBelow opens a directory below root without following symbolic links.
func openBelow(root, path string) (*dirfd.Dir, error) {
	dir, err := dirfd.OpenRoot(root)
	if err != nil || path == "" {
		return dir, err
	}
	for name := range strings.SplitSeq(path, "/") {
		next, err := dir.Open(name)
		_ = dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}
