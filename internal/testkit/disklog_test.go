package testkit_test

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestLogRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := testkit.DiskLogWriter{W: bufio.NewWriter(f)}
	for _, err := range []error{w.Write(7, []byte("text")), w.Flush(), w.Zero(8, 2), f.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := testkit.ReadDiskLog(path, -1)
	if err != nil {
		t.Fatal(err)
	}
	want := []testkit.DiskEntry{{Kind: testkit.DiskWrite, At: 7, Size: 4, Data: []byte("text")}, {Kind: testkit.DiskFlush}, {Kind: testkit.DiskZeros, At: 8, Size: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := testkit.ReadDiskLog(path, 20); err == nil {
		t.Error("the end of a write is missing, and no error")
	}

	image, err := os.Create(filepath.Join(t.TempDir(), "image"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = image.Close() }()
	for _, e := range got {
		if err := e.Apply(image); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(image.Name()); err != nil || string(data) != "\x00\x00\x00\x00\x00\x00\x00t\x00\x00t" {
		t.Errorf("%q, %v", data, err)
	}
}

// TestSomeBlocks checks that each block is written entirely or not at all.
func TestSomeBlocks(t *testing.T) {
	const block, blocks = 4096, 16
	image, err := os.Create(filepath.Join(t.TempDir(), "image"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = image.Close() }()
	if err := image.Truncate(block * blocks); err != nil {
		t.Fatal(err)
	}
	// The write begins and ends in the middle of a block.
	e := testkit.DiskEntry{Kind: testkit.DiskWrite, At: 100, Size: block * (blocks - 1), Data: bytes.Repeat([]byte("x"), block*(blocks-1))}
	if err := e.ApplySome(image, rand.New(rand.NewPCG(1, 2))); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(image.Name())
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for at := 0; at < len(data); at += block {
		switch n := bytes.Count(data[at:at+block], []byte("x")); n {
		case 0:
		case block, block - 100, 100:
			written++
		default:
			t.Errorf("%d bytes of the block at %d", n, at)
		}
	}
	if written == 0 || written == blocks {
		t.Errorf("%d blocks written", written)
	}
}
