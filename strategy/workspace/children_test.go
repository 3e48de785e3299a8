package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// TestSlotOfAChild runs in the other process of TestChildThatStartsAnotherKeepsItsLock.
func TestSlotOfAChild(t *testing.T) {
	path := os.Getenv("SLOT_FILE")
	if path == "" {
		t.Skip("run by TestChildThatStartsAnotherKeepsItsLock")
	}
	slots, err := disk.OpenSlots(path)
	if err != nil || !slots.Taken(runsSlot("id")) {
		t.Error("no child runs", err)
	}
}

// TestChildThatStartsAnotherKeepsItsLock: a child that checks whether another one has to be
// started keeps its own lock.
func TestChildThatStartsAnotherKeepsItsLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "entire"), 0o700); err != nil {
		t.Fatal(err)
	}
	var started [][]string
	detach := func(args ...string) error { started = append(started, args); return nil }
	w := &Workspace{Repo: &git.Repo{CommonDir: dir}, Env: Environment{Detach: detach}}
	err := w.RunAsChild(t.Context(), "id", func() error {
		w.RequestCompletion(t.Context(), "id")
		if len(started) != 1 {
			t.Errorf("children: %q", started)
		}
		other := exec.Command(os.Args[0], "-test.run=^TestSlotOfAChild$")
		other.Env = append(os.Environ(), "SLOT_FILE="+filepath.Join(dir, "entire", "children.lock"))
		if out, err := other.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
