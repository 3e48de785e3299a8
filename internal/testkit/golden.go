package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Golden compares got with the file at path. With ENTIRE_UPDATE=1 it first writes got to the file.
func Golden(tb testing.TB, path, got string) {
	tb.Helper()
	if os.Getenv("ENTIRE_UPDATE") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		tb.Errorf("%s (-want +got; ENTIRE_UPDATE=1 rewrites it):\n%s", path, diff)
	}
}
