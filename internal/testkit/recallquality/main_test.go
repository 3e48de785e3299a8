package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/recall/brief"
)

// Nothing that a brief of a real session says is false.
func TestSamples(t *testing.T) {
	t.Parallel()
	samples := os.Getenv("ENTIRE_SAMPLES")
	if samples == "" {
		t.Skip("ENTIRE_SAMPLES names no folder of transcripts")
	}
	var out bytes.Buffer
	if err := run(&out, samples, ""); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func transcript() [][]byte {
	return [][]byte{
		[]byte(`{"type":"user","cwd":"/r","gitBranch":"main","message":{"content":"Please mend the parser of dates"}}`),
		[]byte(`{"type":"assistant","cwd":"/r","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"go test ./..."}}]}}`),
		[]byte(`{"type":"user","cwd":"/r","message":{"content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":"FAIL"}]}}`),
		[]byte(`{"type":"user","cwd":"/r","message":{"content":[{"type":"tool_result","tool_use_id":"2","content":"ok"}]},"toolUseResult":{"filePath":"/r/a.go","oldString":"b","newString":"c","originalFile":"a\nb\n","structuredPatch":[]}}`),
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	a := look(transcript())
	m := material(a, transcript())
	for text, want := range map[string]int{
		"**Current Task**: mend the parser\n":                                              0,
		"**Current Task**: mend the lexer\n":                                               1,
		"**Recent Commands** (latest first):\n- go test ./...: failed\n":                   0,
		"**Recent Commands** (latest first):\n- go test ./...: passed\n":                   1,
		"**Recent Commands** (latest first):\n- go vet ./...: failed\n":                    1,
		"**Working Files** (x):\n- a.go (modified)\n- b.go (modified)\n":                   1,
		"**Git Branch**: main, no commit yet\n":                                            0,
		"**Git Branch**: other, no commit yet\n":                                           1,
		"### a.go (modified, current)\n```go\na\nc\n```\n":                                 0,
		"### a.go (modified, current)\n```go\na\nb\n```\n":                                 1,
		"**Decisions Made**:\n- user: mend the parser\n- agent: we chose another parser\n": 1,
	} {
		r := result{brief: brief.Brief{Parts: []string{text}, Whole: []string{"a.go"}}}
		r.verify(a, m)
		if len(r.false) != want || r.claims == 0 {
			t.Errorf("%q: %d claims, false are %q", text, r.claims, r.false)
		}
	}
}

// A file is rebuilt from what the edits answered.
func TestApply(t *testing.T) {
	t.Parallel()
	text := "1\n2\n3\n"
	old := "no"
	for name, test := range map[string]struct {
		f    fileResult
		want string
		ok   bool
	}{
		"write":    {fileResult{Content: &text}, text, true},
		"patch":    {fileResult{Old: &old, Original: &text, Patch: []patch{{Start: 1, Lines: []string{" 1", "-2", "+two"}}}}, "1\ntwo\n3\n", true},
		"no match": {fileResult{Old: &old, Original: &text, Patch: []patch{{Start: 1, Lines: []string{"-9"}}}}, "", false},
		"beyond":   {fileResult{Old: &old, Original: &text, Patch: []patch{{Start: 99}}}, "", false},
		"nothing":  {fileResult{Old: &old}, "", false},
	} {
		if got, ok := test.f.apply(); got != test.want || ok != test.ok {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	if got := strings.Join(quotes("user: one two -> three four..."), "|"); got != "one two|three four" {
		t.Errorf("quotes: %q", got)
	}
}
