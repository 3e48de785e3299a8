package testkit

import (
	"maps"
	"slices"
	"testing"
)

// Long skips a test under -short; why is the reason for its duration.
func Long(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("long: " + why)
	}
}

// ShortOf returns the whole list, or under -short n of its elements, evenly spread.
func ShortOf[T any](list []T, n int) []T {
	if !testing.Short() || n >= len(list) {
		return list
	}
	some := make([]T, n)
	for i := range some {
		some[i] = list[i*len(list)/n]
	}
	return some
}

// ShortTable returns the whole table of cases, or under -short n of them, evenly spread over their
// sorted names.
func ShortTable[T any](table map[string]T, n int) map[string]T {
	some := make(map[string]T, len(table))
	for _, name := range ShortOf(slices.Sorted(maps.Keys(table)), n) {
		some[name] = table[name]
	}
	return some
}

// Rounds returns the number of repetitions in a test: full, or short under -short.
func Rounds(short, full int) int {
	if testing.Short() {
		return short
	}
	return full
}
