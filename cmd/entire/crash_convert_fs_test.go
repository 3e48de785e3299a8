//go:build fs && faults && linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestFSCrashConvert kills a conversion, to a volume and back, at each of its steps, and makes
// each of them and all later ones fail as on a full disk. The files are then in the folder, and
// the next command that selects a store, or the same one, completes the conversion.
func TestFSCrashConvert(t *testing.T) {
	for driver, kind := range volumeKinds() {
		t.Run(driver, func(t *testing.T) {
			testkit.Hdiutil(t)
			dir := testkit.Mount(t, kind, 3000)
			for _, to := range []string{driver, "tree"} {
				for _, fault := range []string{"crash", "fail"} {
					points := 0
					for n := 1; ; n++ {
						w := volumeWorld{t: t, dir: filepath.Join(dir, fmt.Sprintf("%s-%s-%d", to, fault, n)), driver: driver}
						if !w.convertStopped(to, fmt.Sprintf("%s:%d", fault, n)) {
							break
						}
						points++
					}
					t.Logf("to %s, %s: %d points", to, fault, points)
					if points < 20 {
						t.Errorf("to %s, %s: only %d points", to, fault, points)
					}
				}
			}
		})
	}
}

// convertStopped converts a folder with a fault, and reports whether the fault struck.
func (w *volumeWorld) convertStopped(to, fault string) bool {
	w.t.Helper()
	fine := func(errs ...error) {
		w.t.Helper()
		for _, err := range errs {
			if err != nil {
				w.t.Fatal(err)
			}
		}
	}
	fine(os.MkdirAll(filepath.Join(w.dir, "home"), 0o755), os.MkdirAll(filepath.Join(w.root(), "src"), 0o755),
		os.WriteFile(filepath.Join(w.root(), "src", "file"), []byte("mine"), 0o600),
		os.Link(filepath.Join(w.root(), "src", "file"), filepath.Join(w.root(), "other")))
	args := func(driver, name string) []string {
		args := []string{"convert", w.root(), "--driver", driver, "--name", name, "--force"}
		if driver != "tree" && driver != "subvolume" {
			args = append(args, "--size", "300M")
		}
		return args
	}
	if to == "tree" {
		w.run(args(w.driver, "before")...)
		w.run("convert", w.root(), "--done", "--force")
	} else {
		w.run("manage", w.root(), "--name", "before")
	}
	w.run("--store", "before", "checkpoint", "create", "one")
	mark := filepath.Join(w.dir, "mark")
	said, failed := w.try([]string{"ENTIRE_FAULT=" + fault, "ENTIRE_FAULT_MARK=" + mark}, args(to, "after")...)
	line, err := os.ReadFile(mark)
	struck := err == nil
	if !struck && failed != nil {
		w.t.Fatalf("nothing was stopped, but: %s", said)
	}
	w.run("list") // any command that selects a store completes a pending conversion
	out, err := w.try(nil, "--store", "before", "status")
	if err != nil && !strings.Contains(out, "no store") {
		w.t.Fatalf("%s at %s: status: %v\n%s", fault, line, err, out)
	}
	w.holds(fault + " at " + string(line))
	switch out, err = w.try(nil, args(to, "after")...); {
	case err == nil, strings.Contains(out, "already has that driver"), strings.Contains(out, "former conversion is still kept"):
	case strings.Contains(out, "a store of that name already exists"):
		w.t.Fatalf("%s at %s: a store is in the way:\n%s", fault, line, out)
	default:
		w.t.Fatalf("%s at %s: again: %v\n%s", fault, line, err, out)
	}
	w.holds(fault + " at " + string(line) + ", again")
	if out := w.run("--store", "after", "status"); !strings.Contains(out, "Mounted:     Yes") || !strings.Contains(out, w.root()+"\n") {
		w.t.Fatalf("%s at %s: %s", fault, line, out)
	}
	w.run("--store", "after", "checkpoint", "create", "two")
	w.run("--store", "after", "restore", "v1", "--force")
	w.holds(fault + " at " + string(line) + ", restored")
	w.run("convert", w.root(), "--done", "--force")
	w.run("delete", "before", "--force", "--files")
	w.run("doctor")
	w.run("delete", "after", "--force", "--files")
	for _, left := range []string{".former", ".converting"} {
		if _, err := os.Lstat(w.root() + left); err == nil {
			w.t.Fatalf("%s at %s: %s is left", fault, line, w.root()+left)
		}
	}
	w.clean("convert " + fault)
	return struck
}

// holds checks that the folder has its files.
func (w *volumeWorld) holds(when string) {
	w.t.Helper()
	for _, name := range []string{"src/file", "other"} {
		if data, err := os.ReadFile(filepath.Join(w.root(), name)); err != nil || string(data) != "mine" {
			w.t.Fatalf("%s: %s is %q, %v", when, name, data, err)
		}
	}
}
