//go:build fs && linux

package bands_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestFSExportClones exports a snapshot beside its tree. Where the file system shares blocks,
// files that the tree still has take no space. Files that were changed, even with the same size
// and time, come from the store.
func TestFSExportClones(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for kind, shares := range map[string]bool{testkit.XFS: true, testkit.Btrfs: true, testkit.Ext4: false} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := testkit.Mount(t, kind, 600)
			w := newWorld(t, t, filepath.Join(dir, "w"), treetest.Seeded(1))
			content := func(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "line of file %02d\n", i), mb/16) }
			file := func(root string, i int) string { return filepath.Join(root, fmt.Sprintf("file%02d", i)) }
			const files = 40
			for i := range files {
				w.must(os.WriteFile(file(w.tree.Root, i), content(i), 0o640))
			}
			taken := w.take(capture.TakeOptions{})
			snapshot, err := w.store.Snapshot(taken.Snapshot.Version)
			w.must(err)
			w.must(os.WriteFile(file(w.tree.Root, 1), []byte("changed before"), 0o640))

			set, err := w.store.ResolveOptions(w.opts)
			w.must(err)
			from := &restore.CloneSource{Root: w.tree.Root}
			from.Read, err = w.store.Stamp(set)
			w.must(err)
			from.Present, err = capture.Scan(t.Context(), w.store, w.opts)
			w.must(err)
			defer func() { w.must(from.Present.Close()) }()
			info, err := os.Stat(file(w.tree.Root, 2))
			w.must(err)
			w.must(os.WriteFile(file(w.tree.Root, 2), bytes.ToUpper(content(2)), 0o640))
			w.must(os.Chtimes(file(w.tree.Root, 2), time.Time{}, info.ModTime()))

			before := used(t, dir)
			to := filepath.Join(dir, "to")
			done, err := restore.Export(t.Context(), w.store, snapshot, to, restore.ExportOptions{Clones: from})
			w.must(err)
			if len(done.Failed) > 0 || done.Files < files {
				t.Errorf("exported %d, failed %v", done.Files, done.Failed)
			}
			for i := range files {
				got, err := os.ReadFile(file(to, i))
				if err != nil || !bytes.Equal(got, content(i)) {
					t.Errorf("file %d: %d bytes, %v: not what the snapshot has", i, len(got), err)
				}
			}
			grown := used(t, dir) - before
			if shares != (grown < 10*mb) {
				t.Errorf("%d MB of files took %d MB, blocks are shared: %v", files, grown/mb, shares)
			}
		})
	}
}
