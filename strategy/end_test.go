package strategy_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-3aff656d/entire/session"
)

// TestEndLeavesOthersWorkToAChild: a session that ends has a second, which is for
// its own turn and not for a commit that another hook left unfinished.
func TestEndLeavesOthersWorkToAChild(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo.Write("README.md", "text\n")
	d.repo.Commit("first")
	s := d.session("main")
	d.turn(s, 0, "a.txt")
	d.repo.Git("add", "a.txt")
	d.repo.Git("commit", "-q", "-m", "a\n\nEntire-Checkpoint: 0123456789ab")
	journal := filepath.Join(d.repo.CommonDir(), "entire", "journal")
	d.must(os.MkdirAll(journal, 0o700))
	decision := filepath.Join(journal, "e3b0c4.0123456789ab.json")
	d.must(os.WriteFile(decision, []byte(`{"nonce":"0123456789ab","keep":["0123456789ab"],"id":"0123456789ab",`+
		`"shares":[{"session":"`+s.ID+`","files":["a.txt"]}],"git":4000000,"created":"2026-01-01T00:00:00Z"}`), 0o600))
	d.children = nil
	in := d.in(s, 0)
	d.must(d.recorder().SessionEnd(context.Background(), in))
	state, err := d.recorder().Sessions.Load(s.ID)
	d.must(err)
	if state.Phase != session.Ended {
		t.Errorf("phase %s", state.Phase)
	}
	if _, err := os.Lstat(decision); err != nil {
		t.Errorf("the commit was repaired by the end: %v", err)
	}
	if !slices.ContainsFunc(d.children, func(args []string) bool { return slices.Equal(args, []string{"hooks", "complete", ""}) }) {
		t.Errorf("children: %q", d.children)
	}
	d.must(d.recorder().Complete(context.Background(), ""))
	if _, err := os.Lstat(decision); err == nil {
		t.Errorf("the child left the decision\nlog:\n%s", d.log.String())
	}
}
