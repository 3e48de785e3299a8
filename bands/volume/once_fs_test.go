//go:build fs && faults && linux

package volume_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestFSVolumeConcurrentProcesses lets processes take and restore the same store at once: they
// run one after the other, and each snapshot is of a moment in between.
func TestFSVolumeConcurrentProcesses(t *testing.T) {
	for driver, kind := range kinds() {
		t.Run(driver, func(t *testing.T) {
			testkit.Hdiutil(t)
			w := newWorld(t, driver, filepath.Join(testkit.Mount(t, kind, 600), "w"), 10)
			then := w.tree.Read()
			w.take()
			w.tree.Edit(8)
			now := w.tree.Read()
			var wait sync.WaitGroup
			for i := range 6 {
				wait.Go(func() {
					if out, err := w.child([]string{"take", "restore"}[i%2]).CombinedOutput(); err != nil {
						t.Errorf("%v: %s", err, out)
					}
				})
			}
			wait.Wait()
			w.same("the tree", then, w.tree.Read())
			versions := w.versions()
			if len(versions) != 7 {
				t.Errorf("%d snapshots", len(versions))
			}
			// Before the first restore they have the edited tree, after it the restored one.
			later := false
			for _, v := range versions[1:] {
				got := w.read(v)
				switch {
				case !later && treetest.Diff(now, got) == "":
				case treetest.Diff(then, got) == "":
					later = true
				default:
					t.Errorf("%s is neither: %s", v, treetest.Diff(now, got))
				}
			}
			w.checkNoLeftovers()
		})
	}
}
