package treetest

import "maps"

// Restored returns the expected tree after a restore of target over present: target itself, except
// for paths that snapshots don't hold. Such a path of present stays, with its directories: the
// target's paths in its place aren't restored, and if the target has a file in place of a
// directory, everything present in that stays. In place of such a path of target, everything
// present stays. Of the paths in loose only the kind is known.
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
	want.Relink()
	for path, is := range open {
		if is {
			loose = append(loose, path)
		}
	}
	return want, loose
}

// keep keeps the present state of the path and everything below it.
func keep(want, present Model, path string, open map[string]bool) {
	for other, node := range present {
		if !under(other, path) {
			continue
		}
		if node.Link != "" { // other names may be elsewhere
			for same := range present {
				open[same] = open[same] || present[same].Link == node.Link
			}
			node.Link = "present " + node.Link
		}
		want[other] = node
	}
}

// stay keeps a present path and its directories.
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
