package strategy_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/strategy"
)

// TestBranchOfConcurrentSessionIsKept: a commit takes all files of its session on the
// shadow branch. The only checkpoint of a session that began after the hook listed the sessions
// is on the same branch.
func TestBranchOfConcurrentSessionIsKept(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]bool{"alone": false, "another began": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.repo.Write("README.md", "text\n")
			d.repo.Commit("first")
			s := d.session("main")
			d.turn(s, 0, "a.txt")
			w := d.workspace()
			if known, failed := w.Sessions.Pending(); len(known) != 1 || len(failed) > 0 {
				t.Fatalf("sessions: %v, %v", known, failed)
			}
			if other {
				d.turn(d.session("other"), 0, "b.txt")
			}
			d.repo.Git("add", "a.txt")
			d.repo.Git("commit", "-q", "-m", "a\n\nEntire-Checkpoint: 0123456789ab")
			journal := filepath.Join(d.repo.CommonDir(), "entire", "journal")
			d.must(os.MkdirAll(journal, 0o700))
			d.must(os.WriteFile(filepath.Join(journal, "e3b0c4.0123456789ab.json"), []byte(`{"nonce":"0123456789ab","keep":["0123456789ab"],"id":"0123456789ab",`+
				`"shares":[{"session":"`+s.ID+`","files":["a.txt"]}],"git":4000000,"created":"2026-01-01T00:00:00Z"}`), 0o600))
			d.must(strategy.Complete(context.Background(), w, ""))
			if log := d.repo.Git("log", "--format=%B", "entire/checkpoints/v1"); !strings.Contains(log, "0123456789ab") {
				t.Errorf("no checkpoint of the commit:\n%s\nlog:\n%s", log, d.log.String())
			}
			branches := strings.Fields(d.repo.Git("for-each-ref", "--format=%(refname)", "refs/heads/entire/*-*"))
			if got := len(branches) > 0; got != other {
				t.Errorf("shadow branches: %q", branches)
			}
		})
	}
}
