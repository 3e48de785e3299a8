package checkpoint

import (
	"strings"
	"testing"
)

// TestDeepMembersAreOmitted: a user who can push to the metadata branch must not make other
// clones write gigabytes.
func TestDeepMembersAreOmitted(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat(`{"subagent_tokens":`, n) + `{}` + strings.Repeat("}", n) }
	data := `{"session_id":"s","branch":"[[\"{{","token_usage":` + deep(9000) + `,"session_token_usage":` + deep(3) + `,"other":` + deep(9000) + `}`
	meta, err := decodeSession([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if meta.SessionID != "s" || meta.Branch != `[["{{` || meta.TokenUsage != nil || meta.SessionTokenUsage == nil {
		t.Errorf("%+v", meta)
	}
	written, err := meta.encode()
	if err != nil || len(written) > 2000 {
		t.Errorf("%d bytes, %v", len(written), err)
	}
}
