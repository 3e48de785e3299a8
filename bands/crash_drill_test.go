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

// operation is an operation on a store that is stopped in the middle.
type operation struct {
	name string
	// prepare runs before do, without faults.
	prepare func(w *world)
	// do runs in a process of its own.
	do func(w *world, h *bands.Held) error
	// after checks the result. w.holds has all snapshots that existed before do, and present is
	// the tree before do.
	after func(t *testing.T, w *world, n int, present treetest.Model)
	// step is the distance between two tested writes.
	step int
}

// The environment variables that tell the child process what to do.
const (
	operationVar = "BANDS_DOING"
	worldVar     = "BANDS_WORLD"
)

// TestCrashChild isn't a test: it is the process that is stopped.
func TestCrashChild(t *testing.T) {
	name := os.Getenv(operationVar)
	if name == "" {
		t.Skip("there is nothing to do")
	}
	for _, d := range operations() {
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

// TestCrashWrites makes all writes from the nth on fail, as on a full disk.
func TestCrashWrites(t *testing.T) {
	t.Parallel()
	drills(t, "fail")
}

func drills(t *testing.T, fault string) {
	t.Helper()
	for _, d := range operations() {
		t.Run(strings.ReplaceAll(d.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			points, failed := 0, 0
			// Each n has its own tree: some trees need more writes than others.
			for n, past := 1, 0; past < 4 && failed < 4; n += max(d.step, 1) {
				switch struck, right := d.runWithFault(t, fault, n); {
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

// runWithFault runs the operation with a fault at its nth write. It reports whether the fault
// struck, and whether all checks passed.
func (d operation) runWithFault(t *testing.T, fault string, n int) (struck, right bool) {
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

// child runs the operation in a process of its own and returns its output.
func (d operation) child(t *testing.T, w *world, fault, mark string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestCrashChild$", "-test.timeout=60s")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.opts.Home, "TMPDIR=" + w.dir,
		operationVar + "=" + d.name, worldVar + "=" + w.dir,
		"ENTIRE_FAULT=" + fault, "ENTIRE_FAULT_MARK=" + mark,
	}
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(said)
}

// policy returns a policy that prunes as much as possible.
func policy() retention.Policy { return retention.Policy{Now: time.Now(), Keep: 1} }
