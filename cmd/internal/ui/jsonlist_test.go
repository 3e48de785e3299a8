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
				list := ui.JSONList{Before: func() any { return value.before }, Key: "list", Entries: ui.JSONEntries(value.List), After: func() any { return value.after }}
				if value.Branch == "" {
					list.Before = nil
				}
				if value.More == 0 && n > 0 {
					list.After = nil
				}
				bare := ui.JSONList{Entries: ui.JSONEntries(value.List)}
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
// later one ends the list early, and it is noted that there is output.
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
		broken := false
		err := (ui.Streams{Out: &out, WroteJSON: &broken}).JSONListLine(ui.JSONList{Key: "list", Entries: failing(after)})
		if !errors.Is(err, failure) || broken != (after > 0) || out.String() != want {
			t.Errorf("after %d entries: %v (broken off: %v), %q", after, err, broken, out.String())
		}
	}
}

// With Lines each entry is on a line, then the other fields with "end", whether the entries are
// read one by one or are a field of an object.
func TestJSONListLines(t *testing.T) {
	t.Parallel()
	type before struct {
		Branch string `json:"branch,omitempty"`
	}
	type after struct {
		More int `json:"more,omitempty"`
	}
	type whole struct {
		before

		List []entryJSON `json:"list"`

		after
	}
	entries := []entryJSON{{"<a>, \x1b", []string{"1", "2"}}, {"b", []string{}}}
	const a, b = `{"schema":1,"name":"<a>, \u001b","paths":["1","2"]}` + "\n", `{"schema":1,"name":"b","paths":[]}` + "\n"
	for _, c := range []struct {
		value whole
		want  string
	}{
		{whole{List: []entryJSON{}}, `{"schema":1,"end":true}` + "\n"},
		{whole{before: before{"main"}, List: entries}, a + b + `{"schema":1,"end":true,"branch":"main"}` + "\n"},
		{whole{List: entries[1:], after: after{2}}, b + `{"schema":1,"end":true,"more":2}` + "\n"},
		{whole{before: before{"a,b"}, List: entries[:1], after: after{2}}, a + `{"schema":1,"end":true,"branch":"a,b","more":2}` + "\n"},
	} {
		var once, each bytes.Buffer
		lines := func(out *bytes.Buffer) ui.Streams { return ui.Streams{Out: out, Lines: true} }
		err := errors.Join(
			lines(&once).JSONOf(c.value, "list"),
			lines(&each).JSONList(ui.JSONList{
				Key: "list", Before: func() any { return c.value.before }, Entries: ui.JSONEntries(c.value.List), After: func() any { return c.value.after },
			}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{c.want, c.want}, []string{once.String(), each.String()}); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.value, diff)
		}
	}
}

// A value that isn't a list is one line with "end".
func TestJSONLinesOfAnObject(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := (ui.Streams{Out: &out, Lines: true}).JSON(map[string]int{"n": 1}); err != nil {
		t.Fatal(err)
	}
	if want := `{"schema":1,"end":true,"n":1}` + "\n"; out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}
