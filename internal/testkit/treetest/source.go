package treetest

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// Source is the source of a tree's random choices: it returns a number from 0 to n-1 for a named
// choice. 0 is the simplest.
type Source func(n int, what string) int

// Seeded returns a source of pseudorandom numbers.
func Seeded(seed uint64) Source {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // to be repeated, not secret
	return func(n int, _ string) int { return r.IntN(n) }
}

// Drawn returns a source that draws from a property test, which can then minimize failures.
func Drawn(t *rapid.T) Source {
	return func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) }
}
