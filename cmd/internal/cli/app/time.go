package app

import (
	"errors"
	"time"

	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// ParseTime parses the time of a flag such as --since: now, today or yesterday (their beginnings),
// or a form that rewind.ParseTime accepts. An empty text is the zero time.
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
	if t, ok := rewind.ParseTime(text, now); ok {
		return t, nil
	}
	return time.Time{}, errors.New("not a time such as 90m, 2d, 3w, today, 2026-01-15 or 2026-01-15T10:00")
}
