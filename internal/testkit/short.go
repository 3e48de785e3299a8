package testkit

import "testing"

// Long skips a test under -short; why names what takes long.
func Long(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("long: " + why)
	}
}

// Rounds is how often a test repeats something: full times, under -short fewer.
func Rounds(short, full int) int {
	if testing.Short() {
		return short
	}
	return full
}
