package transcript_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestReadResumesAtCursor(t *testing.T) {
	t.Parallel()
	path := write(t, lines(asked("one"), used("t1", "Bash", `{}`), used("t2", "Read", `{}`)))
	first := scan(t, path, transcript.Cursor{})
	if again := scan(t, path, first.Cursor); again.Restarted || again.Cursor != first.Cursor || again.Prompts != nil || again.First != 3 {
		t.Errorf("nothing new: %+v", again)
	}
	extend(t, path, lines(answered("t1", "", ""), answered("t2", "", ""), asked("two")))
	second := scan(t, path, first.Cursor)
	when := time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC)
	if diff := cmp.Diff(map[string]time.Time{"t1": when, "t2": when}, second.Closed); diff != "" {
		t.Error(diff)
	}
	if second.Restarted || second.First != 3 || second.Cursor.Lines != 6 || second.Prompts[0].Line != 5 {
		t.Errorf("%+v", second)
	}
}

func TestReadLeavesBackgroundCallsOfEarlierScansOpen(t *testing.T) {
	t.Parallel()
	path := write(t, lines(used("t1", "Bash", `{}`)))
	first := scan(t, path, transcript.Cursor{})
	extend(t, path, lines(answered("t1", "", `,"toolUseResult":{"backgroundTaskId":"b"}`)))
	if got := scan(t, path, first.Cursor); got.Closed != nil {
		t.Error(got.Closed)
	}
}

func TestReadLastLine(t *testing.T) {
	t.Parallel()
	whole := asked("two")
	tests := map[string]struct {
		first, more   string
		lines         int // of the first scan
		before, after []string
		total         int // lines in the end
	}{
		"a cut line waits":               {first: lines(asked("one")) + whole[:40], more: whole[40:] + "\n", lines: 1, before: []string{"one"}, after: []string{"two"}, total: 2},
		"a line cut in a rune":           {first: lines(asked("one")) + "{\"a\":\"\xc3", more: "\xbc\"}\n", lines: 1, before: []string{"one"}, total: 2},
		"a whole one without newline":    {first: lines(asked("one")) + whole, more: "\n" + lines(asked("three")), lines: 2, before: []string{"one", "two"}, after: []string{"three"}, total: 3},
		"a whole one, newline as CRLF":   {first: asked("one"), more: "\r\n" + asked("two") + "\r\n", lines: 1, before: []string{"one"}, after: []string{"two"}, total: 2},
		"a whole one and nothing more":   {first: asked("one"), lines: 1, before: []string{"one"}, total: 1},
		"its newline alone":              {first: asked("one"), more: "\n", lines: 1, before: []string{"one"}, total: 1},
		"the next one without a newline": {first: asked("one"), more: asked("two") + "\n", lines: 1, before: []string{"one"}, after: []string{"two"}, total: 2},
		"CRLF":                           {first: asked("one") + "\r\n", more: asked("two") + "\r\n", lines: 1, before: []string{"one"}, after: []string{"two"}, total: 2},
		"empty lines in the middle":      {first: asked("one") + "\n\n \r\n" + asked("two") + "\n", lines: 4, before: []string{"one", "two"}, total: 4},
		"empty lines at the end":         {first: asked("one") + "\n\n\n", more: "\n" + asked("two") + "\n\n", lines: 1, before: []string{"one"}, after: []string{"two"}, total: 5},
		"nothing but empty lines":        {first: "\n\n", more: asked("one"), after: []string{"one"}, total: 3},
		"an empty file":                  {more: asked("one"), after: []string{"one"}, total: 1},
		"NUL bytes at the end":           {first: asked("one") + "\n\x00\x00", lines: 1, before: []string{"one"}, total: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, tt.first)
			first := scan(t, path, transcript.Cursor{})
			if diff := cmp.Diff(tt.before, texts(first)); diff != "" || first.Cursor.Lines != tt.lines {
				t.Errorf("first scan: %d lines %s", first.Cursor.Lines, diff)
			}
			extend(t, path, tt.more)
			second := scan(t, path, first.Cursor)
			if diff := cmp.Diff(tt.after, texts(second)); diff != "" || second.Cursor.Lines != tt.total || second.Bad > 0 || second.Restarted {
				t.Errorf("second scan: %+v %s", second, diff)
			}
			if got := raw(t, path, 0, first.Cursor.Offset); len(got) != first.Cursor.Lines {
				t.Errorf("%d raw lines %q", len(got), got)
			}
			if got := raw(t, path, first.Cursor.Offset, second.Cursor.Offset); len(got) != tt.total-tt.lines {
				t.Errorf("%d new raw lines %q", len(got), got)
			}
		})
	}
}

func TestReadRestarts(t *testing.T) {
	t.Parallel()
	text := lines(asked("one"), asked("two"))
	replace := func(with string) func(testing.TB, string) {
		return func(tb testing.TB, path string) {
			tb.Helper()
			if err := os.WriteFile(path+".new", []byte(with), 0o600); err != nil {
				tb.Fatal(err)
			}
			if err := os.Rename(path+".new", path); err != nil {
				tb.Fatal(err)
			}
		}
	}
	overwrite := func(with string) func(testing.TB, string) {
		return func(tb testing.TB, path string) {
			tb.Helper()
			if err := os.WriteFile(path, []byte(with), 0o600); err != nil {
				tb.Fatal(err)
			}
		}
	}
	tests := map[string]struct {
		change func(testing.TB, string)
		want   []string
		anew   bool
	}{
		"left alone":               {change: func(testing.TB, string) {}},
		"another file, same bytes": {change: replace(text), want: []string{"one", "two"}, anew: true},
		"shrunk":                   {change: overwrite(lines(asked("one"))), want: []string{"one"}, anew: true},
		"emptied":                  {change: overwrite(""), anew: true},
		"rewritten, same size":     {change: overwrite(lines(asked("one"), asked("owt"))), want: []string{"one", "owt"}, anew: true},
		"rewritten and longer":     {change: overwrite(lines(asked("zero"), asked("one"), asked("two"))), want: []string{"zero", "one", "two"}, anew: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, text)
			first := scan(t, path, transcript.Cursor{})
			tt.change(t, path)
			got := scan(t, path, first.Cursor)
			if diff := cmp.Diff(tt.want, texts(got)); diff != "" || got.Restarted != tt.anew || tt.anew && got.First != 0 {
				t.Errorf("restarted %t, first %d %s", got.Restarted, got.First, diff)
			}
			if next := scan(t, path, got.Cursor); next.Restarted || next.Prompts != nil {
				t.Errorf("then %+v", next)
			}
		})
	}
}

func TestReadRejectsInvalidCursor(t *testing.T) {
	t.Parallel()
	path := write(t, lines(asked("one"), asked("two")))
	good := scan(t, path, transcript.Cursor{}).Cursor
	for name, spoil := range map[string]func(*transcript.Cursor){
		"a negative offset": func(c *transcript.Cursor) { c.Offset = -1 },
		"another offset":    func(c *transcript.Cursor) { c.Offset-- },
		"negative lines":    func(c *transcript.Cursor) { c.Lines = -1 },
		"no tail":           func(c *transcript.Cursor) { c.Tail = "" },
		"another device":    func(c *transcript.Cursor) { c.Device++ },
		"another inode":     func(c *transcript.Cursor) { c.Inode++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := good
			spoil(&from)
			if got := scan(t, path, from); !got.Restarted || got.Cursor != good || len(got.Prompts) != 2 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestCursorFieldNames(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(transcript.Cursor{Offset: 1, Lines: 2, Device: 3, Inode: 4, Tail: "5"})
	if want := `{"offset":1,"lines":2,"device":3,"inode":4,"tail":"5"}`; string(got) != want || err != nil {
		t.Error(string(got), err)
	}
	got, err = json.Marshal(transcript.Usage{Input: 1, CacheCreation: 2, CacheRead: 3, Output: 4})
	if want := `{"input_tokens":1,"cache_creation_tokens":2,"cache_read_tokens":3,"output_tokens":4}`; string(got) != want || err != nil {
		t.Error(string(got), err)
	}
}

func TestReadInTwoSteps(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "a read for each byte")
	text := lines(asked("ä one"), "", used("t1", "Write", `{"file_path":"a"}`), "no json", answered("t1", "", ""), asked("two"), "  ", asked("three"))
	for cut := range len(text) {
		path := write(t, text[:cut])
		first := scan(t, path, transcript.Cursor{})
		extend(t, path, text[cut:])
		second := scan(t, path, first.Cursor)
		got := slices.Concat(texts(first), paths(first), texts(second), paths(second))
		slices.Sort(got)
		if diff := cmp.Diff([]string{"a", "three", "two", "ä one"}, got); diff != "" || second.Cursor.Lines != 8 || second.Restarted {
			t.Errorf("cut at %d: %d lines %s", cut, second.Cursor.Lines, diff)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	text := "a\n\nbb\r\n" + long + "\n" + long + "y\nend"
	path := write(t, text)
	var at []int64
	err := transcript.Lines(t.Context(), path, 0, int64(len(text)), func(_ []byte, end int64) error {
		at = append(at, end)
		return nil
	})
	size := int64(len(text))
	if diff := cmp.Diff([]int64{2, 3, 7, 7 + 3<<20 + 1, size - 3, size}, at); diff != "" || err != nil {
		t.Error(err, diff)
	}
	got := raw(t, path, 0, size)
	if diff := cmp.Diff([]string{"a", "", "bb\r", long, long + "y", "end"}, got); diff != "" {
		t.Error(diff[:min(len(diff), 1000)])
	}
	if diff := cmp.Diff([]string{"", "bb\r"}, raw(t, path, 2, 7)); diff != "" {
		t.Error(diff)
	}
}

func TestLinesFails(t *testing.T) {
	t.Parallel()
	path := write(t, "a\nb\n")
	stop := errors.New("stop")
	tests := map[string]struct {
		from, to int64
		yield    func([]byte, int64) error
		want     error
	}{
		"yield's own error":   {to: 4, yield: func([]byte, int64) error { return stop }, want: stop},
		"a file too short":    {to: 5, want: io.ErrUnexpectedEOF},
		"from beyond the end": {from: 9, to: 9},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.yield == nil {
				tt.yield = func([]byte, int64) error { return nil }
			}
			if err := transcript.Lines(t.Context(), path, tt.from, tt.to, tt.yield); !errors.Is(err, tt.want) {
				t.Error(err)
			}
		})
	}
	if err := transcript.Lines(t.Context(), path, 3, 2, nil); err == nil {
		t.Error("a range backwards was read")
	}
}

// raw collects the lines of a range.
func raw(tb testing.TB, path string, from, to int64) []string {
	tb.Helper()
	var out []string
	err := transcript.Lines(tb.Context(), path, from, to, func(line []byte, _ int64) error {
		out = append(out, string(line))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
