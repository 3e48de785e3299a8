package treetest_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// BenchmarkCountTree counts 70,000 files in 7,000 directories.
func BenchmarkCountTree(b *testing.B) {
	root := b.TempDir()
	for i := range 7000 {
		dir := filepath.Join(root, strconv.Itoa(i%20), strconv.Itoa(i%400), "package-"+strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for j := range 10 {
			if err := os.WriteFile(filepath.Join(dir, "module-"+strconv.Itoa(j)+".js"), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, workers := range []int{1, 2} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			for b.Loop() {
				if _, err := treetest.CountTree(root, workers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestCountTree(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("not with -short")
	}
	root := t.TempDir()
	want := int64(0)
	for i := range 40 {
		dir := filepath.Join(root, strconv.Itoa(i%5), strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		want++
		for j := range i {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(j)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			want++
		}
	}
	if err := os.Symlink("/", filepath.Join(root, "loop")); err != nil {
		t.Fatal(err)
	}
	want += 5 + 1
	for _, workers := range []int{0, 1, 2, 7} {
		if got, err := treetest.CountTree(root, workers); err != nil || got != want {
			t.Errorf("%d workers: %d, %v, want %d", workers, got, err, want)
		}
	}
	if _, err := treetest.CountTree(filepath.Join(root, "missing"), 2); err == nil {
		t.Error("a missing root has entries")
	}
}
