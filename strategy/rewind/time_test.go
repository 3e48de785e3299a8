package rewind_test

import (
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/strategy/rewind"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 15, 30, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"5m":                          now.Add(-5 * time.Minute),
		"1h30m":                       now.Add(-90 * time.Minute),
		"1.5d":                        now.Add(-36 * time.Hour),
		"2W":                          now.AddDate(0, 0, -14),
		"10 minutes ago":              now.Add(-10 * time.Minute),
		"10.minutes.ago":              now.Add(-10 * time.Minute),
		"an hour ago":                 now.Add(-time.Hour),
		"a week ago":                  now.AddDate(0, 0, -7),
		"half an hour ago":            now.Add(-30 * time.Minute),
		"2 days ago":                  now.AddDate(0, 0, -2),
		"yesterday":                   now.AddDate(0, 0, -1),
		"14:30":                       now.Add(-time.Hour),
		"today 15:00:30":              time.Date(2026, 3, 4, 15, 0, 30, 0, time.UTC),
		"23:00":                       time.Date(2026, 3, 3, 23, 0, 0, 0, time.UTC),
		"2026-01-27":                  time.Date(2026, 1, 27, 0, 0, 0, 0, time.UTC),
		"2026-01-27 10:32":            time.Date(2026, 1, 27, 10, 32, 0, 0, time.UTC),
		"2026-01-27t10:32:01":         time.Date(2026, 1, 27, 10, 32, 1, 0, time.UTC),
		"2026-01-27T10:32:01.5+01:00": time.Date(2026, 1, 27, 9, 32, 1, 5e8, time.UTC),
		// ids, revisions, and durations that are too long
		"0": {}, "12": {}, "1e5d": {}, "abcd": {}, "v3": {}, "5 minutes": {}, "-5m": {}, "ago": {}, "": {}, "5 years ago": {}, "99999w": {}, "999999 weeks ago": {},
	} {
		if got, ok := rewind.ParseTime(text, now); ok == want.IsZero() || !got.Equal(want) {
			t.Errorf("%q is %v (%v), want %v", text, got, ok, want)
		}
	}
}
