package transcript_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/session/transcript"
)

const megabyte = 1 << 20

func BenchmarkRead20MB(b *testing.B) {
	path := write(b, string(typical(20*megabyte)))
	b.SetBytes(20 * megabyte)
	b.ReportAllocs()
	for b.Loop() {
		scan(b, path, transcript.Cursor{})
	}
}

func BenchmarkReadNew20KB(b *testing.B) {
	path := write(b, string(typical(20*megabyte)))
	at := scan(b, path, transcript.Cursor{}).Cursor
	extend(b, path, string(typical(20<<10)))
	b.ReportAllocs()
	for b.Loop() {
		if s := scan(b, path, at); s.Restarted || len(s.Calls) == 0 {
			b.Fatal("nothing read")
		}
	}
}

// BenchmarkReadSamples reads 20 MB made of real transcripts.
func BenchmarkReadSamples(b *testing.B) {
	var all bytes.Buffer
	for _, path := range samples(b) {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		all.Write(data)
		if !bytes.HasSuffix(data, []byte("\n")) {
			all.WriteByte('\n')
		}
	}
	text := strings.Repeat(all.String(), 20*megabyte/all.Len()+1)
	path := write(b, text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		scan(b, path, transcript.Cursor{})
	}
}

func BenchmarkStored20MB(b *testing.B) {
	all := bytes.Split(typical(20*megabyte), []byte("\n"))
	b.SetBytes(20 * megabyte)
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range all {
			transcript.Stored(line)
		}
	}
}

func BenchmarkLines20MB(b *testing.B) {
	path := write(b, string(typical(20*megabyte)))
	at := scan(b, path, transcript.Cursor{}).Cursor
	b.SetBytes(20 * megabyte)
	for b.Loop() {
		err := transcript.Lines(b.Context(), path, 0, at.Offset, func([]byte, int64) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
}

// samples returns the real transcripts below the directory ENTIRE_SAMPLES; if that isn't set,
// the test is skipped.
func samples(tb testing.TB) []string {
	tb.Helper()
	dir := os.Getenv("ENTIRE_SAMPLES")
	if dir == "" {
		tb.Skip("ENTIRE_SAMPLES names no directory of transcripts")
	}
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".jsonl") && !strings.Contains(path, "other-agents") {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		tb.Fatalf("no samples in %s: %v", dir, err)
	}
	return found
}
