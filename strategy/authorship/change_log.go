package authorship

import (
	"iter"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
)

// changeLog holds what became of paths, oldest first. Where a whole folder comes and
// goes, hundreds of thousands of paths have the same changes: each path has only the
// number of its list, and a list is a change behind another list. The zero value is
// empty.
type changeLog struct {
	paths map[string]uint32
	lists []changeList // the number of the first is 1
	known map[listKey]uint32
}

// changeList is a change and the number of the list of those before it, 0 for none.
type changeList struct {
	before uint32
	change AuthoredChange
}

// listKey is what makes a changeList differ from others.
type listKey struct {
	before                       uint32
	until, back                  bands.Version
	unchanged, person, made, dir bool
	agents                       string
}

func (l *changeLog) add(name string, c AuthoredChange) {
	before := l.paths[name]
	key := listKey{before, c.until, c.back, c.unchanged, c.person, c.made, c.dir, strings.Join(c.Agents, "\x00")}
	number, known := l.known[key]
	if !known {
		if l.known == nil {
			l.paths, l.known = map[string]uint32{}, map[listKey]uint32{}
		}
		l.lists = append(l.lists, changeList{before, c})
		number = uint32(len(l.lists))
		l.known[key] = number
	}
	l.paths[name] = number
}

// of returns the changes of a path, oldest first.
func (l *changeLog) of(name string) []AuthoredChange {
	n := 0
	for number := l.paths[name]; number != 0; number = l.lists[number-1].before {
		n++
	}
	all := make([]AuthoredChange, n)
	for number := l.paths[name]; number != 0; number = l.lists[number-1].before {
		n--
		all[n] = l.lists[number-1].change
	}
	return all
}

// with returns the paths of which a change matches, in no order.
func (l *changeLog) with(match func(AuthoredChange) bool) iter.Seq[string] {
	matches := make([]bool, len(l.lists)+1)
	for i, list := range l.lists { // the lists before it have lower numbers
		matches[i+1] = matches[list.before] || match(list.change)
	}
	return func(yield func(string) bool) {
		for name, number := range l.paths {
			if matches[number] && !yield(name) {
				return
			}
		}
	}
}
