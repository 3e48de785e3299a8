package session_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/session"
)

func TestPathsInJSON(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a/b.txt": `"a/b.txt"`, "größe": `"größe"`, "new\nline": `"new\nline"`, `in "the" middle`: `"in \"the\" middle"`,
		`back\slash`: `"back\\slash"`, "": `""`,
		"bad\xffbyte":    `"\"bad\\377byte\""`,
		"\xff\"\\\n\x7f": `"\"\\377\\\"\\\\\\012\\177\""`,
		`"quoted"`:       `"\"\\\"quoted\\\"\""`,
	} {
		data, err := json.Marshal(session.Paths{name})
		if err != nil || string(data) != "["+want+"]" {
			t.Errorf("%q is written %s, %v; want [%s]", name, data, err, want)
		}
		var back session.Paths
		if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back, session.Paths{name}) {
			t.Errorf("%q is read as %q, %v", name, back, err)
		}
	}
	for text, want := range map[string]session.Paths{
		`null`: nil, `[]`: nil, `["\"half"]`: {`"half`}, `["\"\\400\""]`: {`"\400"`}, `["\""]`: {`"`},
	} {
		var got session.Paths
		if err := json.Unmarshal([]byte(text), &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is read as %q, %v", text, got, err)
		}
	}
	for _, text := range []string{`"a"`, `{}`, `[1]`, `[["a"]]`} {
		var got session.Paths
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}

func TestPathsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var paths session.Paths
		for _, b := range rapid.SliceOf(rapid.OneOf(
			rapid.SliceOf(rapid.Byte()),
			rapid.SliceOf(rapid.SampledFrom([]byte("\"\\0a\n\xc3\xa9"))),
		)).Draw(t, "paths") {
			paths = append(paths, string(b))
		}
		data, err := json.Marshal(paths)
		if err != nil {
			t.Fatal(err)
		}
		var back session.Paths
		if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back, paths) {
			t.Fatalf("%q is read as %q, %v", paths, back, err)
		}
	})
}
