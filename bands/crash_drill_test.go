//go:build faults && (linux || darwin)

package bands_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// doing is something with a store that is stopped in the middle.
type doing struct {
	name string
	// prepare comes before, with nobody stopped.
	prepare func(w *world)
	// do runs in a process of its own.
	do func(w *world, h *bands.Held) error
	// after holds what was left against what must be: w.holds has every snapshot
	// that was there, present is the tree as it was before.
	after func(t *testing.T, w *world, n int, present treetest.Model)
	// step is how many points lie between two that are tried.
	step int
}

// The variables that tell the process what to do.
const (
	doingVar = "BANDS_DOING"
	worldVar = "BANDS_WORLD"
)

// TestCrashChild is no test but the process that is stopped.
func TestCrashChild(t *testing.T) {
	name := os.Getenv(doingVar)
	if name == "" {
		t.Skip("there is nothing to do")
	}
	for _, d := range doings() {
		if d.name != name {
			continue
		}
		dir := os.Getenv(worldVar)
		store, err := bands.Open(filepath.Join(dir, "store"))
		if err != nil {
			t.Fatal(err)
		}
		w := &world{tb: t, ctx: t, dir: dir, store: store, opts: options(dir)}
		h, err := store.Hold(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.do(w, h), h.Release()); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("%q is nothing that can be done", name)
}

// TestCrash kills the process at each of its writes in turn.
func TestCrash(t *testing.T) {
	t.Parallel()
	drills(t, "crash")
}

// TestCrashWrites lets every write from one on fail, as on a full disk.
func TestCrashWrites(t *testing.T) {
	t.Parallel()
	drills(t, "fail")
}

func drills(t *testing.T, fault string) {
	t.Helper()
	for _, d := range doings() {
		t.Run(strings.ReplaceAll(d.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			points, failed := 0, 0
			// Each n has a tree of its own: some write more than others.
			for n, past := 1, 0; past < 4 && failed < 4; n += max(d.step, 1) {
				switch struck, right := d.stopped(t, fault, n); {
				case !right:
					failed++
				case struck:
					points++
				default:
					past++
				}
				if points > 2000 {
					t.Fatal("it writes and writes")
				}
			}
			if points == 0 {
				t.Error("it wrote nothing")
			}
			fmt.Printf("%s: %d points\n", t.Name(), points)
		})
	}
}

// stopped plays it once with a fault at the write n, and reports whether it came
// that far, and whether all was right.
func (d doing) stopped(t *testing.T, fault string, n int) (struck, right bool) {
	t.Helper()
	right = t.Run(fmt.Sprintf("%04d", n), func(t *testing.T) {
		dir := t.TempDir()
		t.Cleanup(func() { treetest.Loosen(dir) })
		w := newWorld(t, t, dir, treetest.Seeded(uint64(n)))
		w.tree.Can.Owners = w.tree.Can.Owners && n%2 == 0
		d.prepare(w)
		present := w.tree.Read()
		mark := filepath.Join(dir, "mark")
		said := d.child(t, w, fault+":"+strconv.Itoa(n), mark)
		line, err := os.ReadFile(mark)
		struck = err == nil
		if !struck && strings.Contains(said, "FAIL") {
			t.Fatalf("nobody was stopped, but:\n%s", said)
		}
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("%s at %s\n%s", fault, line, said)
			}
		})
		w.reopen()
		d.after(t, w, n, present)
	})
	return struck, right
}

// child runs it in a process of its own.
func (d doing) child(t *testing.T, w *world, fault, mark string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestCrashChild$", "-test.timeout=60s")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.opts.Home, "TMPDIR=" + w.dir,
		doingVar + "=" + d.name, worldVar + "=" + w.dir,
		"ENTIRE_FAULT=" + fault, "ENTIRE_FAULT_MARK=" + mark,
	}
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(said)
}

// policy prunes all it may.
func policy() retention.Policy { return retention.Policy{Now: time.Now(), Keep: 1} }
