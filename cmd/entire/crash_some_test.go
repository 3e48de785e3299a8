//go:build !faults

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashSome stops the program at some writes of some hooks, and makes some writes fail.
// `make crash` tries all of them.
func TestCrashSome(t *testing.T) { //nolint:tparallel // the hooks within are parallel
	t.Parallel()
	testkit.Long(t, "a program of its own, and hooks stopped at many writes")
	d := &drill{bin: buildFaulty(t), tally: newTally(), step: 29}
	chosen := []string{"post-commit, split with carry-forward", "stop, two commits of its own", "post-commit, a value known since", "post-commit, amend with another session's file"}
	t.Run("hooks", func(t *testing.T) {
		for _, s := range scenes() {
			for _, hook := range s.hooks {
				name := hook + ", " + s.name
				if !slices.Contains(chosen, name) {
					continue
				}
				t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
					t.Parallel()
					d.crash(t, s, hook)
				})
			}
		}
		t.Run("prepare-commit-msg can't write", func(t *testing.T) {
			t.Parallel()
			every := &drill{bin: d.bin, tally: d.tally, step: 9}
			at := slices.IndexFunc(scenes(), func(s scene) bool { return s.name == "a user's commit of all" })
			every.fail(t, scenes()[at], "prepare-commit-msg")
			every.failAt(t, scenes()[at], "prepare-commit-msg")
		})
	})
	d.tally.report(t)
}
