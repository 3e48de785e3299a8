//go:build fs

package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Hdiutil puts the stand-in for hdiutil on the PATH until the test ends, and returns its folder. A
// file named fail there makes it fail: see internal/testkit/hdiutil.
func Hdiutil(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "hdiutil"), "github.com/seed-3aff656d/entire/internal/testkit/hdiutil")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build hdiutil: %v\n%s", err, out)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}
