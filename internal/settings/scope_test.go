package settings_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/settings"
)

// TestEveryKeyHasAScope fails for a new key without an entry in scopes: its author must decide
// which values a project, whose files anyone who can commit writes, may set.
func TestEveryKeyHasAScope(t *testing.T) {
	t.Parallel()
	keys, scoped := settings.Keys(), settings.ScopedKeys()
	slices.Sort(keys)
	slices.Sort(scoped)
	if d := cmp.Diff(keys, scoped); d != "" {
		t.Errorf("keys without a scope (-), scopes without a key (+):\n%s", d)
	}
}

// hostile lists values that a project's files may not set, and harmless values of the same key that
// they may set, empty if there are none.
var hostile = []struct{ key, value, harmless string }{
	{settings.KeyPushRemote, `"origin"`, ""},
	{settings.KeyPushRemote, `"https://example.com/loot"`, ""},
	{settings.KeyPushRemote, `"docs/evil"`, ""},
	{settings.KeySummarize, `true`, ""},
	{settings.KeyModelPass, `true`, ""},
	{settings.KeyStrategy, `"auto-commit"`, `"manual-commit"`},
	{"hooks.timeout", `"10m"`, `"10s"`},
	{"hooks.timeout", `"10ms"`, `"1s"`},
	{"hooks.lock_timeout", `"10001ms"`, `"10s"`},
	{"hooks.lock_timeout", `"999ms"`, `"1s"`},
	{settings.KeyCap, `"900T"`, `"1GiB"`},
	{settings.KeyCap, `"20481MiB"`, `"20GiB"`},
	{settings.KeyFreeFloor, `"2MiB"`, `"5GiB"`},
	{"recall.max_checkpoint_size", `"1GiB"`, `"10MiB"`},
	{"recall.max_file_size", `1048577`, `1048576`},
	{"recall.max_auto_summaries", `1000`, `10`},
}

// nested returns a settings file with one key.
func nested(key, value string) string {
	parts := strings.Split(key, ".")
	for _, part := range slices.Backward(parts) {
		name, err := json.Marshal(part)
		if err != nil {
			panic(err)
		}
		value = "{" + string(name) + ": " + value + "}"
	}
	return value
}

func value(t *testing.T, s settings.Settings, key string) settings.Value {
	t.Helper()
	for _, v := range s.Values() {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("no key %s", key)
	return settings.Value{}
}

func TestAttackProjectValues(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		for _, file := range []func(string) string{settings.ProjectFile, settings.LocalFile} {
			from := sources(t, nil)
			from.CommonDir = t.TempDir()
			path := file(from.Worktree)
			tracked := 0
			from.Tracked = func(root string) bool { tracked++; return root == from.Worktree }
			initial := value(t, settings.Load(from), c.key)
			put(t, path, nested(c.key, c.value))
			s := settings.Load(from)
			if got := value(t, s, c.key); cmp.Diff(initial, got) != "" {
				t.Errorf("%s of %s set %v", path, nested(c.key, c.value), got)
			}
			if len(s.Pending()) != 1 || s.Pending()[0].Key != c.key {
				t.Errorf("%s %s: proposals %v", path, c.key, s.Proposals)
				continue
			}

			// An approval covers only this value.
			if err := settings.Approve(from.CommonDir, s.Pending()[0]); err != nil {
				t.Fatal(err)
			}
			if s := settings.Load(from); len(s.Proposals) > 0 || value(t, s, c.key).Source.Layer != settings.Project {
				t.Errorf("%s: approved, and not in force", c.key)
			}
			other := settings.Proposal{Key: c.key, Value: "another"}
			if err := settings.Approve(from.CommonDir, other); err != nil {
				t.Fatal(err)
			}
			if s := settings.Load(from); len(s.Proposals) != 1 || cmp.Diff(initial, value(t, s, c.key)) != "" {
				t.Errorf("%s: in force by the approval of another value", c.key)
			}

			if c.harmless == "" {
				continue
			}
			put(t, path, nested(c.key, c.harmless))
			tracked = 0
			if s := settings.Load(from); len(s.Proposals) > 0 || value(t, s, c.key).Source.Layer == settings.Default {
				t.Errorf("%s: the project may set %s", c.key, c.harmless)
			}
			if tracked > 0 {
				t.Errorf("%s: git was asked about %s", c.key, c.harmless)
			}
		}
	}
}

// The same values are valid in the user's own layers.
func TestUserLayersMaySetAll(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		from := sources(t, nil)
		from.Tracked = func(string) bool { return false }
		put(t, settings.LocalFile(from.Worktree), nested(c.key, c.value))
		if s := settings.Load(from); len(s.Proposals)+len(s.Problems) > 0 || value(t, s, c.key).Source.Layer != settings.Local {
			t.Errorf("%s: %v %v", c.key, s.Proposals, s.Problems)
		}
	}
}

// An invalid value of the project doesn't override the user's own.
func TestAttackBadProjectValues(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		from := sources(t, nil)
		put(t, settings.UserFile(from), nested(c.key, c.value))
		put(t, settings.ProjectFile(from.Worktree), nested(c.key, `[]`))
		if s := settings.Load(from); len(s.Problems) != 1 || value(t, s, c.key).Source.Layer != settings.User {
			t.Errorf("%s: %v", c.key, s.Problems)
		}
	}
}

func TestAttackProposedRemotes(t *testing.T) {
	t.Parallel()
	for _, remote := range []string{
		"/tmp/x", "./docs/evil", "../x", "~/x", "file:///tmp/x", "FILE:///tmp/x", "ext::sh -c id", "fd::7", "git://h/x", "http://h/x",
		"ftp://h/x", "https://", "ssh://-oProxyCommand=id/x", "-oProxyCommand=id:x", "a@-oProxyCommand=id:x", "https::x",
	} {
		from := sources(t, nil)
		put(t, settings.ProjectFile(from.Worktree), nested(settings.KeyPushRemote, string(must(json.Marshal(remote)))))
		s := settings.Load(from)
		if len(s.Proposals) > 0 || len(s.Problems) != 1 || s.PushRemote != "" {
			t.Errorf("%s: proposals %v, problems %v", remote, s.Proposals, s.Problems)
		}
	}
	for _, remote := range []string{"origin", "https://h/x", "HTTPS://h/x", "ssh://git@h:22/x", "git@h:x.git", "host:x", "team/origin"} {
		from := sources(t, nil)
		put(t, settings.ProjectFile(from.Worktree), nested(settings.KeyPushRemote, string(must(json.Marshal(remote)))))
		if s := settings.Load(from); len(s.Proposals) != 1 || s.PushRemote != "" {
			t.Errorf("%s: %v", remote, s.Problems)
		}
	}
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

func TestDamagedApprovals(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"cut off": `{"version": 1, "approved": {"strategy": "auto-commit"`, "of a later version": `{"version": 2, "approved": {"strategy": "auto-commit"}}`,
		"empty": "", "no object": "[]",
	} {
		from := sources(t, nil)
		from.CommonDir = t.TempDir()
		put(t, settings.ProjectFile(from.Worktree), `{"strategy": "auto-commit"}`)
		put(t, settings.ApprovalsFile(from.CommonDir), text)
		if s := settings.Load(from); s.Strategy != settings.ManualCommit {
			t.Errorf("%s: %s", name, s.Strategy)
		}
		if err := settings.Approve(from.CommonDir, settings.Load(from).Proposals[0]); err != nil {
			t.Error(err)
		}
		if s := settings.Load(from); s.Strategy != settings.AutoCommit {
			t.Errorf("%s: approved, and %s", name, s.Strategy)
		}
		if info, err := os.Stat(settings.ApprovalsFile(from.CommonDir)); err != nil || info.Mode().Perm() != 0o640 && info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
}
