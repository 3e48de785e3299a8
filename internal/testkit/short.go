package testkit

import "testing"

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

// Rounds is how often a test repeats something: full times, under -short fewer.
func Rounds(short, full int) int {
	if testing.Short() {
		return short
	}
	return full
}
