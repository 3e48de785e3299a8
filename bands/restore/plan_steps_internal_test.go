package restore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/bands/band"
)

func TestStepsAreSortedByPath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		paths := rapid.SliceOf(rapid.StringMatching(`[-.ab0](/[-.ab0]{1,2}){0,3}`)).Draw(r, "paths")
		slices.Sort(paths)
		paths = slices.Compact(paths)
		p := &Plan{Root: planSteps(paths)}
		p.Tidy()
		var got []string
		for s := range p.Steps() {
			got = append(got, s.Path)
		}
		if diff := cmp.Diff(paths, got); len(paths)+len(got) > 0 && diff != "" {
			r.Fatal(diff)
		}
		for _, path := range paths {
			if d, s := p.Root.Find(path); s == nil || d.PathOf(s) != path {
				r.Fatalf("%s is not found", path)
			}
		}
	})
}

// planSteps returns steps that create the paths.
func planSteps(paths []string) *dirSteps {
	dirs := map[string]*dirSteps{"": {}}
	var dir func(path string) *dirSteps
	dir = func(path string) *dirSteps {
		if d := dirs[path]; d != nil {
			return d
		}
		parent, d := dir(band.ParentPath(path)), &dirSteps{Path: path}
		dirs[path], parent.kids = d, append(parent.kids, d)
		return d
	}
	for _, path := range slices.Backward(paths) {
		d := dir(band.ParentPath(path))
		d.List = append(d.List, namedStep{Name: band.BasePath(path), Kind: StepCreate, Want: band.File})
	}
	return dirs[""]
}

func TestChangedListRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.StringMatching(`[-.ab0]{1,2}(/[-.ab0]{1,2}){0,3}`)
		states := rapid.Custom(func(r *rapid.T) pathState {
			s := pathState{path: name.Draw(r, "path")}
			if s.kind = band.EntryKind(rapid.IntRange(0, 3).Draw(r, "kind")); s.kind != 0 {
				s.content[0] = rapid.Byte().Draw(r, "content")
				s.attr[3] = rapid.Byte().Draw(r, "attr")
			}
			return s
		})
		want := changedSet(rapid.SliceOf(states).Draw(r, "states")).Sorted()
		packed, err := encodeStates(len(want), slices.Values(want))
		if err != nil {
			r.Fatal(err)
		}
		read, err := decodeChanged(packed)
		if err != nil {
			r.Fatal(err)
		}
		path := name.Draw(r, "looked up")
		for what, list := range map[string]*ChangedList{"read": read, "made": newChangedList(want)} {
			if got := slices.Collect(list.From("")); !slices.Equal(got, want) {
				r.Fatalf("%s: %+v, not %+v", what, got, want)
			}
			var at []stateID
			reaches := false
			for _, s := range want {
				if s.path == path {
					at = append(at, s.stateID)
				}
				reaches = reaches || s.path == path || len(s.path) > len(path) && s.path[:len(path)+1] == path+"/"
			}
			if got := list.at(path); !slices.Equal(got, at) || list.reaches(path) != reaches {
				r.Fatalf("%s: %s has %+v, not %+v; below it %v, not %v", what, path, got, at, list.reaches(path), reaches)
			}
		}
		if len(packed) > 0 {
			packed[rapid.IntRange(0, len(packed)-1).Draw(r, "damaged")]++
			if list, err := decodeChanged(packed); err == nil && !slices.Equal(slices.Collect(list.From("")), want) {
				r.Fatal("a damaged list is read")
			}
		}
	})
}

func TestTruncatedChangedList(t *testing.T) {
	t.Parallel()
	var set changedSet
	for i := range 100 {
		set = append(set, pathState{fmt.Sprintf("dir/file%03d", i), stateID{kind: band.File}})
	}
	packed, err := encodeStates(len(set), slices.Values(set))
	if err != nil {
		t.Fatal(err)
	}
	for end := range len(packed) {
		if _, err := decodeChanged(packed[:end]); err == nil {
			t.Fatalf("the first %d of %d bytes are a list", end, len(packed))
		}
	}
}
