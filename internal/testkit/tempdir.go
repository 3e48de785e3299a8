package testkit

import (
	"os"
	"testing"

	_ "github.com/seed-3aff656d/entire/internal/database/driver" // as in the programs that open databases
)

// onDisk is where temporary files are without InMemory.
var onDisk = os.TempDir() //nolint:gochecknoglobals // read before InMemory changes TMPDIR

// InMemory returns tests that keep their temporary files in memory if there is room, as they make
// many small files and sync them. If TMPDIR is set, it is used.
func InMemory(m *testing.M) interface{ Run() int } { return inMemory{m} }

type inMemory struct{ m *testing.M }

// Run runs the tests and returns their exit code.
func (i inMemory) Run() int {
	if os.Getenv("TMPDIR") != "" {
		return i.m.Run()
	}
	dir, remove := memoryDir()
	defer remove()
	if dir != "" {
		if err := os.Setenv("TMPDIR", dir); err != nil {
			panic(err)
		}
	}
	return i.m.Run()
}

// DiskDir returns a new directory that InMemory doesn't affect, for tests of the behavior of disk
// file systems.
func DiskDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(onDisk, "go-test-tmp-") //nolint:usetesting // t.TempDir is in memory
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
