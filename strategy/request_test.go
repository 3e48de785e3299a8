package strategy_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/strategy"
)

// asked lists the turns of the requests that wait.
func asked(r *strategy.Recorder) []string {
	turns := []string{}
	for _, q := range r.Requests(context.Background()) {
		turns = append(turns, q.Turn())
	}
	return turns
}

func wantAsked(t *testing.T, d *desk, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), asked(d.recorder())); diff != "" {
		t.Errorf("requests (-want +got):\n%s\nlog:\n%s", diff, d.log.String())
	}
}

// TestRequestThatCameMeanwhileStays: a child that has served the request of one
// prompt doesn't remove that of the next.
func TestRequestThatCameMeanwhileStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.must(d.recorder().Ask(bands.Prompt, "one", "session"))
	d.must(d.recorder().Ask(bands.Prompt, "one", "other"))
	child := d.recorder()
	list := child.Requests(context.Background())
	d.must(d.recorder().Ask(bands.Prompt, "two", "session"))
	d.must(strategy.Served(list))
	wantAsked(t, d, "two")
	d.must(strategy.Served(list)) // what is gone is no error
	wantAsked(t, d, "two")
}

// TestNewestRequestCounts: of several about one thing the newest is served, and
// the others go.
func TestNewestRequestCounts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	r := d.recorder()
	for _, turn := range []string{"one", "two", "three"} {
		d.must(r.Ask(bands.Prompt, turn, "session"))
	}
	wantAsked(t, d, "three")
	if left, err := os.ReadDir(r.RequestDir()); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestMissedRequestDoesNotReplaceANewOne: an amended commit has the id of the
// one before, whose snapshot is given up just then.
func TestMissedRequestDoesNotReplaceANewOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	r := d.recorder()
	d.must(r.Ask(bands.Commit, "one", "0123456789ab"))
	old := r.Requests(context.Background())[0]
	d.must(r.Ask(bands.Commit, "two", "0123456789ab"))
	d.must(old.Miss())
	wantAsked(t, d, "two")
	if missed := r.Missed(); len(missed) > 0 {
		t.Errorf("missed: %v", missed)
	}
}

// TestRequestsOfAnEarlierVersion have no nonce in their names, and a file that
// isn't one is dropped.
func TestRequestsOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	r := d.recorder()
	d.must(os.MkdirAll(r.RequestDir(), 0o700))
	path := filepath.Join(r.RequestDir(), "prompt-session.json")
	d.must(os.WriteFile(path, []byte(`{"cause":"prompt","causality":{"turn_id":"old"}}`), 0o600))
	if list := r.Requests(context.Background()); len(list) != 1 {
		t.Errorf("requests: %v", list)
	}
	d.must(r.Ask(bands.Prompt, "new", "session"))
	wantAsked(t, d, "new")
	if _, err := os.Lstat(path); err == nil {
		t.Error("the old one is still there")
	}
	bad := filepath.Join(r.RequestDir(), "prompt-bad.json")
	d.must(os.WriteFile(bad, make([]byte, 20), 0o600))
	wantAsked(t, d, "new")
	if _, err := os.Lstat(bad); err == nil || !strings.Contains(d.log.String(), "prompt-bad.json") {
		t.Errorf("damaged request: %v, log:\n%s", err, d.log.String())
	}
}

func TestAffordableFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most  int
		bytes int64
		sizes []int64
		want  string
	}{
		{10, 100, []int64{50, 10, 40}, "abc"},
		{2, 100, []int64{50, 10, 40}, "ab"},
		{10, 99, []int64{50, 10, 40}, "bc"},
		{1, 99, []int64{50, 10, 40}, "b"},
		{10, 9, []int64{50, 10, 40}, ""},
		{10, 0, []int64{0, 1, 0}, "ac"},
		{10, 5, nil, ""},
	} {
		if got := strings.Join(strategy.Affordable(c.most, c.bytes, c.sizes...), ""); got != c.want {
			t.Errorf("at most %d files of %d bytes among %v: %q, want %q", c.most, c.bytes, c.sizes, got, c.want)
		}
	}
}
