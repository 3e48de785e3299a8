package proc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// TestOpeners runs alone: a process that another test starts has our files open until it executes
// its program.
func TestOpeners(t *testing.T) {
	dir := t.TempDir()
	id := func(name string) (*os.File, proc.FileID) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		var st dirfd.Stat
		if err := dirfd.StatFile(f, &st); err != nil {
			t.Fatal(err)
		}
		return f, proc.FileID{Dev: st.Dev, Ino: st.Ino}
	}
	f, open := id("open")
	_, ours := id("ours")
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stdout, child.ExtraFiles = f, []*os.File{f} // two descriptors of one process
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = child.Wait() })
	if err := os.Rename(filepath.Join(dir, "open"), filepath.Join(dir, "renamed")); err != nil {
		t.Fatal(err)
	}

	got, known := proc.Openers(open, ours)
	if known != (runtime.GOOS == "linux") {
		t.Errorf("known: %v", known)
	}
	if !known {
		return
	}
	if diff := cmp.Diff(map[proc.FileID][]int{open: {child.Process.Pid}}, got); diff != "" {
		t.Error(diff)
	}
	if got, _ := proc.Openers(); len(got) != 0 {
		t.Errorf("nothing asked: %v", got)
	}
}

func BenchmarkOpeners(b *testing.B) {
	for b.Loop() {
		proc.Openers(proc.FileID{Ino: 1})
	}
}
