package treetest

import "maps"

// Restored is what a restore of target must make of a tree that is present:
// target itself, but for what snapshots don't hold. Such a path, and its
// directories, stay as they are present; what the target had there stays away,
// and where that was no directory, all that is in it now stays. Loose are paths
// of which only the kind is known.
func Restored(target, present Model) (want Model, loose []string) {
	want = maps.Clone(target)
	open := map[string]bool{}
	for _, path := range target.Paths() {
		if !target[path].Kind.Held() {
			delete(want, path)
			keep(want, present, path, open)
		}
	}
	for _, path := range present.Paths() {
		if !present[path].Kind.Held() {
			stay(want, present, path, open)
		}
	}
	// Names were removed: which ones are one file is computed again.
	groups := map[string][]string{}
	for _, path := range want.Paths() {
		if link := want[path].Link; link != "" {
			groups[link] = append(groups[link], path)
		}
	}
	for _, paths := range groups {
		for _, path := range paths {
			node := want[path]
			node.Link = paths[0]
			if len(paths) == 1 {
				node.Link = ""
			}
			want[path] = node
		}
	}
	for path, is := range open {
		if is {
			loose = append(loose, path)
		}
	}
	return want, loose
}

// keep leaves alone what is present at the path and below it.
func keep(want, present Model, path string, open map[string]bool) {
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

// stay keeps a path that is present, and its directories.
func stay(want, present Model, path string, open map[string]bool) {
	for other := range want {
		if other != path && under(other, path) {
			delete(want, other)
		}
	}
	want[path] = present[path]
	for up := parent(path); up != "."; up = parent(up) {
		switch node, ok := want[up]; {
		case !ok:
			want[up], open[up] = present[up], true
		case node.Kind != Dir:
			keep(want, present, up, open)
		}
	}
}
