package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/settings"
)

func TestApplyKeepsEveryOtherByte(t *testing.T) {
	t.Parallel()
	set := func(key string, v any) []settings.Change { return []settings.Change{{Key: key, Value: v}} }
	off := set("enabled", false)
	for name, c := range map[string]struct {
		before  string
		changes []settings.Change
		want    string
	}{
		"new file": {
			"",
			[]settings.Change{{Key: "strategy", Value: "manual-commit"}, {Key: "enabled", Value: true}},
			"{\n  \"strategy\": \"manual-commit\",\n  \"enabled\": true\n}\n",
		},
		"replace in place":   {`{"a": 1, "enabled" : true /* x */, "b": 2}`, off, `{"a": 1, "enabled" : false /* x */, "b": 2}`},
		"add on one line":    {`{"a": 1}`, off, `{"a": 1, "enabled": false}`},
		"add with tabs":      {"{\n\t\"a\": 1\n}\n", off, "{\n\t\"a\": 1,\n\t\"enabled\": false\n}\n"},
		"carriage returns":   {"{\r\n  \"a\": 1\r\n}\r\n", off, "{\r\n  \"a\": 1,\r\n  \"enabled\": false\r\n}\r\n"},
		"after a comment":    {"{\n  \"a\": 1 // one\n}", off, "{\n  \"a\": 1, // one\n  \"enabled\": false\n}"},
		"one line, comment":  {"{\"a\": 1 // one\n}", off, "{\"a\": 1, // one\n\"enabled\": false\n}"},
		"trailing comma":     {"{\n  \"a\": 1, // one\n}", off, "{\n  \"a\": 1, // one\n  \"enabled\": false,\n}"},
		"empty with comment": {"{ // nothing\n}\n", off, "{ // nothing\n  \"enabled\": false\n}\n"},
		"byte order mark":    {"\xef\xbb\xbf{}", off, "\xef\xbb\xbf{\n  \"enabled\": false\n}"},
		"of two the last":    {`{"enabled": true, "enabled": true}`, off, `{"enabled": true, "enabled": false}`},
		"nested, new": {
			"{\n  \"enabled\": true\n}\n", set(settings.KeyPushRemote, "origin"),
			"{\n  \"enabled\": true,\n  \"strategy_options\": {\n    \"push_remote\": \"origin\"\n  }\n}\n",
		},
		"nested, empty": {
			"{\n  \"strategy_options\": {}\n}\n", set(settings.KeySummarize, true),
			"{\n  \"strategy_options\": {\n    \"summarize\": {\n      \"enabled\": true\n    }\n  }\n}\n",
		},
		"remove first":  {`{"enabled": true, "a": 1}`, set("enabled", nil), `{"a": 1}`},
		"remove last":   {"{\n  \"a\": 1,\n  \"enabled\": true\n}", set("enabled", nil), "{\n  \"a\": 1\n}"},
		"remove only":   {`{"enabled": true,}`, set("enabled", nil), `{}`},
		"remove absent": {`{"a": 1}`, set("enabled", nil), `{"a": 1}`},
		"no change":     {`{"enabled":false}`, off, `{"enabled":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := settings.Apply([]byte(c.before), c.changes...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	before := `{"strategy_options": {"push_remote": "a"}, "x": 1}`
	after := `{"strategy_options": {"push_remote": "b"}, "x": 2, "enabled": true}`
	got, err := settings.Undo([]byte(after), []byte(before), settings.KeyPushRemote, settings.KeyEnabled)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"strategy_options": {"push_remote": "a"}, "x": 2}`; string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"damaged": `{"enabled": tru`, "no object": `[]`, "a value where keys are": `{"strategy_options": 1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "settings.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := settings.Edit(path, settings.Change{Key: settings.KeyPushRemote, Value: "x"}); err == nil {
				t.Error("no error")
			}
			if now, _ := os.ReadFile(path); string(now) != text {
				t.Errorf("became %s", now)
			}
		})
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	path := settings.ProjectFile(t.TempDir())
	for i, want := range []bool{true, false} {
		changed, err := settings.Edit(path, settings.Change{Key: "enabled", Value: true})
		if err != nil || changed != want {
			t.Errorf("%d: changed %v, %v", i, changed, err)
		}
	}
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Edit(link, settings.Change{Key: "enabled", Value: true}); err == nil {
		t.Error("wrote through a symbolic link")
	}
}
