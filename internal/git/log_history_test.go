package git_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestOutsideAndLog(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		for _, m := range []string{"two", "three"} {
			s.Git(dir, "commit", "-q", "--allow-empty", "-m", m)
		}
		r := s.Open(dir)
		log := gittest.Must[[]git.Commit](t)(git.LastCommits(t.Context(), r, "main", 2))
		if len(log) != 2 || log[0].Message != "three\n" || log[1].Message != "two\n" || log[0].Parents[0] != log[1].OID {
			t.Fatalf("log %v", log)
		}
		gone := git.OID(strings.Repeat("1", r.Format.HexLen()))
		outside := gittest.Must[[]git.OID](t)(git.Unreachable(t.Context(), r, log[1].OID, []git.OID{log[0].OID, log[1].OID, log[1].Parents[0], gone}))
		if diff := cmp.Diff([]git.OID{log[0].OID}, outside); diff != "" {
			t.Error(diff)
		}
		if _, err := git.Unreachable(t.Context(), r, log[0].OID, []git.OID{"HEAD"}); err == nil {
			t.Error("no id, no error")
		}
		for _, rev := range []string{"", "--all", "nope"} {
			if _, err := git.LastCommits(t.Context(), r, rev, 1); err == nil {
				t.Errorf("Log(%q)", rev)
			}
		}
	})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	s.Git(dir, "config", "log.showSignature", "true")
	s.Git(dir, "commit", "-q", "--allow-empty", "-m", "one\n\nKey: a.c")
	s.Git(dir, "commit", "-q", "--allow-empty", "-m", "two\n\nKey: abc")
	s.Git(dir, "commit", "-q", "--allow-empty", "-m", "three")
	s.Git(dir, "commit", "-q", "--allow-empty", "-m", "four: Key: a.c")
	s.Git(dir, "reset", "-q", "--hard", "HEAD~1")
	r := s.Open(dir)
	got := gittest.Must[[]string](t)(git.MessagesContaining(t.Context(), r, "Key: a.c", "main"))
	if diff := cmp.Diff([]string{"one\n\nKey: a.c\n"}, got); diff != "" {
		t.Error(diff)
	}
	if got := gittest.Must[[]string](t)(git.MessagesContaining(t.Context(), r, "Key: a.c", "--all", "--reflog")); len(got) != 2 {
		t.Errorf("with reflogs %q", got)
	}
	if _, err := git.MessagesContaining(t.Context(), r, "x", "nope"); err == nil {
		t.Error("no such revision, no error")
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	got := gittest.Must[git.Signature](t)(git.Identity(t.Context(), s.Open(dir)))
	if got.String() != "C O Mitter <committer@example.com> 1700000100 -0230" {
		t.Errorf("got %s", got)
	}
	s.Git(dir, "config", "user.useConfigOnly", "true")
	s.Env = s.Anonymous()
	want := git.Signature{Name: "Unknown", Email: "unknown@local"}
	if diff := cmp.Diff(want, gittest.Must[git.Signature](t)(git.Identity(t.Context(), s.Open(dir)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestIdentityMatchesGit compares the identity with git's, which refuses some identities.
func TestIdentityMatchesGit(t *testing.T) {
	t.Parallel()
	const date = "GIT_COMMITTER_DATE=1700000100 -0230"
	tests := map[string]struct{ env, config []string }{
		"environment":         {env: []string{"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b"}},
		"settings":            {config: []string{"user.name", "A", "user.email", "a@b"}},
		"committer":           {config: []string{"user.name", "A", "user.email", "a@b", "committer.name", "C", "committer.email", "c@d"}},
		"both":                {env: []string{"GIT_COMMITTER_NAME=A"}, config: []string{"user.name", "N", "user.email", "n@m"}},
		"empty name":          {env: []string{"GIT_COMMITTER_NAME="}, config: []string{"user.name", "N", "user.email", "n@m"}},
		"empty address":       {env: []string{"GIT_COMMITTER_EMAIL="}, config: []string{"user.name", "N", "user.email", "n@m"}},
		"no letters":          {config: []string{"user.name", ".,;", "user.email", "n@m"}},
		"no address":          {config: []string{"user.name", "N"}},
		"only settings":       {config: []string{"user.name", "N", "user.useConfigOnly", "true"}},
		"EMAIL":               {env: []string{"EMAIL=e@f"}, config: []string{"user.name", "N"}},
		"wrong author's date": {env: []string{"GIT_AUTHOR_DATE=never"}, config: []string{"user.name", "A", "user.email", "a@b"}},
	}
	for name, tt := range testkit.ShortTable(tests, 4) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.New(t)
			dir := s.Init("r")
			for pair := range slices.Chunk(tt.config, 2) {
				s.Git(dir, "config", pair[0], pair[1])
			}
			s.Env = append(append(s.Anonymous(), date), tt.env...)
			want := git.Signature{Name: "Unknown", Email: "unknown@local"}
			if out, err := s.Try(dir, "", "var", "GIT_COMMITTER_IDENT"); err == nil {
				want = git.ParseSignature(strings.TrimSpace(out))
			}
			if diff := cmp.Diff(want, gittest.Must[git.Signature](t)(git.Identity(t.Context(), s.Open(dir)))); diff != "" {
				t.Errorf("(-git +ours):\n%s", diff)
			}
		})
	}
}

func TestAddTrailers(t *testing.T) {
	t.Parallel()
	const line = "Entire-Checkpoint: 0123456789ab"
	tests := map[string]struct{ in, want string }{
		"subject":          {"feat: x\n", "feat: x\n\n" + line + "\n"},
		"no newline":       {"feat: x", "feat: x\n\n" + line + "\n"},
		"body":             {"s\n\nbody: text\nmore\n", "s\n\nbody: text\nmore\n\n" + line + "\n"},
		"block":            {"s\n\nSigned-off-by: a\n", "s\n\nSigned-off-by: a\n" + line + "\n"},
		"there":            {"s\n\n" + line + "\nX-Y: z\n", "s\n\n" + line + "\nX-Y: z\n"},
		"another":          {"s\n\nEntire-Checkpoint: ffffffffffff\n", "s\n\nEntire-Checkpoint: ffffffffffff\n" + line + "\n"},
		"comments":         {"s\n\n# Please enter\n#\n", "s\n\n" + line + "\n\n# Please enter\n#\n"},
		"divider":          {"s\n\nbody\n---\nmore\n", "s\n\nbody\n---\nmore\n\n" + line + "\n"},
		"empty for editor": {"\n# Please enter\n", "\n\n" + line + "\n# Please enter\n"},
		"comments only":    {"# Please enter\n", "# Please enter\n\n" + line + "\n"},
		"empty":            {"", "\n\n" + line + "\n"},
		"newline":          {"\n", "\n\n" + line + "\n"},
	}
	s := gittest.New(t)
	dir := s.Init("r")
	s.Git(dir, "config", "trailer.separators", "=#")
	s.Git(dir, "config", "trailer.where", "start")
	r := s.Open(dir)
	for name, tt := range tests {
		got := gittest.Must[[]byte](t)(git.AddTrailers(t.Context(), r, []byte(tt.in), []string{line}))
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestIsPushed(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "two")
		s.Git(dir, "update-ref", "refs/remotes/other/topic", "HEAD")
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "three")
		r := s.Open(dir)
		for rev, want := range map[string]bool{"HEAD": false, "HEAD~1": true, "HEAD~2": true} {
			oid := git.OID(s.Git(dir, "rev-parse", rev))
			if got := gittest.Must[bool](t)(git.IsPushed(t.Context(), r, oid)); got != want {
				t.Errorf("%s: %v", rev, got)
			}
		}
		if _, err := git.IsPushed(t.Context(), r, git.OID(strings.Repeat("1", r.Format.HexLen()))); err == nil {
			t.Error("no error for a commit that is not there")
		}
	})
}
