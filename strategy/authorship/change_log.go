package authorship

import (
	"iter"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// changeLog holds the changes of paths, oldest first. If a whole folder is created and removed,
// hundreds of thousands of paths have the same changes. Each path therefore has only the number of
// its list, and a list is a change appended to another list. Paths are grouped by folder, so that
// each needs little more memory than its name. The zero value is empty.
type changeLog struct {
	folders map[string]*changedNames
	lists   []changeList // the number of the first is 1
	known   map[listKey]uint32
}

// changedNames holds the paths in one folder that have changes. A comparison of snapshots adds them
// in order. A name that is added out of order stays behind the sorted names until the next
// comparison begins.
type changedNames struct {
	names  []changedName
	sorted int // number of names, from the first, that are in order
}

// changedName is the last part of a path, and the number of its list.
type changedName struct {
	name   string
	number uint32
}

// changeList is a change and the number of the list of the changes before it, 0 for none.
type changeList struct {
	before uint32
	change AuthoredChange
}

// listKey identifies a changeList.
type listKey struct {
	before                       uint32
	until, back                  bands.Version
	unchanged, person, made, dir bool
	agents                       string
}

func (l *changeLog) add(path string, c AuthoredChange) {
	dir, name := band.ParentPath(path), band.BasePath(path)
	folder := l.folders[dir]
	if folder == nil {
		if l.folders == nil {
			l.folders, l.known = map[string]*changedNames{}, map[listKey]uint32{}
		}
		folder = &changedNames{}
		l.folders[strings.Clone(dir)] = folder
	}
	entry := folder.entry(name)
	key := listKey{entry.number, c.until, c.back, c.unchanged, c.person, c.made, c.dir, strings.Join(c.Agents, "\x00")}
	number, known := l.known[key]
	if !known {
		l.lists = append(l.lists, changeList{entry.number, c})
		number = uint32(len(l.lists))
		l.known[key] = number
	}
	entry.number = number
}

// of returns the changes of a path, oldest first.
func (l *changeLog) of(path string) []AuthoredChange {
	dir, name := band.ParentPath(path), band.BasePath(path)
	folder := l.folders[dir]
	if folder == nil {
		return nil
	}
	if folder.sorted < len(folder.names) {
		folder.sort()
	}
	last := uint32(0)
	if i, found := folder.search(name); found {
		last = folder.names[i].number
	}
	n := 0
	for number := last; number != 0; number = l.lists[number-1].before {
		n++
	}
	all := make([]AuthoredChange, n)
	for number := last; number != 0; number = l.lists[number-1].before {
		n--
		all[n] = l.lists[number-1].change
	}
	return all
}

// with returns the paths with a matching change, in no order.
func (l *changeLog) with(match func(AuthoredChange) bool) iter.Seq[string] {
	matches := make([]bool, len(l.lists)+1)
	for i, list := range l.lists { // the lists before it have lower numbers
		matches[i+1] = matches[list.before] || match(list.change)
	}
	return func(yield func(string) bool) {
		for dir, folder := range l.folders {
			for _, n := range folder.names {
				if matches[n.number] && !yield(band.JoinPath(dir, n.name)) {
					return
				}
			}
		}
	}
}

// entry returns the entry of a name, a new one if it has none. It is valid until the next call.
func (f *changedNames) entry(name string) *changedName {
	if n := len(f.names); n > f.sorted && name <= f.names[n-1].name {
		f.sort()
	}
	if i, found := f.search(name); found {
		return &f.names[i]
	}
	if n := len(f.names); n == f.sorted && (n == 0 || f.names[n-1].name < name) {
		f.sorted++
	}
	f.names = append(f.names, changedName{name: strings.Clone(name)}) // don't retain the path
	return &f.names[len(f.names)-1]
}

// search searches the sorted names.
func (f *changedNames) search(name string) (int, bool) {
	return slices.BinarySearchFunc(f.names[:f.sorted], name, func(n changedName, name string) int { return strings.Compare(n.name, name) })
}

func (f *changedNames) sort() {
	slices.SortFunc(f.names, func(a, b changedName) int { return strings.Compare(a.name, b.name) })
	f.sorted = len(f.names)
}
