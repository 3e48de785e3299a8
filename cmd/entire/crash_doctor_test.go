//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashDoctor stops `entire doctor -f`, and its undo, at every write. A second run gives
// the same result, and pending files stay pending.
func TestCrashDoctor(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for name, args := range map[string][]string{"fix": {"doctor", "-f"}, "undo": {"doctor", "--undo", "-f"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			p := doctorScene(t, root, bin)
			if name == "undo" {
				p.Entire("doctor", "-f")
			}
			kept := root + ".kept"
			copyAll(t, root, kept)
			points := 0
			for step := 1; stopDoctor(p, args, step); step++ {
				points++
				where := fmt.Sprintf("stopped at step %d", step)
				if out := (testkit.Call{Dir: p.Dir, Env: p.Env, Name: "entire", Args: []string{"doctor", "-f"}}).Run(t); out.Code != 0 {
					t.Errorf("%s: exit %d: %s%s", where, out.Code, out.Stdout, out.Stderr)
				}
				if got := strings.Join(p.pending("main"), " "); got != "b.txt" {
					t.Errorf("%s: pending %q", where, got)
				}
				faults := p.broken()
				if len(faults) > 0 { // except those that git's prune removes
					t.Errorf("%s: %v", where, faults)
				}
				copyAll(t, kept, root)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d points", points)
			if points < 10 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// stopDoctor runs the command, to be killed at the step, and reports whether it was.
func stopDoctor(p *play, args []string, step int) bool {
	mark := filepath.Join(p.root, "mark")
	testkit.Call{Dir: p.Dir, Name: "entire", Args: args, Env: p.Env.With(
		fmt.Sprintf("ENTIRE_FAULT=crash:%d", step), "ENTIRE_FAULT_IN=doctor", "ENTIRE_FAULT_MARK="+mark)}.Run(p.TB)
	_, err := os.Lstat(mark)
	_ = os.Remove(mark)
	return err == nil
}

// doctorScene is a repository with something to repair.
func doctorScene(t *testing.T, root, bin string) *play {
	t.Helper()
	p := newPlay(t, root, bin, "plain")
	p.toRepair()
	return p
}
