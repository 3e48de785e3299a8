package transcript_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestCheckPath(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	join := func(parts ...string) string { return filepath.Join(append([]string{base}, parts...)...) }
	dir := join("agent", "projects", "-p")
	for _, d := range []string{dir, join("agent", "projects", "-q"), join("agent", "projects", "-p", "dir.jsonl"), join("flat"), join("evil"), join("else", "where")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{join("agent", "projects", "-p", "s.jsonl"), join("evil", "x.jsonl"), join("evil", "secret"), join("agent", "settings.jsonl"), join("else", "where", "s.jsonl")} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		join("agent", "projects", "-p", "inner.jsonl"):   "s.jsonl",
		join("agent", "projects", "-p", "outer.jsonl"):   join("evil", "secret"),
		join("agent", "projects", "-p", "nowhere.jsonl"): join("evil", "later"),
		join("agent", "projects", "-p", "loop.jsonl"):    "loop.jsonl",
		join("agent", "projects", "-out"):                join("evil"),
		join("agent", "projects", "-mine"):               join("else", "where"),
		join("home"):                                     join("agent"),
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	p := join("agent", "projects")
	sep := string(filepath.Separator)
	tests := map[string]struct {
		path, dir string
		want      error
	}{
		"a session of the project":           {path: join("agent", "projects", "-p", "s.jsonl")},
		"one that is not there yet":          {path: join("agent", "projects", "-p", "new.jsonl")},
		"of a project that is not there yet": {path: join("agent", "projects", "-new", "new.jsonl")},
		"of another project":                 {path: join("agent", "projects", "-q", "s.jsonl")},
		"a subagent's":                       {path: join("agent", "projects", "-p", "s", "subagents", "agent-1.jsonl")},
		"through a linked home":              {path: join("home", "projects", "-p", "s.jsonl")},
		"a linked home as the directory":     {path: join("agent", "projects", "-p", "s.jsonl"), dir: join("home", "projects", "-p")},
		"a directory not there yet":          {path: join("new", "projects", "-p", "s.jsonl"), dir: join("new", "projects", "-p")},
		"a link inside":                      {path: join("agent", "projects", "-p", "inner.jsonl")},
		"the project's directory is a link":  {path: join("agent", "projects", "-mine", "s.jsonl"), dir: join("agent", "projects", "-mine")},
		"a directory not called projects":    {path: join("flat", "s.jsonl"), dir: join("flat")},
		"beside it":                          {path: join("evil", "x.jsonl"), dir: join("flat"), want: transcript.ErrOutside},
		"a link to the outside":              {path: join("agent", "projects", "-p", "outer.jsonl"), want: transcript.ErrOutside},
		"a link to nowhere":                  {path: join("agent", "projects", "-p", "nowhere.jsonl"), want: transcript.ErrOutside},
		"a link to itself":                   {path: join("agent", "projects", "-p", "loop.jsonl"), want: transcript.ErrOutside},
		"through a link to the outside":      {path: join("agent", "projects", "-out", "x.jsonl"), want: transcript.ErrOutside},
		"through it, not there yet":          {path: join("agent", "projects", "-out", "new.jsonl"), want: transcript.ErrOutside},
		"another place":                      {path: join("evil", "x.jsonl"), want: transcript.ErrOutside},
		"above the projects":                 {path: join("agent", "settings.jsonl"), want: transcript.ErrOutside},
		"a name that only begins alike":      {path: p + "-evil" + sep + "x.jsonl", want: transcript.ErrOutside},
		"up and away":                        {path: p + sep + ".." + sep + "settings.jsonl", want: transcript.ErrOutside},
		"up and back":                        {path: p + sep + "-p" + sep + ".." + sep + "-p" + sep + "s.jsonl", want: transcript.ErrOutside},
		"another kind of file":               {path: join("agent", "projects", "-p", "s.txt"), want: transcript.ErrOutside},
		"a document":                         {path: join("agent", "projects", "-p", "s.json"), want: transcript.ErrDocument},
		"no name":                            {path: join("agent", "projects", "-p", ".jsonl"), want: transcript.ErrOutside},
		"a relative path":                    {path: "s.jsonl", want: transcript.ErrOutside},
		"nothing":                            {want: transcript.ErrOutside},
		"a NUL byte":                         {path: join("agent", "projects", "-p") + sep + "s\x00.jsonl", want: transcript.ErrOutside},
		"below a file":                       {path: join("agent", "projects", "-p", "s.jsonl", "x.jsonl"), want: transcript.ErrOutside},
		"no directory known":                 {path: join("agent", "projects", "-p", "s.jsonl"), dir: ".", want: transcript.ErrOutside},
		"a directory":                        {path: join("agent", "projects", "-p", "dir.jsonl"), want: transcript.ErrNotRegular},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.dir == "" {
				tt.dir = dir
			}
			if err := transcript.CheckPath(tt.path, tt.dir); !errors.Is(err, tt.want) {
				t.Error(err)
			}
		})
	}
}
