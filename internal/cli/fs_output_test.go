package cli

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestShortSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0B", 1023: "1023B", 1024: "1K", 1536: "1.5K", 10240: "10K", 1<<20 - 1: "1M", 50 << 30: "50G", 3 << 29: "1.5G", 20 << 40: "20T",
	} {
		if got := shortSize(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestShortPath(t *testing.T) {
	t.Parallel()
	f := &fsApp{app: &app{Env: Env{Home: "/home/ada"}}}
	for path, want := range map[string]string{
		"/home/ada":           "~",
		"/home/ada/x":         "~/x",
		"/home/adam/x":        "/home/adam/x",
		"/srv/\x1b]0;evil\a":  `"/srv/\x1b]0;evil\a"`,
		"/srv/\xff":           `"/srv/\xff"`,
		"/srv/grün und blau/": "/srv/grün und blau/",
	} {
		if got := f.shortPath(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		19 * time.Millisecond: "19ms", 9999 * time.Millisecond: "9999ms", 12345 * time.Millisecond: "12.3s",
	} {
		if got := took(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestFSTableIsTheSeeds(t *testing.T) {
	t.Parallel()
	var table fsTable
	table.row("NAME", "SIZE", "MOUNTED", "CHECKPOINTS")
	table.row("myapp", "50G", "Yes", "47")
	table.row("oldproj", "20G", "No", "12")
	if d := cmp.Diff(`NAME      SIZE    MOUNTED    CHECKPOINTS
myapp     50G     Yes        47
oldproj   20G     No         12
`, table.String()); d != "" {
		t.Error(d)
	}
}

func TestClaudeHooks(t *testing.T) {
	t.Parallel()
	const ours = `{"type":"command","command":"agentfs checkpoint --auto 2>/dev/null || true","async":true,"timeout":30}`
	hooks := claudeHooks(nil)
	for name, c := range map[string]struct{ before, after string }{
		"nothing":      {``, `{"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`},
		"other keys":   {`{"model": "x"}`, `{"model":"x","hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`},
		"other events": {`{"hooks":{"Start":[]}}`, `{"hooks":{"Start":[],"Stop":[{"hooks":[` + ours + `]}]}}`},
		"ours":         {`{"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`, `{"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`},
	} {
		got, _, err := addClaudeHooks([]byte(c.before), hooks)
		if err != nil {
			t.Fatal(err)
		}
		var is, want any
		if err := json.Unmarshal(got, &is); err != nil { // no trailing commas
			t.Errorf("%s: %v\n%s", name, err, got)
		}
		if err := json.Unmarshal([]byte(c.after), &want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, is); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		again, _, err := addClaudeHooks(got, hooks)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: twice is not once: %v\n%s", name, err, again)
		}
	}
	for _, bad := range []string{`[]`, `{"hooks": 1}`, `{"hooks": {"Stop": {}}}`, `{`} {
		if _, _, err := addClaudeHooks([]byte(bad), hooks); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if got := claudeHooks([]string{"Edit", "mcp it's"})[2].Hooks[0].Command; got != `agentfs checkpoint --auto --agent claude-code --action 'mcp it'\''s' 2>/dev/null || true` {
		t.Error(got)
	}
}
