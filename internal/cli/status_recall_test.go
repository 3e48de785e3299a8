package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatusOfContexts(t *testing.T) {
	t.Parallel()
	r, s, out, _ := shelved(t)
	found, err := lookForContexts(t.Context(), s, "/work")
	if err != nil {
		t.Fatal(err)
	}
	report := &statusReport{}
	report.addContexts(found, nil)
	r.printContexts(r.Streams, report.Contexts)
	want := "\nContext: checkpoint 3f9a1c-77b0e2 \"Implemented [31mJWT middleware\" (45m ago)\n" +
		"  pending; unwanted? entire recall discard 3f9a1c-77b0e2\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	out.Reset()
	if found, err = lookForContexts(t.Context(), s, "/nowhere"); err != nil || found.Latest != nil {
		t.Errorf("%v, %v", found, err)
	}
	report.addContexts(found, errors.New("no disk"))
	r.printContexts(r.Streams, &found)
	r.printContexts(r.Streams, nil)
	if len(report.Notes) != 1 || report.Notes[0].Code != "contexts" || !strings.Contains(report.Notes[0].Message, "no disk") || out.Len() > 0 {
		t.Errorf("%v, %q", report.Notes, out)
	}
}
