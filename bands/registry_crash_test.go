//go:build faults && (linux || darwin)

package bands_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
)

// registryOperations returns the operations that are stopped at each of their writes and then
// repeated. They run on a machine with the store old.
func registryOperations() map[string]func(t *testing.T, m machine) error {
	return map[string]func(t *testing.T, m machine) error{
		"init": func(t *testing.T, m machine) error {
			t.Helper()
			_, err := m.Init(t.Context(), "new", m.path("new"), 0)
			return err
		},
		"delete": func(t *testing.T, m machine) error {
			t.Helper()
			e, err := m.Find(t.Context(), "old")
			if errors.Is(err, bands.ErrNoStore) {
				return nil
			}
			return errors.Join(err, m.DeleteStore(t.Context(), e))
		},
		"repository": func(t *testing.T, m machine) error {
			t.Helper()
			repo := m.path("x", "old")
			_, err := m.RepositoryStore(t.Context(), filepath.Join(repo, ".git"), repo)
			return errors.Join(os.MkdirAll(filepath.Join(repo, ".git"), 0o755), err)
		},
		"close": func(t *testing.T, m machine) error {
			t.Helper()
			e, err := m.Find(t.Context(), "old")
			if err == nil {
				_, err = m.CloseStore(t.Context(), e)
			}
			return err
		},
		"doctor": func(t *testing.T, m machine) error {
			t.Helper()
			_, err := m.Doctor(t.Context(), nil)
			return err
		},
	}
}

// TestRegistryCrashChild isn't a test: it is the process that is stopped.
func TestRegistryCrashChild(t *testing.T) {
	do := registryOperations()[os.Getenv("REGISTRY_DOING")]
	if do == nil {
		t.Skip("there is nothing to do")
	}
	fine(t, do(t, machineIn(os.Getenv("REGISTRY_DIR"))))
}

func TestRegistryAfterInterruption(t *testing.T) {
	t.Parallel()
	for name, do := range registryOperations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 1
			for runTwice(t, name, do, n) {
				n++
			}
			if n < 3 {
				t.Errorf("there were %d writes", n)
			}
		})
	}
}

// runTwice runs the operation in a process that is killed at its nth write, then again. It
// returns false if there are fewer writes.
func runTwice(t *testing.T, name string, do func(t *testing.T, m machine) error, n int) bool {
	t.Helper()
	m := newMachine(t)
	old := m.init(t, "old")
	putFile(t, filepath.Join(old.Root, "file"), "mine")
	putFile(t, filepath.Join(m.Home, "stores", ".new-x", "y"), "")
	mark := m.path("mark")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRegistryCrashChild$")
	child.Env = append(os.Environ(), "REGISTRY_DOING="+name, "REGISTRY_DIR="+m.dir, "ENTIRE_FAULT=crash:"+strconv.Itoa(n), "ENTIRE_FAULT_MARK="+mark)
	out, failed := child.CombinedOutput()
	if _, err := os.Stat(mark); err != nil {
		if failed != nil {
			t.Fatalf("undisturbed: %v: %s", failed, out)
		}
		return false
	}
	at := fmt.Sprintf("at %d, %s", n, fileText(t, mark))

	list, err := m.List(t.Context())
	if err != nil {
		t.Errorf("%s: %v", at, err)
	}
	for _, e := range list {
		if got, err := m.Find(t.Context(), e.Name); err != nil || got.ID != e.ID {
			t.Errorf("%s: %s is listed, and %v, %v is found", at, e.Name, got, err)
		}
	}
	_, made := os.Stat(m.path("new", ".agentfs")) // by the interrupted init
	if err := do(t, m); err != nil && (made != nil || !errors.Is(err, registry.ErrNameTaken)) {
		t.Errorf("%s: again: %v", at, err)
	}
	report := doctor(t, m, registry.RepositoryDir(m.path("x", "old", ".git")))
	if len(report.Problems) > 0 {
		t.Errorf("%s: %q", at, report.Problems)
	}
	if again := doctor(t, m); len(again.Mended)+len(again.Problems) > 0 {
		t.Errorf("%s: %+v", at, again)
	}
	if got := fileText(t, filepath.Join(old.Root, "file")); got != "mine" {
		t.Errorf("%s: the tree has %q", at, got)
	}
	left, err := filepath.Glob(filepath.Join(m.Home, "stores", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%s: left %v, %v", at, left, err)
	}
	return true
}
