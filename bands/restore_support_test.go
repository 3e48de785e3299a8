//go:build linux || darwin

package bands_test

import (
	"bufio"
	"io/fs"
	"os/exec"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

func bandName(n uint32) string { return band.FileName(n) }

func inodeOf(info fs.FileInfo) string { return disk.Inode(info) }

// openElsewhere lets another process have the file open.
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
