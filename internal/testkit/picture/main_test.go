package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The picture in the README is drawn from docs/day.txt; `make picture` redraws it.
func TestPictureIsUpToDate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/day.txt")
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile("../../../docs/day.svg")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Draw(string(text)), string(drawn)); d != "" {
		t.Error(d)
	}
}
