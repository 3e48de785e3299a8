package query_test

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// merged is a repository with the checkpoints of branches, which a server squashed into commits of main
// that name none. The commits of the branches don't exist.
type merged struct {
	w       *workspace.Workspace
	commits []git.Commit
}

const (
	branchLines = 20
	linesAt     = 1700000000
)

// newMerged imports a number of checkpoints, each of which added 20 lines to each of 3 files, and the
// commits of the last branches.
func newMerged(tb testing.TB, checkpoints, commits int) merged {
	tb.Helper()
	dir := tb.TempDir()
	repo, _ := testkit.NewRepo(tb, dir, "plain", testkit.CleanEnv(dir, dir, os.Getenv("PATH")))
	var in strings.Builder
	commit := func(ref, message string, at int, files map[string]string) {
		fmt.Fprintf(&in, "commit %s\ncommitter A <a@example.com> %d +0000\ndata %d\n%s\n", ref, at, len(message), message)
		for name, content := range files {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
		}
	}
	commit("refs/heads/squashed", "base", linesAt-1, nil)
	for n := range checkpoints {
		id := fmt.Sprintf("%012x", n*1_000_003)
		var files []checkpoint.FileAttribution
		contents := map[string]string{}
		for f := range 3 {
			var text strings.Builder
			var prints []uint32
			for line := range branchLines {
				one := fmt.Sprintf("value_%d_%d_%d = compute(%d)", n, f, line, n*line)
				text.WriteString(one + "\n")
				prints = append(prints, checkpoint.Print([]byte(one)))
			}
			path := fmt.Sprintf("dir%d/file%d.go", n%40, n*3+f)
			contents[path] = text.String()
			files = append(files, checkpoint.FileAttribution{
				Path: session.Path(path), AgentRanges: "1-20", Blob: git.OID(strings.Repeat("1", 40)), Prints: checkpoint.FormatPrints(prints),
			})
		}
		raw, err := checkpoint.Attribution{CalculatedAt: time.Unix(linesAt, 0), SessionLines: 60, Files: files}.Raw()
		must(tb, err)
		meta := testkit.Object{
			"checkpoint_id", id, "session_id", testkit.UUID(id), "created_at", time.Unix(int64(linesAt+n), 0).UTC().Format(time.RFC3339),
			"files_touched",
			[]string{},
			"agent", "Claude Code", "initial_attribution", raw,
		}
		base := id[:2] + "/" + id[2:]
		root := testkit.Object{
			"checkpoint_id", id, "files_touched",
			[]string{},
			"sessions",
			[]any{testkit.Object{"metadata", "/" + base + "/0/metadata.json"}},
		}
		commit(checkpoint.MetadataBranch, "Checkpoint: "+id, linesAt+n, map[string]string{
			base + "/metadata.json": root.JSON(), base + "/0/metadata.json": meta.JSON(),
		})
		if n >= checkpoints-commits {
			contents["dir/other.go"] = fmt.Sprintf("const other%d = 1\n", n)
			commit("refs/heads/squashed", "Squash", linesAt+n+100, contents)
		}
	}
	cmd := exec.CommandContext(tb.Context(), "git", "-C", repo.Dir, "fast-import", "--quiet")
	cmd.Env, cmd.Stdin = repo.Env, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	opened, err := git.Discover(git.Locate{Dir: repo.Dir, Environ: repo.Env})
	must(tb, err)
	tb.Cleanup(func() { must(tb, opened.Close()) })
	list, err := git.Commits(tb.Context(), opened, fmt.Sprintf("--max-count=%d", commits), "squashed", "--")
	must(tb, err)
	return merged{&workspace.Workspace{Repo: opened, Sessions: session.Open(opened.CommonDir), Redact: redact.New(), Log: slog.New(slog.DiscardHandler)}, list}
}

func (m merged) dropIndex(tb testing.TB) {
	tb.Helper()
	for _, name := range []string{"index.db", "index.stamp"} {
		must(tb, disk.Remove(filepath.Join(m.w.RecordsDir(), name)))
	}
}

func (m merged) links(tb testing.TB) map[git.OID][]query.DerivedLink {
	tb.Helper()
	links, err := query.DerivedLinks(tb.Context(), m.w, query.LinkOptions{}, m.commits)
	must(tb, err)
	if len(links) != len(m.commits) {
		tb.Fatalf("%d of %d commits have links", len(links), len(m.commits))
	}
	return links
}

// TestDerivedLinks checks that squashed commits are linked to the checkpoint whose lines they have, and
// to no other, and that the index returns the same.
func TestDerivedLinks(t *testing.T) {
	t.Parallel()
	m := newMerged(t, 30, 10)
	for range 2 {
		for i, c := range m.commits {
			got := m.links(t)[c.OID]
			want := checkpoint.ID(fmt.Sprintf("%012x", (29-i)*1_000_003))
			if len(got) != 1 || got[0] != (query.DerivedLink{Checkpoint: want, Lines: 3 * branchLines}) {
				t.Errorf("commit %d has %v, want %s", i, got, want)
			}
		}
	}
}

// TestDerivedLinksWithoutIndex checks that links are found while another process writes to the index.
func TestDerivedLinksWithoutIndex(t *testing.T) {
	t.Parallel()
	m := newMerged(t, 10, 5)
	writer, err := index.OpenWriter(t.Context(), index.At(m.w.RecordsDir()))
	must(t, err)
	m.links(t)
	must(t, writer.Close(t.Context(), nil))
	m.links(t)
}

// BenchmarkDerivedLinks finds the links of 100 commits in a repository with 2000 checkpoints, with the
// index and without.
func BenchmarkDerivedLinks(b *testing.B) {
	m := newMerged(b, 2000, 100)
	b.Run("indexed", func(b *testing.B) {
		m.links(b)
		for b.Loop() {
			m.links(b)
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			m.dropIndex(b)
			b.StartTimer()
			m.links(b)
		}
	})
}
