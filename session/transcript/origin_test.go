package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestOriginFindsTheRoot(t *testing.T) {
	t.Parallel()
	in := func(cwd string) string { return fmt.Sprintf(`{"type":"user","cwd":%q}`, cwd) }
	edit := func(cwd, path string) string {
		return fmt.Sprintf(`{"cwd":%q,"type":"assistant","message":{"content":[{"type":"tool_use","name":"Edit","input":{"file_path":%q}}]}}`, cwd, path)
	}
	tests := map[string]struct {
		slug    string
		touched []string
		lines   []string
		want    string
	}{
		"nothing known":           {lines: []string{`{"type":"mode"}`}},
		"where it began":          {lines: []string{`{"type":"mode"}`, in("/home/ada/proj"), in("/tmp/x")}, want: "/home/ada/proj"},
		"named by the directory":  {slug: "-home-ada-proj", lines: []string{in("/home/ada/proj/src/pkg")}, want: "/home/ada/proj"},
		"another directory":       {slug: "-other", lines: []string{in("/home/ada/proj")}, want: "/home/ada/proj"},
		"begun in a folder of it": {slug: "-home-ada-proj-web", touched: []string{"web/a.ts"}, lines: []string{in("/home/ada/proj/web"), edit("/home/ada/proj/web", "/home/ada/proj/web/a.ts")}, want: "/home/ada/proj"},
		"begun above it":          {touched: []string{"a.ts"}, lines: []string{in("/home/ada"), edit("/home/ada/proj", "/home/ada/proj/a.ts")}, want: "/home/ada/proj"},
		"an edit elsewhere":       {touched: []string{"a.ts"}, lines: []string{in("/home/ada/proj"), edit("/home/ada/proj", "/etc/a.ts")}, want: "/home/ada/proj"},
		"the longest known path":  {touched: []string{"a.ts", "x/a.ts"}, lines: []string{in("/p/x"), edit("/p/x", "/p/x/a.ts")}, want: "/p"},
		"a relative edit":         {touched: []string{"a.ts"}, lines: []string{in("/p/x"), edit("/p/x", "a.ts")}, want: "/p/x"},
		"another system's":        {lines: []string{in(`C:\Users\ada\proj`)}},
		"not clean":               {lines: []string{in("/p/../x")}},
		"too much":                {lines: []string{in("/home")}},
		"begun at home":           {slug: "-home-ada", lines: []string{in("/home/ada"), in("/home/ada/proj")}},
		"home is the project":     {touched: []string{".vimrc"}, lines: []string{in("/home/ada"), edit("/home/ada", "/home/ada/.vimrc")}, want: "/home/ada"},
		"no JSON":                 {lines: []string{"", "null", "[1]", `{"cwd":`, `{"cwd":7}`, in("/p/x")}, want: "/p/x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := transcript.NewOrigin(tt.slug, tt.touched)
			for _, line := range tt.lines {
				if o.AddLine([]byte(line)) {
					break
				}
			}
			if got := o.Root(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestSlugOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		".claude/projects/-home-ada-proj/s.jsonl": "-home-ada-proj", ".bashrc": "", "": "", "x/-p/s.jsonl": "",
	} {
		if got := transcript.SlugOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestLastTime(t *testing.T) {
	t.Parallel()
	const at = `{"timestamp":"2026-01-02T03:04:05Z"}`
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	long := strings.Repeat(`{"type":"mode"}`+"\n", 40_000)
	tests := map[string]struct {
		text string
		want time.Time
	}{
		"the last line":              {`{"timestamp":"2027-01-01T00:00:00Z"}` + "\n" + at + "\n", want},
		"one before":                 {at + "\n" + `{"type":"mode"}` + "\n\n", want},
		"far before":                 {at + "\n" + long, want},
		"book-keeping counts":        {`{"type":"queue-operation",` + at[1:], want},
		"a time within":              {`{"message":` + at + `}`, time.Time{}},
		"a cut line":                 {at + "\n" + `{"timestamp":"2027-01-01T00:00:00Z","x":`, want},
		"no time":                    {long, time.Time{}},
		"a time that is none":        {`{"timestamp":"yesterday"}`, time.Time{}},
		"empty":                      {"", time.Time{}},
		"no line end, nothing after": {at, want},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := transcript.LastTime([]byte(tt.text)); !got.Equal(tt.want) {
				t.Errorf("in memory: %v, want %v", got, tt.want)
			}
			path := filepath.Join(t.TempDir(), "s.jsonl")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := transcript.LastTimeIn(path); err != nil || !got.Equal(tt.want) {
				t.Errorf("in a file: %v %v, want %v", got, err, tt.want)
			}
		})
	}
}
