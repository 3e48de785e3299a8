package settings_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/settings"
)

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "17": 17, "17B": 17, "1K": 1 << 10, "1KiB": 1 << 10, "1kB": 1000, "1.5MiB": 3 << 19, "50G": 50 << 30, "20GiB": 20 << 30, "2TB": 2e12,
	} {
		if got, err := settings.ParseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "G", "-1G", "1X", "1iB", "1GiBB", "1BG", "NaN", "Inf", "9999999T", "0x", "1 G B"} {
		if got, err := settings.ParseSize(text); err == nil {
			t.Errorf("%q was taken for %d", text, got)
		}
	}
	for n, want := range map[int64]string{0: "0B", 1000: "1000B", 1 << 20: "1MiB", 20 << 30: "20GiB", 5 << 40: "5TiB"} {
		if got := settings.FormatSize(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
