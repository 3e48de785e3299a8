package ui_test

import (
	"bytes"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

type entryJSON struct {
	Name  string   `json:"name"`
	Paths []string `json:"paths"`
}

func allOf(list []entryJSON) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// A list written entry by entry has the same bytes as one written at once.
func TestJSONListMatchesJSON(t *testing.T) {
	t.Parallel()
	entries := []entryJSON{{"<a> & \x1b", []string{"1", "2"}}, {"b", []string{}}, {"}\n", nil}}
	type before struct {
		Branch string            `json:"branch,omitempty"`
		Inner  map[string]string `json:"inner,omitzero"`
	}
	type after struct {
		More int `json:"more,omitempty"`
	}
	type whole struct {
		before

		List []entryJSON `json:"list"`

		after
	}
	for _, n := range []int{0, 1, 3} {
		for _, value := range []whole{{}, {before: before{Branch: "main"}}, {after: after{2}}, {before: before{"main", map[string]string{"k": "}"}}, after: after{2}}} {
			value.List = entries[:n]
			for _, terminal := range []bool{false, true} {
				var got, want bytes.Buffer
				to := func(out *bytes.Buffer) ui.Streams {
					return ui.Streams{Out: out, Terminal: ui.Terminal{Out: terminal}}
				}
				list := ui.JSONList{Before: func() any { return value.before }, Key: "list", Entries: allOf(value.List), After: func() any { return value.after }}
				if value.Branch == "" {
					list.Before = nil
				}
				if value.More == 0 && n > 0 {
					list.After = nil
				}
				bare := ui.JSONList{Entries: allOf(value.List)}
				err := errors.Join(
					to(&got).JSONList(list), to(&got).JSONListLine(list), to(&got).JSONList(bare), to(&got).JSONListLine(bare),
					to(&want).JSON(value), to(&want).JSONLine(value), to(&want).JSON(value.List), to(&want).JSONLine(value.List))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.String(), got.String()); diff != "" {
					t.Errorf("%+v (-whole +entry by entry):\n%s", value, diff)
				}
			}
		}
	}
}

// Each entry is written before the next one is read, and the end after all of them.
func TestJSONListStreams(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var written []string
	next := func() string {
		defer out.Reset()
		return out.String()
	}
	entries := func(yield func(any, error) bool) {
		for _, name := range []string{"a", "b", "c"} {
			written = append(written, next())
			if !yield(name, nil) {
				return
			}
		}
		written = append(written, next())
	}
	more := func() any {
		written = append(written, next())
		return map[string]int{"more": 1}
	}
	if err := (ui.Streams{Out: &out}).JSONListLine(ui.JSONList{Key: "list", Entries: entries, After: more}); err != nil {
		t.Fatal(err)
	}
	want := []string{"", `{"schema":1,"list":["a"`, `,"b"`, `,"c"`, "", `],"more":1}` + "\n"}
	if diff := cmp.Diff(want, append(written, next())); diff != "" {
		t.Errorf("between two entries (-want +got):\n%s", diff)
	}
}

// An error before the first entry writes no output, so that the error can be written as JSON. A
// later one ends the list early.
func TestJSONListWithAnError(t *testing.T) {
	t.Parallel()
	failure := errors.New("damaged")
	failing := func(after int) iter.Seq2[any, error] {
		return func(yield func(any, error) bool) {
			for range after {
				if !yield("a", nil) {
					return
				}
			}
			if yield(nil, failure) {
				t.Error("read on after an error")
			}
		}
	}
	for after, want := range []string{"", `{"schema":1,"list":["a"`} {
		var out bytes.Buffer
		err := (ui.Streams{Out: &out}).JSONListLine(ui.JSONList{Key: "list", Entries: failing(after)})
		_, broken := errors.AsType[*ui.BrokenOffError](err)
		if !errors.Is(err, failure) || broken != (after > 0) || out.String() != want {
			t.Errorf("after %d entries: %v (broken off: %v), %q", after, err, broken, out.String())
		}
	}
}
