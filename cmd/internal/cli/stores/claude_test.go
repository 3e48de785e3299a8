package stores

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClaudeHooks(t *testing.T) {
	t.Parallel()
	const ours = `{"type":"command","command":"agentfs checkpoint --auto 2>/dev/null || true","async":true,"timeout":30}`
	hooks := claudeHooks(nil)
	for name, c := range map[string]struct{ before, after string }{
		"nothing":      {``, `{"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`},
		"other keys":   {`{"model": "x"}`, `{"model":"x","hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`},
		"other events": {`{"hooks":{"Start":[]}}`, `{"hooks":{"Start":[],"Stop":[{"hooks":[` + ours + `]}]}}`},
		"ours":         {`{"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`, `{"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`},
	} {
		got, _, err := addClaudeHooks([]byte(c.before), hooks)
		if err != nil {
			t.Fatal(err)
		}
		var is, want any
		if err := json.Unmarshal(got, &is); err != nil { // fails for trailing commas
			t.Errorf("%s: %v\n%s", name, err, got)
		}
		if err := json.Unmarshal([]byte(c.after), &want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, is); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		again, _, err := addClaudeHooks(got, hooks)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: twice is not once: %v\n%s", name, err, again)
		}
	}
	for _, bad := range []string{`[]`, `{"hooks": 1}`, `{"hooks": {"Stop": {}}}`, `{`} {
		if _, _, err := addClaudeHooks([]byte(bad), hooks); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if got := claudeHooks([]string{"Edit", "mcp it's"})[2].Hooks[0].Command; got != `agentfs checkpoint --auto --agent claude-code --action 'mcp it'\''s' 2>/dev/null || true` {
		t.Error(got)
	}
}
