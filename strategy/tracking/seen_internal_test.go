package tracking

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
)

func TestRefspecsThatFetchCheckpoints(t *testing.T) {
	t.Parallel()
	for refspec, want := range map[string]bool{
		"+refs/heads/*:refs/remotes/origin/*":              true,
		"refs/heads/entire/*:refs/remotes/origin/entire/*": true,
		"+refs/*:refs/*": true,
		"refs/heads/entire/checkpoints/v1:refs/remotes/origin/entire/checkpoints/v1":  true,
		"+refs/heads/main:refs/remotes/origin/main":                                   false,
		"+refs/heads/topic/*:refs/remotes/origin/topic/*":                             false,
		"+refs/pull/*/head:refs/remotes/origin/pull/*":                                false,
		"refs/heads/entire/checkpoints/v10:refs/remotes/origin/entire/checkpoints/v1": false,
	} {
		if got := fetchesCheckpoints(refspec); got != want {
			t.Errorf("%s: %v, want %v", refspec, got, want)
		}
	}
}

func TestSeenCommitsSkipsOtherLines(t *testing.T) {
	t.Parallel()
	repo := &git.Repo{CommonDir: t.TempDir(), Format: git.SHA1}
	first, second := git.OID(strings.Repeat("a1", 20)), git.OID(strings.Repeat("b2", 20))
	if seen, err := SeenCommits(repo); err != nil || len(seen) > 0 {
		t.Fatalf("without a register: %v, %v", seen, err)
	}
	for _, oid := range []git.OID{first, second} {
		if err := MarkSeen(repo, oid); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(repo.CommonDir, "entire", "commits-seen")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := "\nx\n" + strings.ToUpper(string(first)) + "\n" + string(data) + string(first[:20])
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	seen, err := SeenCommits(repo)
	if err != nil || len(seen) != 2 || !seen[first] || !seen[second] {
		t.Errorf("%v, %v", seen, err)
	}
}

func BenchmarkMarkSeen(b *testing.B) {
	repo := &git.Repo{CommonDir: b.TempDir(), Format: git.SHA1}
	oid := git.OID(strings.Repeat("a1", 20))
	for b.Loop() {
		if err := MarkSeen(repo, oid); err != nil {
			b.Fatal(err)
		}
	}
}
