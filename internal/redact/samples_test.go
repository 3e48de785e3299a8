package redact_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
)

// TestFalseHits counts the replacements in the transcripts below ENTIRE_SAMPLES, which contain no
// secrets.
func TestFalseHits(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("ENTIRE_SAMPLES")
	if dir == "" {
		t.Skip("ENTIRE_SAMPLES is not set")
	}
	r := redact.New()
	size, hits := 0, map[string]int{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		size += len(data)
		for line := range bytes.Lines(data) {
			for _, h := range r.CheckLine(bytes.TrimRight(line, "\r\n")) {
				hits[h.Rule]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range hits {
		total += n
	}
	t.Logf("%d hits in %.1f MB: %v", total, float64(size)/1e6, hits)
	if mb := size/1_000_000 + 1; total > mb {
		t.Errorf("%d hits in %d MB, want at most one in each", total, mb)
	}
}
