//go:build faults

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashApprove stops the acceptance of two proposals, and an edit of personal settings that
// a reset left behind, at every write. No value takes effect that the user hasn't accepted, no
// value of theirs is lost, and the next attempt completes the work.
func TestCrashApprove(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for name, c := range map[string]struct {
		args  []string
		wants []string // lines of `entire config` after the next attempt
		least int
	}{
		"approve": {[]string{"enable", "--accept", "strategy", "--accept", "hooks.timeout"}, []string{"strategy auto-commit project", "hooks.timeout 10m0s project"}, 4},
		"brought": {[]string{"enable", "--local", "--agent", "claude-code"}, []string{"strategy manual-commit", "hooks.timeout 5s default"}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			p := newPlay(t, root, bin, "plain")
			p.Write(".entire/settings.json", `{"enabled": true, "strategy": "auto-commit", "hooks": {"timeout": "10m"}, "bands": {"cap": "1G"}}`)
			if err := settings.Approve(filepath.Join(p.Dir, ".git"), settings.Proposal{Key: "bands.cap", Value: "kept"}); err != nil {
				t.Fatal(err)
			}
			if name == "brought" {
				p.Write(".entire/settings.json", `{"enabled": true}`)
				p.Write(".entire/settings.local.json", `{"strategy_options": {"push_remote": "docs/evil"}}`)
				p.Git("hash-object", "-w", ".entire/settings.local.json")
			}
			kept := root + ".kept"
			copyAll(t, root, kept)
			points := 0
			for step := 1; (tidyCase{args: c.args}).stopAt(p, step); step++ {
				points++
				approved := readAt(settings.ApprovalsFile(filepath.Join(p.Dir, ".git")))
				if !bytes.Contains(approved, []byte(`"bands.cap": "kept"`)) || !bytes.HasSuffix(approved, []byte("}\n")) {
					t.Errorf("step %d: an approval is lost: %q", step, approved)
				}
				if said := configOf(p); name == "brought" && !strings.Contains(said, "strategy_options.push_remote - ") {
					t.Errorf("step %d: what the repository brought counts:\n%s", step, said)
				}
				p.Entire(c.args...)
				for _, want := range c.wants {
					if said := configOf(p); !strings.Contains(said, want) {
						t.Errorf("step %d: no %q in\n%s", step, want, said)
					}
				}
				brought := false
				if data, err := os.ReadFile(settings.LocalFile(p.Dir)); err == nil {
					brought = settings.IsUntrusted(filepath.Join(p.Dir, ".git"), data)
				}
				if brought != (name == "brought") {
					t.Errorf("step %d: edited personal settings are marked as brought: %v", step, brought)
				}
				copyAll(t, kept, root)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d points", points)
			if points < c.least {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// configOf returns the output of `entire config`, with single spaces.
func configOf(p *play) string {
	out := testkit.Call{Dir: p.Dir, Env: p.Env, Name: "entire", Args: []string{"config"}}.Must(p.TB)
	return strings.Join(strings.Fields(string(out)), " ")
}
