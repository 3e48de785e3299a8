//go:build fs && linux

package testkit

import (
	"bufio"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// RecordedDisk is a mounted file system whose writes and flushes are logged, to reproduce the disks
// that a power cut may leave.
type RecordedDisk struct {
	kind, dir, mounted, base, log string

	server  *exec.Cmd
	control io.Closer
}

// RecordDisk makes such a file system and mounts it at mounted. The test is skipped if that is
// impossible.
func RecordDisk(t testing.TB, kind string, sizeMB int, mounted string) *RecordedDisk {
	t.Helper()
	dir := t.TempDir()
	d := &RecordedDisk{
		kind: kind, dir: dir, mounted: mounted,
		base: filepath.Join(dir, "base"), log: filepath.Join(dir, "log"),
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("no /dev/fuse, by which a disk's writes are logged")
	}
	image, file, program := filepath.Join(dir, "image"), filepath.Join(dir, "disk"), filepath.Join(dir, "crashdisk")
	MakeImage(t, kind, sizeMB, image)
	system(t, "cp", "--sparse=always", image, d.base)
	system(t, "go", "build", "-o", program, "github.com/seed-3aff656d/entire/internal/testkit/crashdisk")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.serve(t, exec.Command(program, image, file, d.log), file)
	MountImage(t, kind, file, mounted)
	return d
}

// serve runs the logging program until the test ends.
func (d *RecordedDisk) serve(t testing.TB, cmd *exec.Cmd, file string) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.server, d.control = cmd, in
	t.Cleanup(func() {
		_ = exec.Command("umount", file).Run()
		_ = in.Close()
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Skip("a disk whose writes are logged can't be mounted here")
	}
}

// Position returns the present length of the log.
func (d *RecordedDisk) Position(t testing.TB) int64 {
	t.Helper()
	info, err := os.Stat(d.log)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Unmount ends the recording. EachCut mounts its disks in the same place.
func (d *RecordedDisk) Unmount(t testing.TB) {
	t.Helper()
	system(t, "umount", d.mounted)
}

// Log returns the log up to a position.
func (d *RecordedDisk) Log(t testing.TB, position int64) []DiskEntry {
	t.Helper()
	entries, err := ReadDiskLog(d.log, position)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// Kept states which writes since the last flush are on the disk.
type Kept int

// The choices of kept writes.
const (
	None Kept = iota
	All
	Some // a random selection of blocks
)

func (k Kept) String() string { return [...]string{"none", "all", "some"}[k] }

// Cut is a power cut after some entries of the log.
type Cut struct {
	Entries int
	Kept    Kept
}

// EachCut mounts the disk of each cut, and calls check while it is mounted. The cuts must be in the
// order of the log.
func (d *RecordedDisk) EachCut(t testing.TB, log []DiskEntry, cuts []Cut, check func(Cut)) {
	t.Helper()
	synced := filepath.Join(d.dir, "synced")
	system(t, "cp", "--sparse=always", d.base, synced)
	from := 0 // of the log; synced has the entries before
	for i, cut := range cuts {
		last := from
		for n := from; n < cut.Entries; n++ {
			if log[n].Kind == DiskFlush {
				last = n + 1
			}
		}
		apply(t, synced, log[from:last], DiskEntry.Apply)
		from = last
		image := filepath.Join(d.dir, "cut")
		system(t, "cp", "--sparse=always", synced, image)
		switch cut.Kept {
		case None:
		case All:
			apply(t, image, log[from:cut.Entries], DiskEntry.Apply)
		case Some:
			chance := rand.New(rand.NewPCG(uint64(i), uint64(cut.Entries))) //nolint:gosec // the same in each run
			apply(t, image, log[from:cut.Entries], func(e DiskEntry, f *os.File) error { return e.ApplySome(f, chance) })
		}
		MountImage(t, d.kind, image, d.mounted)
		check(cut)
		system(t, "umount", d.mounted)
	}
}

func apply(t testing.TB, path string, entries []DiskEntry, do func(DiskEntry, *os.File) error) {
	t.Helper()
	image, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = image.Close() }()
	for _, e := range entries {
		if err := do(e, image); err != nil {
			t.Fatal(err)
		}
	}
}

// system runs a program that must succeed.
func system(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}
