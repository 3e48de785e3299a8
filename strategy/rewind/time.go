package rewind

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ParseTime parses a time: how long ago it was ("90m", "1h30m", "1.5d", "10 minutes ago",
// "half an hour ago", "yesterday"), a time of the last 24 hours ("14:30"), a date, or a date
// and a time.
func ParseTime(text string, now time.Time) (time.Time, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "yesterday" {
		return now.AddDate(0, 0, -1), true
	}
	if ago, ok := parseAgo(text); ok {
		return now.Add(-ago), true
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, strings.ToUpper(text), now.Location()); err == nil {
			return at, true
		}
	}
	text = strings.TrimPrefix(text, "today ")
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			today := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, now.Location())
			if today.After(now) {
				today = today.AddDate(0, 0, -1)
			}
			return today, true
		}
	}
	return time.Time{}, false
}

// parseAgo parses a duration, with or without "ago", that fits a time.Duration. It accepts
// less than time.ParseDuration does: "0" and "1e5d" may also be the beginning of an id.
func parseAgo(text string) (time.Duration, bool) {
	text, hasAgo := strings.CutSuffix(text, "ago")
	text = strings.TrimRight(text, " .")
	if regexp.MustCompile(`^(?:\d+(?:\.\d+)?[hms])+$`).MatchString(text) {
		d, err := time.ParseDuration(text)
		return d, err == nil
	}
	m := regexp.MustCompile(`^(\d+(?:\.\d+)?|an? ?)[ .]*([a-z]+?)s?$`).FindStringSubmatch(strings.Replace(text, "half an hour", "30 minutes", 1))
	if m == nil || !hasAgo && len(m[2]) > 1 {
		return 0, false
	}
	const day = 24 * time.Hour
	units := map[string]time.Duration{
		"second": time.Second, "sec": time.Second, "s": time.Second,
		"minute": time.Minute, "min": time.Minute, "m": time.Minute,
		"hour": time.Hour, "h": time.Hour, "day": day, "d": day, "week": 7 * day, "w": 7 * day,
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		n = 1 // "a", "an"
	}
	d := n * float64(units[m[2]])
	return time.Duration(d), units[m[2]] != 0 && d < float64(1<<63)
}
