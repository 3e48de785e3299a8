package digest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
)

// FuzzDigest checks that no transcript makes a digest panic or grow too long, and that storing it
// between two lines doesn't change it.
func FuzzDigest(f *testing.F) {
	for _, lines := range [][]string{
		all(asked("please add a token refresh"), said("I decided to use HS256 for now. Shall I go on?"), edited("/w/a.go"), read("/w/b.md")),
		all(used("p", "ExitPlanMode", planInput), failed("p", rejectedBy), asked("[Request interrupted by user]")),
		all(used("q", "AskUserQuestion", questions), done("q", "x", `{"answers":{"a\"b":"c"}}`), ran("go test | tail", "Exit code 1\nFAIL")),
		all(used("t", "TaskCreate", `{"subject":"x"}`), done("t", "Task #1 created", `null`), used("u", "TaskUpdate", `{"taskId":"1","status":"in_progress"}`),
			used("w", "TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`)),
		{`{"type":"custom-title","customTitle":"x"}`, `{"type":"system","subtype":"compact_boundary"}`, `{"type":"user","isCompactSummary":true,"message":{"content":"x"}}`},
		{`{"toolUseResult":{"a":1},"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"x"}]}}`, `{"type":"assistant","isApiErrorMessage":true}`},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	texts := redact.New()
	f.Fuzz(func(t *testing.T, transcript string) {
		var once, stored digest.Digest
		path := written(t, nil)
		for line := range strings.SplitSeq(transcript, "\n") {
			extend(t, path, []byte(line+"\n"))
			for _, d := range []*digest.Digest{&once, &stored} {
				if _, err := d.Catch(t.Context(), path, texts, 0); err != nil {
					t.Fatal(err)
				}
			}
			data, err := json.Marshal(stored)
			if err != nil || len(data) > 128<<10 {
				t.Fatalf("%d bytes, %v", len(data), err)
			}
			stored = digest.Digest{}
			if err := json.Unmarshal(data, &stored); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(once, stored, cmpopts.IgnoreUnexported(digest.Digest{}), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
		src := digest.Sources{Root: "/w", Said: transcript, Files: []string{"a"}}
		once.Analysis(src)
		once.Context(src)
		once.Description(src)
		if s := once.Summary(src); strings.Contains(s, "\n") || len([]rune(s)) > 80+len(" (1 file, +0 -0)") {
			t.Errorf("%q", s)
		}
	})
}
