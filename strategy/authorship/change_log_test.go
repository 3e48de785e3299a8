package authorship

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChangeLog(t *testing.T) {
	t.Parallel()
	var l changeLog
	want := map[string][]AuthoredChange{}
	add := func(name string, c AuthoredChange) {
		l.add(name, c)
		want[name] = append(want[name], c)
	}
	for i := range 100 {
		name := fmt.Sprintf([]string{"%d", "dir/%d", "dir/below/%d"}[i%3], i%40)
		add(name, AuthoredChange{until: 2, person: true, made: true})
		if i%3 == 0 {
			add(name, AuthoredChange{until: 3, Agents: []string{"a", "b"}})
		}
		if i%5 == 0 {
			add(name, AuthoredChange{until: 4, back: 2, unchanged: true, dir: true})
		}
	}
	for name, list := range want {
		if diff := cmp.Diff(list, l.of(name), cmp.AllowUnexported(AuthoredChange{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := l.of("other"); len(got) != 0 {
		t.Errorf("a path without changes has %v", got)
	}
	byAgents := func(c AuthoredChange) bool { return len(c.Agents) > 0 }
	var names []string
	for name, list := range want {
		if slices.ContainsFunc(list, byAgents) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, slices.Sorted(l.with(byAgents))); diff != "" {
		t.Errorf("paths of agents (-want +got):\n%s", diff)
	}
}

func TestChangeLogSharesLists(t *testing.T) {
	t.Parallel()
	var l changeLog
	for i := range 1000 {
		name := strconv.Itoa(i)
		l.add(name, AuthoredChange{until: 2, Agents: []string{"a"}})
		l.add(name, AuthoredChange{until: 3, person: true})
	}
	if len(l.lists) != 2 {
		t.Errorf("%d lists for the same two changes", len(l.lists))
	}
}
