//go:build linux || darwin

package capture_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
)

// FuzzStatCache reads damaged caches, without checking their checksums.
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
		store, err := bands.Create(dir + "/store")
		if err != nil {
			f.Fatal(err)
		}
		held, err := store.Hold(f.Context())
		if err != nil {
			f.Fatal(err)
		}
		_, err = capture.Take(f.Context(), held, capture.TakeOptions{Options: bands.Options{Root: root, Now: time.Now}, Force: true})
		if err := errors.Join(err, held.Release()); err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(dir + "/store/stat-" + bands.PlainLineage)
		if err != nil {
			f.Fatal(err)
		}
		if !capture.ReadWholeStatCache(string(data)) {
			f.Fatal("what was written can't be read")
		}
		f.Add(data)
	}
	f.Fuzz(func(_ *testing.T, data []byte) { capture.ReadWholeStatCache(string(data)) })
}
