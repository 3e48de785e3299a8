package app

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// ParseTime reads the time of a flag such as --since: a date, a date with a time, today or
// yesterday (when they began), now, or how long ago it was (90m, 1h30m, 2d, 3w). An empty
// text is the zero time.
func ParseTime(text string, now time.Time) (time.Time, error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "":
		return time.Time{}, nil
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if ago, ok := parseAgo(strings.TrimSuffix(strings.TrimSuffix(text, "ago"), " ")); ok {
		return now.Add(-ago), nil
	}
	return time.Time{}, errors.New("not a time: write 90m, 2d, 3w, today, 2026-01-15 or 2026-01-15T10:00")
}

// parseAgo reads a duration, also of days and weeks.
func parseAgo(text string) (time.Duration, bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, d >= 0
	}
	if text == "" {
		return 0, false
	}
	const day = 24 * time.Hour
	const most = 100_000
	unit := map[byte]time.Duration{'d': day, 'w': 7 * day}[text[len(text)-1]]
	n, err := strconv.ParseFloat(text[:len(text)-1], 64)
	return time.Duration(n * float64(unit)), unit != 0 && err == nil && n >= 0 && n < most
}
