package tracking_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// TestRemoveKeepsOtherDecision: an older version of the program names decisions without
// their nonce, and may have written one about the next commit in the meantime.
func TestRemoveKeepsOtherDecision(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := &workspace.Workspace{Repo: &git.Repo{CommonDir: dir}, Log: slog.New(slog.DiscardHandler)}
	write := func(nonce string) {
		t.Helper()
		text := `{"nonce":"` + nonce + `","id":"0123456789ab","keep":["0123456789ab"]}`
		if err := os.WriteFile(filepath.Join(workspace.JournalDir(w.Repo), "e3b0c4.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(workspace.JournalDir(w.Repo), 0o700); err != nil {
		t.Fatal(err)
	}
	write("1")
	old := tracking.Decisions(t.Context(), w)
	if len(old) != 1 || !tracking.IsDecisionRecorded(old[0]) {
		t.Fatalf("recorded: %+v", old)
	}
	write("2")
	if tracking.IsDecisionRecorded(old[0]) {
		t.Error("the former decision counts as recorded")
	}
	if err := tracking.RemoveDecision(old[0]); err != nil {
		t.Fatal(err)
	}
	now := tracking.Decisions(t.Context(), w)
	if len(now) != 1 || now[0].Nonce != "2" {
		t.Fatalf("after the removal of the former: %+v", now)
	}
	if err := tracking.RemoveDecision(now[0]); err != nil {
		t.Fatal(err)
	}
	if left := tracking.Decisions(t.Context(), w); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}
