//go:build faults

package main

import (
	"strings"
	"testing"
)

// TestCrash stops the program at every write of every hook, in every scene.
func TestCrash(t *testing.T) {
	t.Parallel()
	d := &drill{bin: buildFaulty(t), tally: &tally{points: map[string]int{}}, step: 1}
	t.Run("hooks", func(t *testing.T) {
		for _, s := range scenes() {
			for _, hook := range s.hooks {
				t.Run(strings.ReplaceAll(hook+", "+s.name, " ", "_"), func(t *testing.T) {
					t.Parallel()
					d.crash(t, s, hook)
				})
			}
		}
	})
	d.tally.report(t)
}
