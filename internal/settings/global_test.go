package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/settings"
)

// TestActivation: the layers of the repository stand above the machine's, exclusions above what a clone
// brings, and what can't be used turns recording off.
func TestActivation(t *testing.T) {
	t.Parallel()
	const on, out = `{"global": {"enabled": true}}`, `{"global": {"enabled": true, "exclude_paths": ["/**/work"]}}`
	type answer = settings.Activation
	excluded := func(level settings.Level) answer {
		return answer{Level: level, Reason: settings.Excluded, By: "/**/work"}
	}
	for name, c := range map[string]struct {
		place place
		want  answer
	}{
		"nothing":                     {place{}, answer{Level: settings.NoLevel, Reason: settings.NotEnabled}},
		"the machine":                 {place{user: on}, answer{On: true, Level: settings.Machine}},
		"the machine's is off":        {place{user: `{"global": {"enabled": false}}`}, answer{Level: settings.NoLevel, Reason: settings.NotEnabled}},
		"a project":                   {place{user: on, project: `{}`}, answer{On: true, Level: settings.Repository}},
		"a marker":                    {place{user: on, marker: true}, answer{On: true, Level: settings.Marker}},
		"a project's veto":            {place{user: on, project: `{"enabled": false}`}, answer{Level: settings.Repository, Reason: settings.Vetoed, By: "work/.entire/settings.json"}},
		"a personal veto":             {place{user: on, local: `{"enabled": false}`}, answer{Level: settings.Repository, Reason: settings.Vetoed, By: "work/.entire/settings.local.json"}},
		"the clone's veto":            {place{user: on, clone: `{"enabled": false}`}, answer{Level: settings.Machine, Reason: settings.Vetoed, By: "git/entire/settings.json"}},
		"the clone's alone":           {place{clone: `{"enabled": true}`}, answer{Level: settings.NoLevel, Reason: settings.NotEnabled}},
		"the user's veto":             {place{user: `{"enabled": false, "global": {"enabled": true}}`}, answer{Level: settings.Machine, Reason: settings.Vetoed, By: "home/.config/entire/settings.json"}},
		"the environment's veto":      {place{user: on, env: map[string]string{"ENTIRE_ENABLED": "false"}}, answer{Level: settings.Machine, Reason: settings.Vetoed, By: "ENTIRE_ENABLED"}},
		"personal, of another key":    {place{user: on, local: `{"log_level": "warn"}`}, answer{On: true, Level: settings.Machine}},
		"excluded":                    {place{user: out}, excluded(settings.Machine)},
		"excluded project":            {place{user: out, project: `{"enabled": true}`}, excluded(settings.Repository)},
		"excluded marker":             {place{user: out, marker: true}, excluded(settings.Marker)},
		"excluded, enabled personal":  {place{user: out, local: `{"enabled": true}`}, answer{On: true, Level: settings.Repository}},
		"excluded, brought personal":  {place{user: out, local: `{"enabled": true}`, tracked: true}, excluded(settings.Repository)},
		"excluded, enabled clone":     {place{user: out, clone: `{"enabled": true}`}, answer{On: true, Level: settings.Machine}},
		"excluded, the machine's off": {place{user: `{"global": {"exclude_paths": ["/**/work"]}}`, marker: true}, answer{On: true, Level: settings.Marker}},
		"main worktree excluded":      {place{user: `{"global": {"enabled": true, "exclude_paths_exact": ["/nowhere"], "exclude_paths": ["/**/main"]}}`}, answer{Level: settings.Machine, Reason: settings.Excluded, By: "/**/main"}},
		"origin excluded":             {place{user: `{"global": {"enabled": true, "exclude_origins": ["github.com/acme"]}}`, origins: []string{"git@github.com:Acme/x.git"}}, answer{Level: settings.Machine, Reason: settings.Excluded, By: "github.com/acme"}},
		"another origin":              {place{user: `{"global": {"enabled": true, "exclude_origins": ["github.com/acme"]}}`, origins: []string{"git@github.com:acme2/x.git"}}, answer{On: true, Level: settings.Machine}},
		"bad list":                    {place{user: `{"global": {"enabled": true, "exclude_paths": ["work"]}}`}, answer{Level: settings.Machine, Reason: settings.Unusable, By: settings.KeyExcludePaths}},
		"bad list, project":           {place{user: `{"global": {"enabled": true, "exclude_origins": 7}}`, project: "{}"}, answer{Level: settings.Repository, Reason: settings.Unusable, By: settings.KeyExcludeOrigins}},
		"bad value":                   {place{user: `{"global": {"enabled": "yes"}}`}, answer{Level: settings.NoLevel, Reason: settings.Unusable, By: settings.KeyGlobal}},
		"unknown key":                 {place{user: `{"global": {"enabled": true, "only": []}}`}, answer{Level: settings.NoLevel, Reason: settings.Unusable, By: "global.only"}},
		"unknown key, project":        {place{user: `{"global": {"enabled": true, "only": []}}`, project: "{}"}, answer{On: true, Level: settings.Repository}},
		"not JSON":                    {place{user: `{"global": {"enabled": true}`}, answer{Level: settings.NoLevel, Reason: settings.NotEnabled}},
		"beside the block":            {place{user: `{"global": {"enabled": true}, "exclude_paths": ["/**/work"]}`}, answer{On: true, Level: settings.Machine}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.place.load(t)
			if d := cmp.Diff(c.want, s.Activation); d != "" || s.Enabled != c.want.On {
				t.Error(d, s.Enabled)
			}
		})
	}
}

// TestGlobalCountsOnlyInTheUsersFile: a project, a clone's file and the environment can't set the block.
func TestGlobalCountsOnlyInTheUsersFile(t *testing.T) {
	t.Parallel()
	const all = `{"global": {"enabled": true, "trust_all": true, "trusted_origins": ["a.b/c/d"]}}`
	s := place{project: all, local: all, clone: all, env: map[string]string{"ENTIRE_GLOBAL_ENABLED": "true", "ENTIRE_GLOBAL_TRUST_ALL": "true"}}.load(t)
	if d := cmp.Diff(settings.Global{}, s.Global); d != "" || len(s.Proposals) > 0 {
		t.Error(d, s.Proposals)
	}
	s = place{user: all}.load(t)
	if d := cmp.Diff(settings.Global{Enabled: true, TrustAll: true, TrustedOrigins: []string{"a.b/c/d"}}, s.Global); d != "" {
		t.Error(d)
	}
}

// TestExcludePatterns: which roots a pattern leaves out.
func TestExcludePatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, root string
		want          bool
	}{
		{"~/work", "/home/u/work", true},
		{"~/work", "/home/u/work/a/b", true},
		{"~/work/", "/home/u/work/a", true},
		{"~/work", "/home/u/workshop", false},
		{"~", "/home/u/x", true},
		{"~", "/home/other", false},
		{"~/work/*", "/home/u/work", false},
		{"~/work/*", "/home/u/work/a/b", true},
		{"~/work/**", "/home/u/work", true},
		{"~/work/**/secret", "/home/u/work/secret", true},
		{"~/work/**/secret", "/home/u/work/a/b/secret/c", true},
		{"~/work/**/secret", "/home/u/work/a/secrets", false},
		{"/home/u/{a,b}*", "/home/u/bc", true},
		{"/home/u/{a,b}*", "/home/u/cb", false},
		{"/home/u/{a,{b,c}/d}", "/home/u/c/d", true},
		{"/home/u/[xy]", "/home/u/y", true},
		{"/home/u/?", "/home/u/yy", false},
		{`/home/u/\*`, "/home/u/*", true},
		{`/home/u/\*`, "/home/u/a", false},
		{"/", "/anything", true},
		{"/home/u/./x/../y", "/home/u/y", true},
	} {
		if got := settings.MatchesPath(c.pattern, c.root, "/home/u"); got != c.want {
			t.Errorf("%s, %s: %t", c.pattern, c.root, got)
		}
	}
}

// TestExcludePatternFollowsLinks: a root has no links, a pattern may.
func TestExcludePatternFollowsLinks(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.MkdirAll(filepath.Join(dir, "real", "a"), 0o755), os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "short"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !settings.MatchesPath(filepath.Join(dir, "short", "a*"), filepath.Join(dir, "real", "a"), "") {
		t.Error("not matched through the link")
	}
}

// TestOriginKey: one remote has one key, in whichever form its URL is.
func TestOriginKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, want string }{
		{"https://github.com/Acme/Widgets.git", "github.com/acme/widgets"},
		{"https://user:token@github.com:443/acme/widgets/", "github.com/acme/widgets"},
		{"ssh://git@github.com/acme/widgets", "github.com/acme/widgets"},
		{"ssh://git@github.com:2222/acme/widgets.git", "github.com/acme/widgets"},
		{"git@github.com:acme/widgets.git", "github.com/acme/widgets"},
		{"github.com:acme/widgets", "github.com/acme/widgets"},
		{"git@github.com:/acme/widgets", "github.com/acme/widgets"},
		{"git://github.com/acme/widgets", "github.com/acme/widgets"},
		{"https://gitlab.com/group/sub/repo.git", "gitlab.com/group/sub/repo"},
		{"git@[::1]:acme/widgets", ""},
		{"https://github.com/../acme/widgets", "github.com/acme/widgets"},
		{"https://github.com", ""},
		{"https://%zz/a", ""},
		{"ext::sh -c x", ""},
		{"s3://bucket/x", ""},
		{"/srv/git/x.git", "/srv/git/x.git"},
		{"file:///srv/git/x.git", "/srv/git/x.git"},
		{"../x", "/work/x"},
		{"github.com/acme/widgets", "/work/r/github.com/acme/widgets"},
		{"", ""},
	} {
		if got := settings.OriginKey(c.url, "/work/r"); got != c.want {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
	if got := settings.OriginKey("github.com/Acme/widgets", ""); got != "github.com/acme/widgets" {
		t.Errorf("an entry: %q", got)
	}
}

// TestTrusts: every URL has to be trusted, and a remote that git doesn't know by its own entry.
func TestTrusts(t *testing.T) {
	t.Parallel()
	const a, b = "https://github.com/acme/a", "git@gitea:acme/b"
	for name, c := range map[string]struct {
		global     settings.Global
		urls       []string
		configured bool
		want       bool
	}{
		"nothing":             {settings.Global{}, []string{a}, true, false},
		"all":                 {settings.Global{TrustAll: true}, []string{a}, true, true},
		"all, a URL":          {settings.Global{TrustAll: true}, []string{a}, false, false},
		"by key":              {settings.Global{TrustedOrigins: []string{"github.com/acme/a"}}, []string{a}, false, true},
		"by URL":              {settings.Global{TrustedOrigins: []string{"git@github.com:acme/a.git"}}, []string{a}, true, true},
		"by key without dots": {settings.Global{TrustedOrigins: []string{"gitea/acme/b"}}, []string{b}, true, true},
		"one of two":          {settings.Global{TrustedOrigins: []string{"gitea/acme/b"}}, []string{b, a}, true, false},
		"no patterns":         {settings.Global{TrustedOrigins: []string{"github.com/acme/*", "github.com/acme"}}, []string{a}, true, false},
		"by path":             {settings.Global{TrustedPaths: []string{"/work/r"}}, []string{"ext::x"}, true, true},
		"by path, a URL":      {settings.Global{TrustedPaths: []string{"/work/r"}}, []string{a}, false, false},
		"no path below":       {settings.Global{TrustedPaths: []string{"/work"}}, []string{a}, true, false},
	} {
		if got := c.global.Trusts(c.urls, []string{"/work/r"}, "/home/u", c.configured); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestExclusionKey: the list that a pattern of --exclude is added to.
func TestExclusionKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, key, entry string }{
		{"~/work/**", settings.KeyExcludePaths, "~/work/**"},
		{"/srv/*", settings.KeyExcludePaths, "/srv/*"},
		{".", settings.KeyExcludePaths, "/here"},
		{"../x", settings.KeyExcludePaths, "/x"},
		{"=~", settings.KeyExcludePathsExact, "~"},
		{"=.", settings.KeyExcludePathsExact, "/here"},
		{"github.com/acme/*", settings.KeyExcludeOrigins, "github.com/acme/*"},
		{"git@github.com:Acme/x.git", settings.KeyExcludeOrigins, "github.com/acme/x"},
		{"https://github.com/acme/x", settings.KeyExcludeOrigins, "github.com/acme/x"},
		{"github.com/acme", settings.KeyExcludeOrigins, "github.com/acme"},
		{"git@github.com:Acme/*", settings.KeyExcludeOrigins, "github.com/acme/*"},
		{"https://user@github.com:8443/{a,b}/**", settings.KeyExcludeOrigins, "github.com/{a,b}/**"},
		{"ssh://git@*.example.com/x?.git", settings.KeyExcludeOrigins, "*.example.com/x?"},
		{"**/private-*", settings.KeyExcludeOrigins, "**/private-*"},
		{"gitea/acme", settings.KeyExcludeOrigins, "gitea/acme"},
		{"work", "", ""},
		{"=work", "", ""},
		{"~/[a", "", ""},
		{"~/{a", "", ""},
		{"", "", ""},
	} {
		key, entry, err := settings.ExclusionKey(c.pattern, "/here")
		if c.key == "" && err == nil || c.key != "" && (err != nil || key != c.key || entry != c.entry) {
			t.Errorf("%s: %s, %q, %v", c.pattern, key, entry, err)
		}
	}
}

// FuzzExclude: patterns and URLs of any kind end in an answer.
func FuzzExclude(f *testing.F) {
	f.Add("~/{a,{b,c}}/**/[x-z]*", "git@github.com:a/b.git")
	f.Add("{,{,{,{,{,{,{,{,{,}}}}}}}}}", "https://[::1]:0/..")
	f.Fuzz(func(_ *testing.T, pattern, url string) {
		key, _, err := settings.ExclusionKey(pattern, "/here")
		if err == nil && key == settings.KeyExcludePaths {
			settings.MatchesPath(pattern, "/home/u/work/a", "/home/u")
		}
		settings.OriginKey(url, "/work/r")
	})
}
