package recall_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

func TestReceipt(t *testing.T) {
	t.Parallel()
	files := func(paths ...string) map[string]recall.File {
		m := map[string]recall.File{}
		for _, p := range paths {
			m[p] = recall.File{Path: p}
		}
		return m
	}
	tests := map[string]struct {
		checkpoint recall.Checkpoint
		want       []string
	}{
		"all of it": {
			recall.Checkpoint{ID: "3f9a1c-77b0e2", Summary: "Implemented JWT middleware", State: recall.State{
				Files: files("pkg/auth/middleware_test.go", "pkg/auth/middleware.go"), TotalSize: 24 << 10,
				Analysis: recall.Analysis{CurrentTask: "JWT", NextSteps: []string{"a", "b"}, Decisions: []string{"c", "d", "e"}, Blockers: []string{"f"}},
			}},
			[]string{
				"Captured:", "- 2 files (pkg/auth/middleware.go, pkg/auth/middleware_test.go)",
				"- Analysis: current task, 2 next steps, 3 decisions, 1 blocker", "- Size: 24KB",
				`Checkpoint saved: "Implemented JWT middleware" (id 3f9a1c-77b0e2)`,
			},
		},
		"nothing": {
			recall.Checkpoint{ID: "3f9a1c-77b0e2"},
			[]string{"Captured:", "- no files", "- Analysis: nothing found", "- Size: 0B", `Checkpoint saved: "" (id 3f9a1c-77b0e2)`},
		},
		"many files, hostile texts, a warning": {
			recall.Checkpoint{
				ID: "3f9a1c-77b0e2", Summary: "a\nb\x1b[31m", Warnings: []string{"big.bin: file\ttoo large"},
				State: recall.State{Files: files("a", "b", "c\x1b", "d", "e", "f", "g"), TotalSize: 3 << 19},
			},
			[]string{
				"Captured:", `- 7 files (a, b, "c\x1b", d, e, 2 more)`, "- Analysis: nothing found", "- Size: 1.5MB",
				"- Warning: big.bin: file too large", `Checkpoint saved: "a b[31m" (id 3f9a1c-77b0e2)`,
			},
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, c.checkpoint.Receipt()); d != "" {
				t.Error(d)
			}
		})
	}
}
