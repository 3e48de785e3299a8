//go:build faults

package index_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed-3aff656d/entire/internal/index"
)

// TestCrashChild is the process that TestCrashWriter kills.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv("INDEX_DIR")
	if dir == "" {
		t.Skip("there is nothing to do")
	}
	fill(t, index.At(dir))
}

// TestCrashWriter kills a writer at each of its writes. The next writer must repair the index.
func TestCrashWriter(t *testing.T) {
	t.Parallel()
	_, _, want := filled(t)
	n := 1
	for ; killed(t, n, want); n++ {
	}
	if n < 6 {
		t.Errorf("there were %d writes", n)
	}
}

func killed(t *testing.T, n int, want string) bool {
	t.Helper()
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashChild$")
	child.Env = append(os.Environ(), "INDEX_DIR="+dir, "ENTIRE_FAULT=crash:"+strconv.Itoa(n), "ENTIRE_FAULT_MARK="+mark)
	out, failed := child.CombinedOutput()
	if _, err := os.Stat(mark); err != nil {
		if failed != nil {
			t.Fatalf("undisturbed: %v: %s", failed, out)
		}
		return false
	}
	at := fmt.Sprintf("at %d", n)
	f := index.At(dir)
	if got, err := state(t, f); err == nil && got == want {
		t.Logf("%s: the index was whole", at)
	} else if err != nil && !errors.Is(err, index.ErrLost) {
		t.Errorf("%s: %v", at, err)
	}
	fill(t, f)
	if got, err := state(t, f); err != nil || got != want {
		t.Errorf("%s: then %v, %s", at, err, got)
	}
	return true
}
