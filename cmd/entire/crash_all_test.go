//go:build faults

package main

import (
	"strings"
	"testing"
)

// TestCrash stops the program at every write of every hook, in every scene.
func TestCrash(t *testing.T) {
	t.Parallel()
	d := &drill{bin: buildFaulty(t), tally: newTally(), step: 1}
	d.each(t, d.crash)
	d.tally.report(t)
}

// TestCrashWrites lets writes of every hook fail, in every scene: from every
// third on, and at each place.
func TestCrashWrites(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	from := &drill{bin: bin, tally: newTally(), step: 3}
	from.each(t, from.fail)
	from.tally.report(t)
	at := &drill{bin: bin, tally: newTally(), step: 1}
	at.each(t, func(t *testing.T, s scene, hook string) {
		t.Helper()
		if s.places {
			at.failAt(t, s, hook)
		}
	})
	at.tally.report(t)
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
