package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestRelocationReplacesWholePathsOnly(t *testing.T) {
	t.Parallel()
	const from, to = "/home/ada/proj", "/Users/bob/work/proj"
	tests := map[string]struct{ in, want string }{
		"the folder itself":       {`{"cwd":"/home/ada/proj"}`, `{"cwd":"/Users/bob/work/proj"}`},
		"a file below":            {`{"p":"/home/ada/proj/a.go"}`, `{"p":"/Users/bob/work/proj/a.go"}`},
		"in a command":            {`{"c":"cd /home/ada/proj && ls"}`, `{"c":"cd /Users/bob/work/proj && ls"}`},
		"behind an escape":        {`{"o":"x\n/home/ada/proj/a\t/home/ada/proj"}`, `{"o":"x\n/Users/bob/work/proj/a\t/Users/bob/work/proj"}`},
		"before an escape":        {`{"o":"/home/ada/proj\n"}`, `{"o":"/Users/bob/work/proj\n"}`},
		"JSON within a string":    {`{"o":"{\"p\":\"/home/ada/proj\",\"q\":\"x\\n/home/ada/proj/a\"}"}`, `{"o":"{\"p\":\"/Users/bob/work/proj\",\"q\":\"x\\n/Users/bob/work/proj/a\"}"}`},
		"a URL":                   {`{"u":"file:///home/ada/proj/a"}`, `{"u":"file:///Users/bob/work/proj/a"}`},
		"a key":                   {`{"/home/ada/proj/a":1}`, `{"/Users/bob/work/proj/a":1}`},
		"with line and column":    {`{"e":"/home/ada/proj:3:1"}`, `{"e":"/Users/bob/work/proj:3:1"}`},
		"the end of a sentence":   {`{"e":"It is in /home/ada/proj."}`, `{"e":"It is in /Users/bob/work/proj."}`},
		"twice":                   {`/home/ada/proj:/home/ada/proj/bin`, `/Users/bob/work/proj:/Users/bob/work/proj/bin`},
		"a longer name":           {`{"p":"/home/ada/project/a"}`, ""},
		"a name with a dash":      {`{"p":"/home/ada/proj-2/a"}`, ""},
		"a name with a dot":       {`{"p":"/home/ada/proj.bak/a"}`, ""},
		"a name beyond ASCII":     {`{"p":"/home/ada/projé"}`, ""},
		"the same, escaped":       {`{"p":"/home/ada/proj\u00e9"}`, ""},
		"the end of another path": {`{"p":"/mnt/home/ada/proj/a"}`, ""},
		"a relative path":         {`{"p":"./home/ada/proj/a"}`, ""},
		"behind a variable":       {`{"p":"$R/home/ada/proj/a ${R}/home/ada/proj"}`, ""},
		"the agent's directory":   {`{"p":"/x/.claude/projects/-home-ada-proj/a.jsonl"}`, ""},
		"nothing":                 {`{"p":"\/\u002f"}`, ""},
		"an empty line":           {``, ""},
	}
	move := transcript.NewPathMove(from, to)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "" {
				tt.want = tt.in
			}
			if diff := cmp.Diff(tt.want, string(move.Text([]byte(tt.in)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRelocationOfShortRootKeepsRelativePaths(t *testing.T) {
	t.Parallel()
	in := `{"c":"cp src/app/x ./app/y ~/app/z ../app /app/x","s":"app/app"}`
	want := `{"c":"cp src/app/x ./app/y ~/app/z ../app /home/bob/app/x","s":"app/app"}`
	if got := transcript.NewPathMove("/app", "/home/bob/app").Text([]byte(in)); string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestRelocationOfEncodedPaths(t *testing.T) {
	t.Parallel()
	const from = `/home/zoë/"R&D"`
	move := transcript.NewPathMove(from, `/home/bob/q"x\y`)
	for _, in := range []string{
		`{"p":"/home/zoë/\"R&D\"/a"}`,
		`{"p":"/home/zoë/\"R\u0026D\"/a"}`,
		`{"p":"/home/zo\u00eb/\"R&D\"/a"}`,
	} {
		if got := string(move.Text([]byte(in))); got != `{"p":"/home/bob/q\"x\\y/a"}` {
			t.Errorf("%s became %s", in, got)
		}
	}
}

func TestRelocationRefusesNonRoots(t *testing.T) {
	t.Parallel()
	text := []byte(`{"p":"/x/y / C:\\x C:\\x\\y"}`)
	for _, roots := range [][2]string{
		{"", "/x"}, {"/x", ""}, {"/", "/x"}, {"/x", "/"}, {"/x", "/x"}, {`C:\x`, "/x"}, {"/x/../x", "/y"}, {"/x", "/\xff"},
	} {
		if got := transcript.NewPathMove(roots[0], roots[1]).Text(text); &got[0] != &text[0] {
			t.Errorf("%q: %s", roots, got)
		}
	}
}

func TestWriterKeepsLinesInAnyChunks(t *testing.T) {
	t.Parallel()
	tests := map[string]string{"": "", "a": "a\n", "a\n": "a\n", "a\n\n/x/b": "a\n\n/y/b\n", "/x\n/x": "/y\n/y\n"}
	for in, want := range tests {
		for size := 1; size <= len(in)+1; size++ {
			var out bytes.Buffer
			w := transcript.NewRelocatingWriter(&out, transcript.NewPathMove("/x", "/y"))
			for piece := range slices.Chunk([]byte(in), size) {
				if n, err := w.Write(piece); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Close(); err != nil || out.String() != want {
				t.Errorf("%q in pieces of %d: %q %v", in, size, out.String(), err)
			}
		}
	}
}

// naive relocates decoded text, character by character.
func naive(s, from, to string) string {
	runes, old := []rune(s), []rune(from)
	name := func(c rune, more string) bool {
		return unicode.In(c, unicode.L, unicode.N, unicode.M) || strings.ContainsRune(more, c)
	}
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	var out strings.Builder
	for i := 0; i < len(runes); i++ {
		end := i + len(old)
		if end > len(runes) || string(runes[i:end]) != from {
			out.WriteRune(runes[i])
			continue
		}
		url := at(i-1) == '/' && at(i-2) == '/' && at(i-3) == ':'
		escape := at(i-2) == '\\' && strings.ContainsRune("nrtbf", at(i-1))
		next := at(end)
		if next == '.' {
			next = at(end + 1)
		}
		if !url && !escape && name(at(i-1), `_./~})]*…`) || name(next, "_-+@~%") {
			out.WriteRune(runes[i])
			continue
		}
		out.WriteString(to)
		i = end - 1
	}
	return out.String()
}

// naiveValue relocates the strings of a decoded JSON value.
func naiveValue(v any, from, to string) any {
	switch v := v.(type) {
	case string:
		return naive(v, from, to)
	case []any:
		for i := range v {
			v[i] = naiveValue(v[i], from, to)
		}
	case map[string]any:
		moved := make(map[string]any, len(v))
		for key, value := range v {
			moved[naive(key, from, to)] = naiveValue(value, from, to)
		}
		return moved
	}
	return v
}

func TestRelocationMatchesDecodedText(t *testing.T) {
	t.Parallel()
	const from, to = "/w/pröj", `/n/"new" \ö`
	pieces := rapid.SampledFrom([]string{
		from, from, "/", ".", "-", "_", " ", "\n", "\t", `\`, `"`, "n", "x", "é", "/w", "://", "~", "€", "}", "\u0001", "😀", "%", "&", "<", "…",
	})
	word := rapid.Map(rapid.SliceOfN(pieces, 0, 8), func(parts []string) string { return strings.Join(parts, "") })
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{"k": word.Draw(t, "string"), "K" + word.Draw(t, "key"): []any{word.Draw(t, "item"), 1.5, nil}}
		line := encode(value)
		if rapid.Bool().Draw(t, "html") {
			line, _ = json.Marshal(value)
		}
		if rapid.Bool().Draw(t, "ascii") {
			line = ascii(line)
		}
		got := transcript.NewPathMove(from, to).Text(bytes.Clone(line))
		var was, have any
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatalf("%s became %s: %v", line, got, err)
		}
		if err := json.Unmarshal(line, &was); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(naiveValue(was, from, to), have); diff != "" {
			t.Fatalf("%s became %s: %s", line, got, diff)
		}
		if !bytes.Contains(line, []byte("/w/pr")) && !bytes.Equal(line, got) {
			t.Fatalf("%s became %s", line, got)
		}
	})
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// ascii escapes characters of the basic plane that are not ASCII.
func ascii(line []byte) []byte {
	var out []byte
	for _, c := range string(line) {
		if c < 0x80 || c > 0xffff {
			out = append(out, string(c)...)
			continue
		}
		out = fmt.Appendf(out, `\u%04x`, c)
	}
	return out
}

func FuzzRelocation(f *testing.F) {
	f.Add(`{"cwd":"/a/b","x":["\/a\/b","/a/b/c\n","\\n/a/b"]}`, "/a/b", "/c")
	f.Add("{}", "/é", `/"`)
	f.Fuzz(func(t *testing.T, line, from, to string) {
		got := transcript.NewPathMove(from, to).Text([]byte(line))
		if json.Valid([]byte(line)) && !json.Valid(got) {
			t.Errorf("%q from %q to %q became %q", line, from, to, got)
		}
	})
}
