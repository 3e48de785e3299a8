package treetest

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// Source is where a tree's accidents come from: a number from 0 to n-1 for what
// is named. 0 is the plainest.
type Source func(n int, what string) int

// Seeded is the source of a seed.
func Seeded(seed uint64) Source {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // to be repeated, not secret
	return func(n int, _ string) int { return r.IntN(n) }
}

// Drawn is the source that a property test draws from, so that it can make
// what failed smaller.
func Drawn(t *rapid.T) Source {
	return func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) }
}
