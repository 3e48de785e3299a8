package tracking

import (
	"bytes"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// requestDesk is a worktree without git, for requests.
type requestDesk struct {
	*workspace.Workspace

	t   *testing.T
	log bytes.Buffer
}

func newRequestDesk(t *testing.T) *requestDesk {
	t.Helper()
	d := &requestDesk{t: t}
	d.Workspace = &workspace.Workspace{
		Repo: &git.Repo{CommonDir: t.TempDir()},
		Env:  workspace.Environment{Random: rand.Reader},
		Log:  slog.New(slog.NewTextHandler(&d.log, nil)),
	}
	return d
}

func (d *requestDesk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// ask requests a snapshot in a turn.
func (d *requestDesk) ask(cause bands.Cause, turn, id string) {
	d.t.Helper()
	q := SnapshotRequest{Cause: cause, Causality: bands.Causality{Turn: turn}}
	if cause == bands.Commit {
		q.Pair = id
	}
	d.must(AddRequest(d.Workspace, q, id))
}

// wantTurns compares the turns of the pending requests.
func (d *requestDesk) wantTurns(want ...string) {
	d.t.Helper()
	turns := []string{}
	for _, q := range UnservedRequests(d.t.Context(), d.Workspace) {
		turns = append(turns, q.Causality.Turn)
	}
	if diff := cmp.Diff(append([]string{}, want...), turns); diff != "" {
		d.t.Errorf("requests (-want +got):\n%s\nlog:\n%s", diff, d.log.String())
	}
}

// TestConcurrentRequestIsKept: a child that has served the request of one prompt doesn't
// remove that of the next prompt.
func TestConcurrentRequestIsKept(t *testing.T) {
	t.Parallel()
	d := newRequestDesk(t)
	d.ask(bands.Prompt, "one", "session")
	d.ask(bands.Prompt, "one", "other")
	list := UnservedRequests(t.Context(), d.Workspace)
	d.ask(bands.Prompt, "two", "session")
	d.must(removeRequests(list))
	d.wantTurns("two")
	d.must(removeRequests(list)) // a missing request is not an error
	d.wantTurns("two")
}

// TestNewestRequestIsServed: of several requests for the same purpose the newest is served, and
// the others are removed.
func TestNewestRequestIsServed(t *testing.T) {
	t.Parallel()
	d := newRequestDesk(t)
	for _, turn := range []string{"one", "two", "three"} {
		d.ask(bands.Prompt, turn, "session")
	}
	d.wantTurns("three")
	if left, err := os.ReadDir(d.RequestsDir()); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestMissedRequestDoesNotReplaceNewOne: an amended commit has the id of the previous one,
// whose snapshot is given up at the same time.
func TestMissedRequestDoesNotReplaceNewOne(t *testing.T) {
	t.Parallel()
	d := newRequestDesk(t)
	d.ask(bands.Commit, "one", "0123456789ab")
	old := UnservedRequests(t.Context(), d.Workspace)[0]
	d.ask(bands.Commit, "two", "0123456789ab")
	d.must(markMissed(old))
	d.wantTurns("two")
	if missed := MissedRequests(d.Workspace); len(missed) > 0 {
		t.Errorf("missed: %v", missed)
	}
}

// passes waits until a new file has a later time than the one at path: the file system's clock
// has steps of some milliseconds.
func (d *requestDesk) passes(path string) {
	d.t.Helper()
	before, err := os.Lstat(path)
	d.must(err)
	probe := filepath.Join(d.t.TempDir(), "probe")
	for d.t.Context().Err() == nil {
		d.must(os.WriteFile(probe, nil, 0o600))
		now, err := os.Lstat(probe)
		d.must(err)
		if disk.Changed(now).After(disk.Changed(before)) {
			return
		}
	}
}

// TestRequestsOfEarlierVersion: requests without a nonce in their names are served, and a
// file that isn't a request is dropped.
func TestRequestsOfEarlierVersion(t *testing.T) {
	t.Parallel()
	d := newRequestDesk(t)
	d.must(os.MkdirAll(d.RequestsDir(), 0o700))
	path := filepath.Join(d.RequestsDir(), "prompt-session.json")
	d.must(os.WriteFile(path, []byte(`{"cause":"prompt","causality":{"turn_id":"old"}}`), 0o600))
	d.passes(path)
	if list := UnservedRequests(t.Context(), d.Workspace); len(list) != 1 {
		t.Errorf("requests: %v", list)
	}
	d.ask(bands.Prompt, "new", "session")
	d.wantTurns("new")
	if _, err := os.Lstat(path); err == nil {
		t.Error("the old one is still there")
	}
	bad := filepath.Join(d.RequestsDir(), "prompt-bad.json")
	d.must(os.WriteFile(bad, make([]byte, 20), 0o600))
	d.wantTurns("new")
	if _, err := os.Lstat(bad); err == nil || !strings.Contains(d.log.String(), "prompt-bad.json") {
		t.Errorf("damaged request: %v, log:\n%s", err, d.log.String())
	}
}
