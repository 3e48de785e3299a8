package transcript_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// TestIsReply: a reply that only confirms, chooses or refers to an offer means nothing alone
// and is no title.
func TestIsReply(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]bool{
		"yes": true, "5": true, "then commit it": true, "5 seems like a great one to tackle": true,
		"yes, fix it": true, "yup, capture and let's continue": true, "implement it": true, "apply this please": true, "ok use that": true,
		"fix test": false, "fix": false, "yes please, update the documentation": false, "merge main": false, "yes, but we don't need to commit": false,
	} {
		if got := transcript.IsReply(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
	if title := transcript.PromptTitle("yes, fix it"); title != "" {
		t.Errorf("title %q", title)
	}
	const said = "The branch has no test.\n\nShould I fix the hanging test?"
	if to := transcript.RepliedTo("yes, fix it", said); to != "Should I fix the hanging test?" {
		t.Errorf("replied to %q", to)
	}
}
