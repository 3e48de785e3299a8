//go:build fs && faults && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestFSCrashVolumes kills the commands that create, open, close and delete a volume at each of
// their steps, then makes each step and all later ones fail as on a full disk. A second run of
// the command completes the work, no file of the volume is lost, and no mount or loop device is
// left over.
func TestFSCrashVolumes(t *testing.T) {
	for driver, kind := range volumeKinds() {
		t.Run(driver, func(t *testing.T) {
			testkit.Hdiutil(t)
			dir := testkit.Mount(t, kind, 3000)
			for _, name := range []string{"init", "open", "close", "delete"} {
				for _, fault := range []string{"crash", "fail"} {
					points := 0
					for n := 1; ; n++ {
						w := volumeWorld{t: t, dir: filepath.Join(dir, fmt.Sprintf("%s-%s-%d", name, fault, n)), driver: driver}
						if !w.stopped(name, fmt.Sprintf("%s:%d", fault, n)) {
							break
						}
						points++
					}
					t.Logf("%s %s: %d points", name, fault, points)
					if points == 0 && (driver != "subvolume" || name != "open" && name != "close") {
						t.Errorf("%s %s: no points", name, fault)
					}
				}
			}
		})
	}
}

// volumeKinds returns the drivers, with a file system for each.
func volumeKinds() map[string]string {
	return map[string]string{"image": testkit.XFS, "subvolume": testkit.Btrfs, "sparsebundle": testkit.XFS, "pool": testkit.Ext4}
}

// volumeWorld is a home directory with a store of volumes.
type volumeWorld struct {
	t           *testing.T
	dir, driver string
}

func (w *volumeWorld) root() string { return filepath.Join(w.dir, "app") }

// try runs agentfs and returns its output.
func (w *volumeWorld) try(env []string, args ...string) (string, error) {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(programDir(w.t), "agentfs"), args...)
	cmd.Dir = w.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.dir, "home")}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *volumeWorld) run(args ...string) string {
	w.t.Helper()
	out, err := w.try(nil, args...)
	if err != nil {
		w.t.Fatalf("%s: agentfs %q: %v\n%s", w.dir, args, err, out)
	}
	return out
}

func (w *volumeWorld) initArgs() []string {
	args := []string{"init", "app", "--driver", w.driver, "--mount", w.root()}
	if w.driver != "subvolume" {
		args = append(args, "--size", "300M")
	}
	return args
}

// stopped runs the command with a fault, and reports whether the fault struck.
func (w *volumeWorld) stopped(name, fault string) bool {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Join(w.dir, "home"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	file := filepath.Join(w.root(), "file")
	if name != "init" {
		w.run(w.initArgs()...)
		if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
			w.t.Fatal(err)
		}
		w.run("--store", "app", "checkpoint", "create", "one")
	}
	args := map[string][]string{"init": w.initArgs(), "open": {"open", "app"}, "close": {"close", "app"}, "delete": {"delete", "app", "--force", "--files"}}[name]
	if name == "open" {
		w.run("close", "app")
	}
	mark := filepath.Join(w.dir, "mark")
	said, failed := w.try([]string{"ENTIRE_FAULT=" + fault, "ENTIRE_FAULT_MARK=" + mark}, args...)
	line, err := os.ReadFile(mark)
	struck := err == nil
	if !struck && failed != nil {
		w.t.Fatalf("nothing was stopped, but: %s", said)
	}
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("%s %s: %s\n%s", name, fault, line, said)
		}
	})
	out, err := w.try(nil, args...)
	switch {
	case err == nil, name == "init" && strings.Contains(out, "a store of that name already exists"), name == "delete" && strings.Contains(out, "no store"):
	default:
		w.t.Fatalf("%s %s at %s: again: %v\n%s", name, fault, line, err, out)
	}
	switch name {
	case "init":
		w.run("open", "app")
		if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
			w.t.Fatal(err)
		}
		w.run("--store", "app", "checkpoint", "create", "one")
	case "close":
		if mounted(w.t, w.root()) {
			w.t.Fatalf("%s at %s: it is mounted", fault, line)
		}
		w.run("open", "app")
	}
	if name != "delete" {
		if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
			w.t.Fatalf("%s %s at %s: the file is %q, %v", name, fault, line, data, err)
		}
		if w.driver != "subvolume" && !mounted(w.t, w.root()) {
			w.t.Fatalf("%s %s at %s: it is not mounted", name, fault, line)
		}
		w.run("--store", "app", "restore", "v1", "--force")
		w.run("delete", "app", "--force", "--files")
	}
	w.run("doctor")
	w.clean(name + " " + fault)
	return struck
}

// clean checks that a deleted volume leaves nothing.
func (w *volumeWorld) clean(what string) {
	w.t.Helper()
	if mounted(w.t, w.root()) {
		w.t.Fatalf("%s: %s is mounted", what, w.root())
	}
	// The kernel releases the device of a killed process a moment later.
	for until := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
		left := w.devices()
		if left == "" {
			break
		}
		if time.Now().After(until) {
			w.t.Fatalf("%s: a loop device is left: %s", what, left)
		}
	}
	stores := filepath.Join(w.dir, "home", ".agentfs", "stores")
	entries, err := os.ReadDir(stores)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".entire-probe-") {
			continue // the next probe removes it once it is a minute old
		}
		w.t.Errorf("%s: %s is left in %s", what, e.Name(), stores)
	}
}

// devices returns the files below the folder that back loop devices.
func (w *volumeWorld) devices() (files string) {
	w.t.Helper()
	devices, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, path := range devices {
		if data, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(data), w.dir+"/") {
			files += string(data)
		}
	}
	return files
}

// mounted reports whether something is mounted on a folder.
func mounted(t *testing.T, dir string) bool {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == dir {
			return true
		}
	}
	return false
}
