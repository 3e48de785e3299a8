package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

func seeds() []string {
	return []string{
		lines(asked("one"), used("t1", "Bash", `{"run_in_background":true}`), answered("t1", "", `,"toolUseResult":{"isAsync":true}`)),
		asked("one") + "\r\n\n" + used("t1", "Write", `{"file_path":"a\n\"b"}`),
		`{"type":"api-request","params":{"x":[1]},"tail":["x"]}`,
		`{"attachment":{"type":"skill_listing","x":["y"]},"type":"attachment"}`,
		`{"type":"assistant","message":{"id":"a","model":"m","content":[{"type":"text","text":"x"}],"usage":{"output_tokens":3}},"timestamp":"2026-01-02T03:04:05.678Z"}`,
		`{"type":"user","message":{"content":"<system-reminder>x</system-reminder>y"},"origin":{"kind":"human"}}`,
		"{\"type\":\"user\",\"x\":\"\\\\\\\"}\n\x00\xff{[",
	}
}

// FuzzRead checks that no file makes Read panic, that a second scan finds nothing more, and
// that two scans with a cut anywhere find the same as one scan.
func FuzzRead(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s), uint(len(s)/2))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, cut uint) {
		path := temporary(t, dir, data)
		all := scan(t, path, transcript.Cursor{})
		if all.Cursor.Offset > int64(len(data)) || all.Restarted || all.First != 0 {
			t.Fatalf("%+v", all)
		}
		if n := len(raw(t, path, 0, all.Cursor.Offset)); n != all.Cursor.Lines {
			t.Fatalf("%d raw lines, cursor says %d", n, all.Cursor.Lines)
		}
		again := scan(t, path, all.Cursor)
		if again.Restarted || again.Cursor != all.Cursor || again.Prompts != nil || again.LastTime != again.FirstTime || again.Bad > 0 {
			t.Fatalf("once more: %+v", again)
		}
		checkOracle(t, data, all)
		// Two objects on one line count as two only if a scan ended between them.
		if at := int(cut % uint(len(data)+1)); at == len(data) || at == 0 || !glued(data, at) {
			checkCut(t, temporary(t, dir, data[:at]), data[at:], all)
		}
	})
}

// temporary is like write, for thousands of files.
func temporary(t *testing.T, dir string, data []byte) string {
	t.Helper()
	f, err := os.CreateTemp(dir, "*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Error(err)
		}
	})
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// glued reports whether the data before the cut ends in an object without a newline of its own.
func glued(data []byte, at int) bool {
	line := data[bytes.LastIndexByte(data[:at], '\n')+1 : at]
	return json.Valid(line)
}

// checkCut reads the file, adds the rest and reads again from the cursor.
func checkCut(t *testing.T, path string, rest []byte, all transcript.Scan) {
	t.Helper()
	first := scan(t, path, transcript.Cursor{})
	at := first.Cursor.Offset
	extend(t, path, string(rest))
	second := scan(t, path, first.Cursor)
	if second.Cursor.Offset != all.Cursor.Offset || second.Cursor.Lines != all.Cursor.Lines || second.Cursor.Tail != all.Cursor.Tail {
		t.Fatalf("cut at %d: %+v, whole %+v", at, second.Cursor, all.Cursor)
	}
	if first.Bad+second.Bad != all.Bad {
		t.Fatalf("cut at %d: bad %d and %d, whole %d", at, first.Bad, second.Bad, all.Bad)
	}
	if diff := cmp.Diff(all.Prompts, slices.Concat(first.Prompts, second.Prompts)); diff != "" {
		t.Fatalf("cut at %d: %s", at, diff)
	}
}

// checkOracle compares the scan with the standard library where possible: each valid object is
// read, and edits without results are found.
func checkOracle(t *testing.T, data []byte, all transcript.Scan) {
	t.Helper()
	broken := 0
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if len(bytes.Trim(line, " \t\r")) > 0 && (!json.Valid(line) || bytes.Trim(line, " \t\r")[0] != '{') {
			broken++
		}
	}
	if all.Bad > broken {
		t.Fatalf("%d bad lines of %d broken ones", all.Bad, broken)
	}
}

// FuzzStored checks that a valid line stays valid and keeps its envelope, and that a replaced
// line is not replaced again.
func FuzzStored(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got := transcript.Stored(line)
		if len(got) > len(line) {
			t.Fatalf("longer: %s", got)
		}
		if again := transcript.Stored(got); !bytes.Equal(again, got) {
			t.Fatalf("%s became %s", got, again)
		}
		if !json.Valid(line) {
			return
		}
		var was, is struct {
			Type, UUID, ParentUUID any
			Attachment             struct{ Type any }
		}
		errWas, errIs := json.Unmarshal(line, &was), json.Unmarshal(got, &is)
		if (errWas == nil) != (errIs == nil) {
			t.Fatalf("%s became %s: %v", line, got, errIs)
		}
	})
}
