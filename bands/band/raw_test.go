package band_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

func TestLargeFileIsRawBand(t *testing.T) {
	t.Parallel()
	for _, how := range []disk.Linking{disk.Copy, disk.Reflink} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := writer(t, dir, band.WriterOptions{})
			before := add(t, w, band.DataRecord, []byte("before"))
			content := noise(1, 300_000)
			number, err := w.AddRaw(openFile(t, content), int64(len(content)), sha256.Sum256(content), how)
			if err != nil {
				t.Fatal(err)
			}
			after := add(t, w, band.DataRecord, []byte("after"))
			if err := errors.Join(w.Sync(), w.Sync()); err != nil {
				t.Fatal(err)
			}
			if number != 1 || before.Band != 0 || after.Band != 0 || w.Length(1) != 300_000 {
				t.Errorf("it is band %d of %d bytes, after a record in %d, before one in %d", number, w.Length(1), before.Band, after.Band)
			}
			if diff := cmp.Diff([]string{"0", "1.raw"}, names(t, dir)); diff != "" {
				t.Error(diff)
			}
			f, err := reader(t, t.TempDir(), dir).OpenRaw(number, 0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(f)
			if err := errors.Join(err, f.Close()); err != nil || !bytes.Equal(got, content) {
				t.Errorf("the band holds something else, %v", err)
			}
			info, err := os.Stat(filepath.Join(dir, "1.raw"))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("it has the mode %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestRawBandKeepsHoles(t *testing.T) {
	t.Parallel()
	f := openFile(t, nil)
	if _, err := f.WriteAt([]byte("end"), 64<<20); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := writer(t, dir, band.WriterOptions{})
	if _, err := w.AddRaw(f, 64<<20+3, band.Hash{}, disk.Copy); err != nil {
		t.Fatal(err)
	}
	if w.Added() > 1<<20 {
		t.Errorf("%d bytes were added", w.Added())
	}
	stored, err := os.Open(filepath.Join(dir, "0.raw"))
	if err != nil {
		t.Fatal(err)
	}
	var data int64
	err = disk.Segments(stored, 64<<20+3, func(_, n int64, hole bool) error {
		if !hole {
			data += n
		}
		return nil
	})
	if err := errors.Join(err, stored.Close()); err != nil || data > 1<<20 {
		t.Errorf("%d bytes are no hole, %v", data, err)
	}
}

func TestRawBandOfChangedFile(t *testing.T) {
	t.Parallel()
	content := noise(1, 5000)
	for name, test := range map[string]struct {
		size int64
		hash band.Hash
	}{
		"other content": {5000, sha256.Sum256([]byte("it was another"))},
		"shorter now":   {6000, sha256.Sum256(content)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := writer(t, dir, band.WriterOptions{})
			if _, err := w.AddRaw(openFile(t, content), test.size, test.hash, disk.Copy); !errors.Is(err, band.ErrChanged) {
				t.Errorf("the error is %v", err)
			}
			if got := names(t, dir); len(got) != 0 || w.Added() != 0 {
				t.Errorf("%v are left", got)
			}
			if err := w.Sync(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMissingRawBand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "1", one(t, 1))
	if _, err := reader(t, dir).OpenRaw(1, 0); !errors.Is(err, band.ErrDamaged) {
		t.Errorf("the error is %v", err)
	}
}
