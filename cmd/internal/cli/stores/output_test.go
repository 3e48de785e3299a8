package stores

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

func TestShortPath(t *testing.T) {
	t.Parallel()
	f := &Command{App: &app.App{Env: app.Env{Home: "/home/ada"}}}
	for path, want := range map[string]string{
		"/home/ada":           "~",
		"/home/ada/x":         "~/x",
		"/home/adam/x":        "/home/adam/x",
		"/srv/\x1b]0;evil\a":  `"/srv/\x1b]0;evil\a"`,
		"/srv/\xff":           `"/srv/\xff"`,
		"/srv/grün und blau/": "/srv/grün und blau/",
	} {
		if got := f.ShortPath(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

func TestFSTableMatchesSeed(t *testing.T) {
	t.Parallel()
	table := NewTable("")
	table.AddRow("NAME", "SIZE", "MOUNTED", "CHECKPOINTS")
	table.AddRow("myapp", "50G", "Yes", "47")
	table.AddRow("oldproj", "20G", "No", "12")
	if d := cmp.Diff(`NAME      SIZE    MOUNTED    CHECKPOINTS
myapp     50G     Yes        47
oldproj   20G     No         12
`, table.String()); d != "" {
		t.Error(d)
	}
}
