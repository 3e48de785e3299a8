package strategy_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy"
)

// TestSlotOfAChild is the other process of TestChildThatStartsAnotherKeepsItsLock.
func TestSlotOfAChild(t *testing.T) {
	path := os.Getenv("SLOT_FILE")
	if path == "" {
		t.Skip("run by TestChildThatStartsAnotherKeepsItsLock")
	}
	slots, err := disk.OpenSlots(path)
	if err != nil || !slots.Taken(strategy.RunsSlot("id")) {
		t.Error("no child runs", err)
	}
}

// A child that looks whether another one has to be started is still the one that runs.
func TestChildThatStartsAnotherKeepsItsLock(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.must(os.MkdirAll(filepath.Join(d.repo.CommonDir(), "entire"), 0o700))
	r := d.recorder()
	d.must(strategy.AsChild(r, t.Context(), "id", func() error {
		strategy.Detach(r, context.Background(), "id")
		if len(d.children) != 1 {
			t.Errorf("children: %q", d.children)
		}
		other := exec.Command(os.Args[0], "-test.run=^TestSlotOfAChild$")
		other.Env = append(os.Environ(), "SLOT_FILE="+filepath.Join(d.repo.CommonDir(), "entire", "children.lock"))
		out, err := other.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return nil
	}))
}
