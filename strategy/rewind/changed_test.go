package rewind_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

func TestChangedOfCommitsAndShadowCommits(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("w")
	commit := func(files ...string) git.OID {
		t.Helper()
		for _, name := range files {
			s.Write(dir, name, strings.Join(files, " "))
		}
		s.Git(dir, "add", "-A", "-f")
		s.Git(dir, "commit", "-qm", "x")
		return git.OID(s.Git(dir, "rev-parse", "HEAD"))
	}
	first := commit("a", "b")
	second := commit("a", "dir/c", ".entire/metadata/x/prompt.txt")
	s.Git(dir, "checkout", "-q", "--orphan", "shadow")
	s.Write(dir, "later", "1")
	shadow := commit()
	s.Git(dir, "checkout", "-q", "-f", "-B", "main", string(second))

	w := &workspace.Workspace{Repo: s.Open(dir), Log: slog.New(slog.DiscardHandler)}
	for _, c := range []struct {
		name string
		p    rewind.Point
		most int
		want []string
	}{
		{"the first commit", rewind.Point{Commit: first}, 9, []string{"a", "b"}},
		{"a commit, without our own files", rewind.Point{Commit: second}, 9, []string{"a", "dir/c"}},
		{"not more than asked for", rewind.Point{Commit: second}, 1, []string{"a"}},
		{"a shadow commit without a parent, against HEAD", rewind.Point{Shadow: shadow, Commit: first}, 9, []string{"later"}},
		{"a shadow commit with one", rewind.Point{Shadow: second}, 9, []string{"a", "dir/c"}},
	} {
		got, err := rewind.ChangedFiles(t.Context(), w, c.p, c.most)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
	}
	if _, err := rewind.ChangedFiles(t.Context(), w, rewind.Point{Commit: git.OID(strings.Repeat("1", 40))}, 9); err == nil {
		t.Error("a commit that isn't there: no error")
	}
}

// TestChangedOfSnapshots compares a snapshot with the previous one of the same worktree, also
// if there is none or if another worktree's is in between.
func TestChangedOfSnapshots(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("w")
	s.Write(dir, "a", "1")
	s.Git(dir, "add", "-A")
	s.Git(dir, "commit", "-qm", "x")
	other := filepath.Join(filepath.Dir(dir), "other")
	s.Git(dir, "worktree", "add", "-q", other)
	of := func(root string) *workspace.Workspace {
		w := &workspace.Workspace{Repo: s.Open(root), Log: slog.New(slog.DiscardHandler)}
		w.Env.Now, w.Env.Getenv = time.Now, func(string) string { return "" }
		w.Options.Bands.Enabled = true
		return w
	}
	here, there := of(dir), of(other)
	store, err := tracking.MakeStore(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	take := func(w *workspace.Workspace) bands.Version {
		t.Helper()
		held, err := tracking.HoldStore(t.Context(), store, tracking.HoldWait)
		if err != nil {
			t.Fatal(err)
		}
		taken, err := tracking.TakeSnapshot(t.Context(), w, held, capture.TakeOptions{Cause: bands.Named, Force: true})
		if err := held.Release(); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return taken.Snapshot.Version
	}
	first := take(here)
	s.Write(dir, "ignored.log", "x")
	s.Write(dir, ".gitignore", "*.log")
	second := take(here)
	s.Write(other, "elsewhere", "x")
	elsewhere := take(there)
	s.Write(dir, "b", "1")
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	third := take(here)
	for _, c := range []struct {
		name string
		v    bands.Version
		most int
		want []string
	}{
		{"the first: there is none before", first, 9, nil},
		{"with files that git ignores", second, 9, []string{".gitignore", "ignored.log"}},
		{"against this worktree's, not another's", third, 9, []string{"a", "b"}},
		{"not more than asked for", third, 1, []string{"a"}},
		{"the first of another worktree", elsewhere, 9, nil},
	} {
		got, err := rewind.ChangedFiles(t.Context(), here, rewind.Point{Snapshot: c.v, Checkpoint: checkpoint.ID("0123456789ab")}, c.most)
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
	}
	if _, err := rewind.ChangedFiles(t.Context(), here, rewind.Point{Snapshot: third + 1}, 9); err == nil {
		t.Error("a snapshot that isn't there: no error")
	}
}
