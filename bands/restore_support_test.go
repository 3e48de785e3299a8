//go:build linux || darwin

package bands_test

import (
	"bufio"
	"io/fs"
	"os"
	"os/exec"
	"testing"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

func bandName(n uint32) string { return band.FileName(n) }

func inodeOf(info fs.FileInfo) string { return disk.Inode(info) }

// openElsewhere opens the file in another process.
func (r *rig) openElsewhere(name string) (release func()) {
	r.t.Helper()
	cmd := exec.Command("sh", "-c", `exec 3<"$1"; echo ready; read line`, "sh", r.path(name))
	in, err := cmd.StdinPipe()
	r.must(err)
	out, err := cmd.StdoutPipe()
	r.must(err)
	r.must(cmd.Start())
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		r.t.Fatal(err)
	}
	done := false
	release = func() {
		if !done {
			done = true
			_ = in.Close()
			_ = cmd.Wait()
		}
	}
	r.t.Cleanup(release)
	return release
}

// allocated returns the number of bytes that a file takes on the disk.
func allocated(t *testing.T, path string) int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var st dirfd.Stat
	if err := dirfd.StatFile(f, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}
