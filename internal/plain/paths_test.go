package plain_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/internal/plain"
)

func TestGitPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a b/ü.txt":    "a b/ü.txt",
		"":             "",
		`say "hi"`:     `"say \"hi\""`,
		`back\slash`:   `"back\\slash"`,
		"two\nlines":   `"two\012lines"`,
		"del\x7f":      `"del\177"`,
		"latin-1 \xfc": `"latin-1 \374"`,
		"ü and \r":     `"\303\274 and \015"`,
	} {
		if got := plain.GitPath(path); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}

func TestPathsInJSON(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a/b.txt": `"a/b.txt"`, "größe": `"größe"`, "new\nline": `"new\nline"`, `in "the" middle`: `"in \"the\" middle"`,
		`back\slash`: `"back\\slash"`, "": `""`,
		"bad\xffbyte":    `"\"bad\\377byte\""`,
		"\xff\"\\\n\x7f": `"\"\\377\\\"\\\\\\012\\177\""`,
		`"quoted"`:       `"\"\\\"quoted\\\"\""`,
	} {
		data, err := json.Marshal(plain.GitPaths{name})
		if err != nil || string(data) != "["+want+"]" {
			t.Errorf("%q is written %s, %v; want [%s]", name, data, err, want)
		}
		var back plain.GitPaths
		if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back, plain.GitPaths{name}) {
			t.Errorf("%q is read as %q, %v", name, back, err)
		}
	}
	for text, want := range map[string]plain.GitPaths{
		`null`: nil, `[]`: nil, `["\"half"]`: {`"half`}, `["\"\\400\""]`: {`"\400"`}, `["\""]`: {`"`},
	} {
		var got plain.GitPaths
		if err := json.Unmarshal([]byte(text), &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is read as %q, %v", text, got, err)
		}
	}
	for _, text := range []string{`"a"`, `{}`, `[1]`, `[["a"]]`} {
		var got plain.GitPaths
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}

func TestPathsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var paths plain.GitPaths
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
		var back plain.GitPaths
		if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back, paths) {
			t.Fatalf("%q is read as %q, %v", paths, back, err)
		}
	})
}

func TestNameInJSON(t *testing.T) {
	t.Parallel()
	want := []plain.GitName{"a\xff", `"d`, "e"}
	data, err := json.Marshal(want)
	if err != nil || string(data) != `["\"a\\377\"","\"\\\"d\"","e"]` {
		t.Errorf("written as %s, %v", data, err)
	}
	var got []plain.GitName
	if err := json.Unmarshal(data, &got); err != nil || !slices.Equal(got, want) {
		t.Errorf("read as %q, %v", got, err)
	}
}
