package health

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

// listed is a contextLister with one pending checkpoint of the worktree /work.
type listed struct{ now time.Time }

func (l listed) List(_ context.Context, f contextstore.Filter) ([]contextstore.Entry, error) {
	if f.Worktree != "/work" {
		return nil, nil
	}
	return []contextstore.Entry{{
		ID: "3f9a1c-77b0e2", Summary: "Implemented \x1b[31mJWT middleware", CreatedAt: l.now.Add(-45 * time.Minute),
		Status: recall.Pending, Cause: recall.Clear,
	}}, nil
}

func TestStatusOfContexts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	out := &bytes.Buffer{}
	a := &app.App{Env: app.Env{Now: func() time.Time { return now }, Streams: ui.Streams{Out: out, Err: out}}}
	found, err := lookForContexts(t.Context(), listed{now}, "/work")
	if err != nil {
		t.Fatal(err)
	}
	report := &statusReport{}
	report.addContexts(found, nil)
	printContexts(a, a.Streams, report.Contexts)
	want := "Context: checkpoint 3f9a1c-77b0e2 \"Implemented \\u001b[31mJWT middleware\" (45m ago)\n" +
		"  pending; to discard it: entire recall discard 3f9a1c-77b0e2\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	out.Reset()
	if found, err = lookForContexts(t.Context(), listed{now}, "/nowhere"); err != nil || found.Latest != nil {
		t.Errorf("%v, %v", found, err)
	}
	report.addContexts(found, errors.New("no disk"))
	printContexts(a, a.Streams, &found)
	printContexts(a, a.Streams, nil)
	if len(report.Notes) != 1 || report.Notes[0].Code != "contexts" || !strings.Contains(report.Notes[0].Message, "no disk") || out.Len() > 0 {
		t.Errorf("%v, %q", report.Notes, out)
	}
}
