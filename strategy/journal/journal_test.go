package journal_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/journal"
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
		if err := os.WriteFile(filepath.Join(journal.Dir(w), "e3b0c4.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(journal.Dir(w), 0o700); err != nil {
		t.Fatal(err)
	}
	write("1")
	old := journal.Decisions(t.Context(), w)
	if len(old) != 1 || !journal.IsRecorded(old[0]) {
		t.Fatalf("recorded: %+v", old)
	}
	write("2")
	if journal.IsRecorded(old[0]) {
		t.Error("the former decision counts as recorded")
	}
	if err := journal.Remove(old[0]); err != nil {
		t.Fatal(err)
	}
	now := journal.Decisions(t.Context(), w)
	if len(now) != 1 || now[0].Nonce != "2" {
		t.Fatalf("after the removal of the former: %+v", now)
	}
	if err := journal.Remove(now[0]); err != nil {
		t.Fatal(err)
	}
	if left := journal.Decisions(t.Context(), w); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}
