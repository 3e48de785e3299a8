//go:build linux || darwin

package bands_test

import (
	"os"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
)

// FuzzStatCache reads caches whose checksum is right but nothing else.
func FuzzStatCache(f *testing.F) {
	for _, extra := range []int{0, 3} {
		dir := f.TempDir()
		root := dir + "/tree"
		for i := range extra + 1 {
			if err := os.MkdirAll(root+"/a/b"+string(rune('0'+i)), 0o755); err != nil {
				f.Fatal(err)
			}
			if err := os.WriteFile(root+"/a/file"+string(rune('0'+i)), []byte("x"), 0o644); err != nil {
				f.Fatal(err)
			}
		}
		store := newStore(f, dir+"/store")
		snap(f, store, bands.TakeOptions{Options: bands.Options{Root: root, Now: time.Now}, Force: true})
		data, err := os.ReadFile(dir + "/store/stat-" + bands.PlainLineage)
		if err != nil {
			f.Fatal(err)
		}
		whole := data[:len(data)-4]
		if !bands.ReadStatCache(string(whole)) {
			f.Fatal("what was written can't be read")
		}
		f.Add(whole)
	}
	f.Fuzz(func(_ *testing.T, data []byte) { bands.ReadStatCache(string(data)) })
}
