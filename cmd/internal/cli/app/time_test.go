package app

import (
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 15, 30, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                  {},
		"now":               now,
		"today":             time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC),
		"yesterday":         time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC),
		"90m":               now.Add(-90 * time.Minute),
		"1h30m":             now.Add(-90 * time.Minute),
		"2h ago":            now.Add(-2 * time.Hour),
		"2d":                now.AddDate(0, 0, -2),
		"1.5d":              now.Add(-36 * time.Hour),
		"3w":                now.AddDate(0, 0, -21),
		"2026-01-15":        time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC),
		"2026-01-15 10:00":  time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC),
		"2026-01-15T10:00":  time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC),
		"2026-01-15T10:00Z": {},
	} {
		got, err := ParseTime(text, now)
		if bad := want.IsZero() && text != ""; bad != (err != nil) || !got.Equal(want) {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"-5m", "d", "ago", "5y", "NaNd", "200000d", "soon", "99999w"} {
		if got, err := ParseTime(text, now); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}
