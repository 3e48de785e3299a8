package testkit

import (
	"maps"
	"slices"
	"testing"
)

// Long skips a test under -short; why names what takes long.
func Long(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("long: " + why)
	}
}

// ShortOf returns all of a list, under -short only n of it, evenly spread.
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

// ShortTable returns all of a table of cases, under -short only n of them, evenly spread
// over their sorted names.
func ShortTable[T any](table map[string]T, n int) map[string]T {
	some := make(map[string]T, len(table))
	for _, name := range ShortOf(slices.Sorted(maps.Keys(table)), n) {
		some[name] = table[name]
	}
	return some
}

// Rounds is how often a test repeats something: full times, under -short fewer.
func Rounds(short, full int) int {
	if testing.Short() {
		return short
	}
	return full
}
