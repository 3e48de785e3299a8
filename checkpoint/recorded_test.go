package checkpoint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

func TestRecordsAreReadFromMessages(t *testing.T) {
	t.Parallel()
	const id, session = "a1b2c3d4e5f6", "11111111-1111-1111-1111-111111111111"
	ada := git.Signature{Name: "Ada", Email: "ada@example.com"}
	own := checkpoint.CommitMessage(id, checkpoint.SessionMeta{SessionID: session, Agent: "Claude Code"}, "")
	for name, c := range map[string]struct {
		message string
		by      git.Signature
		want    checkpoint.Record
	}{
		"own":                {own, ada, checkpoint.Record{ID: id, Session: session, By: ada}},
		"with a date":        {"Checkpoint: " + id + "\n\nEntire-Session: 2026-01-02-" + session + "\n", ada, checkpoint.Record{ID: id, Session: session, By: ada}},
		"without a session":  {"Checkpoint: " + id, ada, checkpoint.Record{ID: id, By: ada}},
		"without a person":   {own, git.Signature{Name: "Unknown", Email: "unknown@local"}, checkpoint.Record{ID: id, Session: session}},
		"the end of a turn":  {checkpoint.FinalizeMessage(id), ada, checkpoint.Record{}},
		"a summary":          {checkpoint.SummaryMessage(checkpoint.SessionIn{ID: id, Session: session}), ada, checkpoint.Record{}},
		"no id":              {"Checkpoint: everything", ada, checkpoint.Record{}},
		"in another message": {"Merge\n\nCheckpoint: " + id, ada, checkpoint.Record{}},
	} {
		got, ok := checkpoint.RecordOf(git.Commit{Message: c.message, Author: c.by})
		if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want.ID != "") {
			t.Errorf("%s: %t (-want +got):\n%s", name, ok, diff)
		}
	}
}
