//go:build linux || darwin

package treetest

import "maps"

// Restored is what a restore of target must make of a tree that is present:
// target itself, but for what snapshots don't hold. Such a path, and what holds
// it, stays as it is present; what the target had there stays away. Loose
// are paths of which only the kind can be told.
func Restored(target, present Model) (want Model, loose []string) {
	want = maps.Clone(target)
	open := map[string]bool{}
	for _, path := range target.Paths() {
		if target[path].Kind.Held() {
			continue
		}
		// Whatever is there now is left alone.
		delete(want, path)
		for other, node := range present {
			if !under(other, path) {
				continue
			}
			if node.Link != "" { // with a name elsewhere, maybe
				for same := range present {
					open[same] = open[same] || present[same].Link == node.Link
				}
				node.Link = "present " + node.Link
			}
			want[other] = node
		}
	}
	for _, path := range present.Paths() {
		if present[path].Kind.Held() {
			continue
		}
		stay(want, present, path, open)
	}
	regroup(want)
	for path, is := range open {
		if is {
			loose = append(loose, path)
		}
	}
	return want, loose
}

// stay keeps a path that is present, and its directories.
func stay(want, present Model, path string, open map[string]bool) {
	for other := range want {
		if other != path && under(other, path) {
			delete(want, other)
		}
	}
	want[path] = present[path]
	for path != "." {
		path = parent(path)
		if node, ok := want[path]; !ok || node.Kind != Dir {
			want[path] = present[path]
			open[path] = true
		}
	}
}

// regroup tells again which names are one file, after names have gone.
func regroup(m Model) {
	groups := map[string][]string{}
	for _, path := range m.Paths() {
		if link := m[path].Link; link != "" {
			groups[link] = append(groups[link], path)
		}
	}
	for _, paths := range groups {
		for _, path := range paths {
			node := m[path]
			node.Link = paths[0]
			if len(paths) == 1 {
				node.Link = ""
			}
			m[path] = node
		}
	}
}
