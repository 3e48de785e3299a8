package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestRecordedSession plays the recorded session through the installed hooks
// and commits its work in parts, as the demo does.
func TestRecordedSession(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "a whole session")
	repo := matrixRepo(t)
	repo.Write("words.txt", "rose\nlily\nRose\n")
	repo.Write("README.md", "# tally\n\nCounts words.\n")
	repo.Commit("a project")
	recording := testkit.Recording{Dir: filepath.Join("..", "..", "testdata", "session"), Project: repo.Dir, Env: repo.Env}
	recording.Replay(t)

	if got, want := repo.Checkpoint("HEAD").Summary.FilesTouched, []string{"cmd/tally/main.go"}; !slices.Equal(got, want) {
		t.Errorf("the agent's commit: files_touched %q, want %q", got, want)
	}
	for _, paths := range [][]string{{"tally.go", "tally_test.go"}, {"docs/words.txt", "words.txt"}, {"README.md"}} {
		repo.Git(append([]string{"add"}, paths...)...)
		repo.Git("commit", "-q", "-m", "feat: "+strings.Join(paths, ", "))
		if got := repo.Checkpoint("HEAD").Summary.FilesTouched; !slices.Equal(got, paths) {
			t.Errorf("files_touched %q, want %q", got, paths)
		}
	}
	slot := repo.Checkpoint("HEAD").Slot(t, recording.Session())
	if len(slot.Prompts) != 3 || !strings.Contains(slot.Prompts[1], "The upload token is REDACTED") {
		t.Errorf("prompts %q", slot.Prompts)
	}
	live, err := os.ReadFile(filepath.Join(repo.Env.Get("HOME"), ".claude", "projects", testkit.Slug(repo.Dir), recording.Session()+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(slot.Transcript, "\n")+1, strings.Count(string(live), "\n"); got != want {
		t.Errorf("%d lines stored, %d in the transcript", got, want)
	}
	if strings.Contains(slot.Transcript, testkit.Secret()) || !strings.Contains(string(live), testkit.Secret()) {
		t.Error("the secret isn't in the live transcript, or is in the stored one")
	}
	testkit.Check(t, repo)
}
