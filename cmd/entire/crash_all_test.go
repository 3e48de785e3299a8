//go:build faults

package main

import (
	"strings"
	"testing"
)

// TestCrash stops the program at every write of every hook, in every scene.
func TestCrash(t *testing.T) { //nolint:tparallel // the hooks within are parallel
	t.Parallel()
	d := &drill{bin: buildFaulty(t), tally: newTally(), step: 1}
	d.each(t, d.crash)
	d.tally.report(t)
}

// TestCrashWrites makes the writes of every hook fail, in every scene: all from every fourth
// on, and those at each place.
func TestCrashWrites(t *testing.T) { //nolint:tparallel // the hooks within are parallel
	t.Parallel()
	bin := buildFaulty(t)
	from := &drill{bin: bin, tally: newTally(), step: 4}
	from.each(t, func(t *testing.T, s scene, hook string) {
		t.Helper()
		from.fail(t, s, hook)
		if s.places {
			from.failAt(t, s, hook)
		}
	})
	from.tally.report(t)
}

// each runs do for each hook of each scene.
func (d *drill) each(t *testing.T, do func(t *testing.T, s scene, hook string)) {
	t.Helper()
	t.Run("hooks", func(t *testing.T) {
		for _, s := range scenes() {
			for _, hook := range s.hooks {
				t.Run(strings.ReplaceAll(hook+", "+s.name, " ", "_"), func(t *testing.T) {
					t.Parallel()
					do(t, s, hook)
				})
			}
		}
	})
}
