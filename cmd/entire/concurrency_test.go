package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestConcurrentWorktrees commits six times in each of six linked worktrees, all
// at the same time: 36 trailers, 36 checkpoints.
func TestConcurrentWorktrees(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "six worktrees")
	repo := matrixRepo(t)
	trees := testkit.Rounds(3, 6)
	var group sync.WaitGroup
	for n := range trees {
		dir := filepath.Join(repo.Dir, "..", fmt.Sprintf("tree%d", n))
		repo.Git("worktree", "add", "-q", "-b", fmt.Sprintf("branch%d", n), dir)
		session := testkit.NewSession(repo.At(dir), fmt.Sprintf("tree %d", n), filepath.Join(repo.Dir, "..", "claude"))
		group.Go(func() { commitSixTimes(session) })
	}
	group.Wait()
	if t.Failed() {
		return
	}
	ids := map[string]bool{}
	stored := repo.Stored()
	for n := range trees {
		for back := range 6 {
			rev := fmt.Sprintf("branch%d~%d", n, back)
			trailers := repo.Trailers(rev)
			if len(trailers) != 1 || stored[trailers[0]] == nil {
				t.Errorf("%s has trailers %v, want one with a checkpoint", rev, trailers)
				continue
			}
			ids[trailers[0]] = true
			if got, want := stored[trailers[0]].Summary.FilesTouched, []string{fmt.Sprintf("file%d.txt", 5-back)}; !slices.Equal(got, want) {
				t.Errorf("%s: files_touched %q, want %q", rev, got, want)
			}
		}
	}
	if len(ids) != 6*trees || len(stored) != 6*trees {
		t.Errorf("%d ids in trailers, %d checkpoints, want %d of each", len(ids), len(stored), 6*trees)
	}
	testkit.CheckBusy(t, repo)
	explain(t, repo)
}

// explain logs the warnings and failures of the hooks if the test failed.
func explain(t *testing.T, repo *testkit.Repo) {
	t.Helper()
	if !t.Failed() {
		return
	}
	for line := range strings.Lines(repo.Log()) {
		if !strings.Contains(line, `"level":"INFO"`) || strings.Contains(line, `"success":false`) {
			t.Log(line)
		}
	}
}

// commitSixTimes plays a session in one worktree: the user commits after some turns, the agent
// in the others.
func commitSixTimes(session *testkit.Session) {
	session.Start("startup")
	for n := range 6 {
		path := fmt.Sprintf("file%d.txt", n)
		session.Prompt("Write " + path)
		session.Write(path, fmt.Sprintf("%d\n", n))
		if n%2 == 0 {
			session.Bash("git add " + path + " && git commit -qm 'by the agent'")
			session.Stop()
			continue
		}
		session.Stop()
		session.Repo.Git("add", path)
		session.Repo.Git("commit", "-q", "-m", "by the user")
	}
	session.End("prompt_input_exit")
}

// TestConcurrentSessions lets 20 sessions write in one worktree at the same time. Then one commit
// includes everything and nothing is lost: the commit's hooks do the work that a hook skipped
// because the lock was held for too long.
func TestConcurrentSessions(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "20 sessions")
	repo := matrixRepo(t)
	// The race detector makes hooks many times slower, and no child completes them here.
	repo.Env = repo.Env.With("ENTIRE_HOOKS_TIMEOUT=1m", "ENTIRE_HOOKS_LOCK_TIMEOUT=1m")
	many := testkit.Rounds(8, 20)
	sessions := make([]*testkit.Session, many)
	var group sync.WaitGroup
	for n := range many {
		sessions[n] = testkit.NewSession(repo, fmt.Sprintf("session %d", n), filepath.Join(repo.Dir, "..", "claude"))
		sessions[n].Shared = true
		group.Go(func() {
			sessions[n].Start("startup")
			for turn := range 3 {
				sessions[n].Prompt(fmt.Sprintf("Turn %d", turn))
				sessions[n].Write(fmt.Sprintf("s%02d/t%d.txt", n, turn), "x\n")
				sessions[n].Stop()
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	var all []string
	for n := range sessions {
		all = append(all, fmt.Sprintf("s%02d/t0.txt", n), fmt.Sprintf("s%02d/t1.txt", n), fmt.Sprintf("s%02d/t2.txt", n))
	}
	repo.Commit("all at once")
	checkpoint := repo.Checkpoint("HEAD")
	if diff := cmp.Diff(all, checkpoint.Summary.FilesTouched); diff != "" {
		t.Errorf("files_touched (-want +got):\n%s", diff)
	}
	if len(checkpoint.Slots) != many {
		t.Errorf("%d slots, want %d", len(checkpoint.Slots), many)
	}
	for n, session := range sessions {
		if got := repo.State(session.ID).FilesTouched; len(got) > 0 {
			t.Errorf("session %d still has pending %q", n, got)
		}
		if got := len(checkpoint.Slot(t, session.ID).Prompts); got != 3 {
			t.Errorf("session %d has %d prompts in the checkpoint, want 3", n, got)
		}
	}
	explain(t, repo)
	testkit.CheckBusy(t, repo)
}

// TestConcurrentSearches makes commits without hooks, and lets hooks of two sessions find them at the
// same time: each commit gets one checkpoint, with the lines of the session that wrote them.
func TestConcurrentSearches(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "hooks at once")
	repo := matrixRepo(t)
	repo.Env = repo.Env.With("ENTIRE_HOOKS_TIMEOUT=1m", "ENTIRE_HOOKS_LOCK_TIMEOUT=1m")
	sessions := make([]*testkit.Session, 4)
	for n := range sessions {
		sessions[n] = testkit.NewSession(repo, fmt.Sprintf("session %d", n), filepath.Join(repo.Dir, "..", "claude"))
		sessions[n].Shared = true
		sessions[n].Start("startup")
	}
	rounds := testkit.Rounds(2, 6)
	for round := range rounds {
		path := fmt.Sprintf("file%d.txt", round)
		sessions[0].Prompt("Write " + path)
		sessions[0].Write(path, "one\ntwo\n")
		sessions[0].Stop()
		repo.Git("add", path)
		repo.Git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "without hooks")
		var group sync.WaitGroup
		for _, session := range sessions {
			group.Go(func() {
				session.Prompt("Go on")
				session.Stop()
			})
		}
		group.Wait()
		if t.Failed() {
			return
		}
		note := repo.Git("log", "-1", "--notes=entire", "--format=%N")
		if got := strings.Count(note, "Entire-Checkpoint: "); got != 1 {
			t.Errorf("%s: %d trailers in the note, want 1:\n%s", path, got, note)
		}
		if stored := repo.Stored(); len(stored) != round+1 {
			t.Errorf("%s: %d checkpoints, want %d", path, len(stored), round+1)
		}
		if out := repo.Entire("blame", path); !strings.Contains(out, "Claude Code") || strings.Contains(out, "Ada Tester") {
			t.Errorf("%s: blame of two lines of the agent:\n%s", path, out)
		}
	}
	testkit.CheckBusy(t, repo)
	explain(t, repo)
}
