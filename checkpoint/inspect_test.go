package checkpoint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// spoilt is one way to damage a checkpoint: the file in its directory that gets another text,
// or is removed (""), and the result of Inspect.
type spoilt struct {
	path, text    string
	summary, lost string
}

func TestInspectReportsDamage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]spoilt{
		"nothing":                    {},
		"an unknown file":            {path: "notes.txt", text: "x"},
		"broken metadata":            {path: "metadata.json", text: "{", summary: "its metadata.json can't be read"},
		"no metadata":                {path: "metadata.json", summary: "its metadata.json can't be read"},
		"a session that is not told": {path: "metadata.json", text: `{"sessions":[]}`},
		"a directory written twice":  {path: "metadata.json", text: `{"sessions":[{"metadata":"/ab/cdef123456/ab/cdef123456/0/metadata.json"},{"metadata":"/ab/cdef123456/ab/cdef123456/1/metadata.json"}]}`},
		"an old version's":           {path: "full.jsonl", text: "{}"},
		"a session that is gone":     {path: "1", lost: "session 1 is gone"},
		"a session's metadata":       {path: "1/metadata.json", text: "null!", lost: "session 1: its metadata.json can't be read"},
		"a session without an id":    {path: "0/metadata.json", text: `{"session_id":"../up"}`, lost: "session 0: its metadata.json can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "plain")
			f.update(t, put(f, idA, checkpoint.Slot{Meta: meta("s1")}), put(f, idA, checkpoint.Slot{Meta: meta("s2")}))
			tree := f.spoil(t, c.path, c.text)
			list := f.inspect(t, tree, nil)
			if len(list) != 1 || list[0].ID != idA {
				t.Fatalf("%+v", list)
			}
			if diff := cmp.Diff([]string{c.summary, c.lost}, []string{list[0].Summary, strings.Join(list[0].Lost, "; ")}); diff != "" {
				t.Error(diff)
			}
			if c.summary == "" {
				return
			}
			dir, err := checkpoint.Resummarize(t.Context(), f.git, f.present(t, tree, idA), idA)
			must(t, err)
			mended := f.with(t, tree, idA, dir)
			list = f.inspect(t, mended, nil)
			if !list[0].OK() || len(list[0].Sessions) != 2 || list[0].Strategy != checkpoint.ManualCommit {
				t.Errorf("mended: %+v", list[0])
			}
		})
	}
}

// inspect examines all checkpoints in a tree of the branch.
func (f *fixture) inspect(tb testing.TB, tree git.OID, missing map[git.OID]bool) []checkpoint.Inspected {
	tb.Helper()
	located, err := checkpoint.BranchSource(f.git, tree).List(tb.Context())
	must(tb, err)
	list, err := checkpoint.Inspect(tb.Context(), f.git, located, missing)
	must(tb, err)
	return list
}

// spoil returns the branch's tree with a file of idA's directory changed.
func (f *fixture) spoil(tb testing.TB, path, text string) git.OID {
	tb.Helper()
	tree, err := checkpoint.Tree(tb.Context(), f.git)
	must(tb, err)
	if path == "" {
		return tree
	}
	edit := git.TreeEdit{Path: idA.Dir() + "/" + path}
	if text != "" {
		edit.Mode = git.ModeFile
		edit.OID, err = f.git.WriteBlob([]byte(text))
		must(tb, err)
	}
	tree, err = git.EditTree(tb.Context(), f.git, tree, []git.TreeEdit{edit})
	must(tb, err)
	return tree
}

func TestInspectCountsMissingObjectsAsLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	stored := f.transcript(t, "s1", "{}\n")
	f.update(t, put(f, idA, checkpoint.Slot{Meta: meta("s1"), Transcript: stored}))
	tree, err := checkpoint.Tree(t.Context(), f.git)
	must(t, err)
	list := f.inspect(t, tree, map[git.OID]bool{stored.Segments[0]: true})
	if diff := cmp.Diff([]string{"session 0: the content of full.jsonl is gone"}, list[0].Lost); diff != "" {
		t.Error(diff)
	}
}
