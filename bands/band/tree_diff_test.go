package band_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
)

func file(content byte) band.Entry {
	return band.Entry{Kind: band.File, Size: 1, Content: band.Ref{Hash: band.Hash{content}}, Attr: band.Attr{Mtime: at(1, 0)}}
}

func dir() band.Entry { return band.Entry{Kind: band.Dir, Attr: band.Attr{Mtime: at(1, 0)}} }

func diff(tb testing.TB, old, now model, answer map[string]error) []string {
	tb.Helper()
	l := memory{}
	var got []string
	names := map[band.ChangeKind]string{
		band.Added: "added", band.Deleted: "deleted", band.Modified: "modified", band.AttributesChanged: "attributes",
		band.TypeChanged: "type", band.UnknownChange: "unknown",
	}
	err := band.DiffTrees(tb.Context(), l, old.build(l), l, now.build(l), func(c band.Change) error {
		got = append(got, fmt.Sprintf("%s %q", names[c.Kind], c.Path))
		return answer[c.Path]
	})
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

func TestDiffVisits(t *testing.T) {
	t.Parallel()
	old := model{
		"": dir(), "a": dir(), "a/1": file(1), "a/2": file(2), "b": file(3), "c": dir(), "c/1": file(1), "d": file(4), "e": dir(),
		"u": {Kind: band.Unknown, Reason: band.Socket, Attr: band.Attr{Mtime: at(1, 0)}}, "v": dir(), "v/1": file(1),
		"w": {Kind: band.Unknown, Reason: band.Excluded, Attr: band.Attr{Mtime: at(1, 0)}},
	}
	later := dir()
	later.Attr.Mtime = at(2, 0)
	now := model{
		"": dir(), "a": later, "a/1": file(5), "a/3": file(2), "b": dir(), "b/1": dir(), "b/1/x": file(1), "c": file(1), "d": file(4), "e": dir(),
		"u": {Kind: band.Unknown, Reason: band.Excluded, Attr: band.Attr{Mtime: at(2, 0)}},
		"v": {Kind: band.Unknown, Reason: band.Budget, Attr: band.Attr{Mtime: at(1, 0)}}, "w": file(1),
		"x": {Kind: band.Unknown, Reason: band.FIFO, Attr: band.Attr{Mtime: at(1, 0)}},
	}
	all := []string{
		`attributes "a"`, `modified "a/1"`, `deleted "a/2"`, `added "a/3"`, `type "b"`, `added "b/1"`, `added "b/1/x"`,
		`type "c"`, `deleted "c/1"`, `unknown "v"`, `unknown "w"`, `unknown "x"`,
	}
	for name, test := range map[string]struct {
		old, now model
		answer   map[string]error
		want     []string
	}{
		"nothing":             {old: old, now: old},
		"everything":          {old: old, now: now, want: all},
		"no further down":     {old: old, now: now, answer: map[string]error{"a": fs.SkipDir, "b": fs.SkipDir, "c": fs.SkipDir, "v": fs.SkipDir}, want: []string{all[0], all[4], all[7], all[9], all[10], all[11]}},
		"no further":          {old: old, now: now, answer: map[string]error{"b": fs.SkipAll}, want: all[:5]},
		"a file's skipping":   {old: old, now: now, answer: map[string]error{"a/1": fs.SkipDir}, want: all},
		"the root's own time": {old: model{"": dir()}, now: model{"": later}, want: []string{`attributes ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(test.want, diff(t, test.old, test.now, test.answer)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDiffFromNothing(t *testing.T) {
	t.Parallel()
	l := memory{}
	root := model{"": dir(), "a": dir(), "a/1": file(1)}.build(l)
	for want, roots := range map[band.ChangeKind][2]band.Ref{band.Added: {{}, root}, band.Deleted: {root, {}}} {
		var got []string
		err := band.DiffTrees(t.Context(), l, roots[0], l, roots[1], func(c band.Change) error {
			if c.Kind != want {
				t.Errorf("%q is %v", c.Path, c.Kind)
			}
			got = append(got, c.Path)
			return nil
		})
		if d := cmp.Diff([]string{"", "a", "a/1"}, got); d != "" || err != nil {
			t.Error(d, err)
		}
	}
	if err := band.DiffTrees(t.Context(), l, band.Ref{}, l, band.Ref{}, nil); err != nil {
		t.Error(err)
	}
}

func TestErrorsAreReturned(t *testing.T) {
	t.Parallel()
	l := memory{}
	root := model{"": dir(), "a": dir(), "a/1": file(1)}.build(l)
	mine := errors.New("mine")
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		ctx    func() context.Context
		loader memory
		answer error
		want   error
	}{
		"the visitor's": {t.Context, l, mine, mine},
		"the loader's":  {t.Context, memory{root: l[root]}, nil, fs.ErrNotExist},
		"the context's": {func() context.Context { return ended }, l, nil, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := band.DiffTrees(test.ctx(), test.loader, root, test.loader, band.Ref{}, func(band.Change) error { return test.answer })
			if !errors.Is(err, test.want) {
				t.Errorf("Diff: %v", err)
			}
			err = band.WalkTree(test.ctx(), test.loader, root, func(string, band.Entry, *band.Directory) error { return test.answer })
			if !errors.Is(err, test.want) {
				t.Errorf("Walk: %v", err)
			}
		})
	}
}

func TestWalkSkips(t *testing.T) {
	t.Parallel()
	l := memory{}
	root := model{"": dir(), "a": dir(), "a/1": file(1), "b": file(1), "c": dir(), "c/1": file(1), "d": file(1)}.build(l)
	var got []string
	err := band.WalkTree(t.Context(), l, root, func(path string, _ band.Entry, _ *band.Directory) error {
		got = append(got, path)
		return map[string]error{"a": fs.SkipDir, "c/1": fs.SkipAll}[path]
	})
	if d := cmp.Diff([]string{"", "a", "b", "c", "c/1"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	l := memory{}
	root := model{
		"": dir(), "a": dir(), "a/1": file(1), "s": {Kind: band.Symlink, Target: "a"},
		"u": {Kind: band.Unknown, Reason: band.Excluded},
	}.build(l)
	for path, want := range map[string]error{
		"": nil, "a": nil, "a/1": nil, "s": nil, "u": nil,
		"b": fs.ErrNotExist, "a/2": fs.ErrNotExist, "a/1/x": fs.ErrNotExist, "s/1": fs.ErrNotExist, "/a": fs.ErrNotExist,
		"a//1": fs.ErrNotExist, ".": fs.ErrNotExist, "../a": fs.ErrNotExist, "u/x": band.ErrUnknownPath, "u/x/y": band.ErrUnknownPath,
	} {
		_, err := band.LookupPath(l, root, path)
		if !errors.Is(err, want) {
			t.Errorf("%q: %v", path, err)
		}
		var withPath *fs.PathError
		if want != nil && (!errors.As(err, &withPath) || withPath.Path != path) {
			t.Errorf("%q isn't named by %v", path, err)
		}
	}
}

// A damaged directory affects the paths below it, and nothing else.
func TestDamageIsSkipped(t *testing.T) {
	t.Parallel()
	var root, other band.Ref
	records := store(t, func(w *band.Writer) {
		whole := (&band.Directory{Entries: []band.Entry{{Name: "f", Kind: band.File}}}).Encode(nil)
		d := &band.Directory{Entries: []band.Entry{
			{Name: "a", Kind: band.Dir, Content: band.Ref{Band: 9, Offset: 16}},
			{Name: "b", Kind: band.Dir, Content: addRecord(t, w, band.DirectoryRecord, whole)},
			{Name: "c", Kind: band.Dir, Content: addRecord(t, w, band.DirectoryRecord, []byte("no directory"))},
			{Name: "d", Kind: band.File, Size: 1, Parts: true, Content: band.Ref{Hash: band.Hash{1}, Band: 9}},
		}}
		root = addRecord(t, w, band.DirectoryRecord, d.Encode(nil))
		for i := range d.Entries {
			d.Entries[i].Content.Hash[0]++
		}
		d.Entries[1].Content = addRecord(t, w, band.DirectoryRecord, (&band.Directory{}).Encode(nil))
		other = addRecord(t, w, band.DirectoryRecord, d.Encode(nil))
	})
	paths := func(err error) (paths []string) {
		joined, _ := err.(interface{ Unwrap() []error })
		for _, e := range joined.Unwrap() {
			var at *fs.PathError
			if !errors.As(e, &at) || !errors.Is(e, band.ErrDamaged) {
				t.Errorf("the error is %v", e)
				continue
			}
			paths = append(paths, at.Path)
		}
		return paths
	}
	var got []string
	err := band.WalkTree(t.Context(), records, root, func(path string, _ band.Entry, _ *band.Directory) error {
		got = append(got, path)
		return nil
	})
	if d := cmp.Diff([]string{"", "b", "b/f", "d"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a", "c"}, paths(err)); d != "" {
		t.Error(d)
	}
	got = nil
	err = band.DiffTrees(t.Context(), records, root, records, other, func(c band.Change) error {
		got = append(got, c.Path)
		return nil
	})
	if d := cmp.Diff([]string{"b/f"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a", "c", "d"}, paths(err)); d != "" {
		t.Error(d)
	}
	err = band.WalkTree(t.Context(), records, band.Ref{Band: 9}, nil)
	if d := cmp.Diff([]string{"."}, paths(err)); d != "" {
		t.Error(d)
	}
}
