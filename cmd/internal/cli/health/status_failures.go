package health

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/settings"
)

const (
	// tailSize is the number of bytes at the end of the log in which failures are searched, and
	// recent their maximum age.
	tailSize = 1 << 20
	recent   = 7 * 24 * time.Hour
	// seenName is the file beside the log that holds the time of the last failure shown to the
	// user.
	seenName = "seen"
)

// failuresJSON holds the hook failures that were not shown yet.
type failuresJSON struct {
	Count int       `json:"count"`
	Since time.Time `json:"since"`
	Log   string    `json:"log"`

	last time.Time
}

// failures counts the recent hook failures in the log after the last one that was shown; nil if
// there are none.
func failures(a *app.App, in settings.Folder) *failuresJSON {
	path := app.LogPath(in)
	var seen time.Time // zero if no failure was shown
	if data, err := os.ReadFile(filepath.Join(filepath.Dir(path), seenName)); err == nil {
		seen, _ = time.Parse(time.RFC3339Nano, strings.TrimSpace(string(data)))
	}
	f := &failuresJSON{Log: path}
	for _, line := range app.LogTail(path, tailSize) {
		var record struct {
			Time    time.Time `json:"time"`
			Hook    string    `json:"hook"`
			Success *bool     `json:"success"`
		}
		if json.Unmarshal([]byte(line), &record) != nil || record.Hook == "" || record.Success == nil || *record.Success {
			continue
		}
		if a.Now().Sub(record.Time) > recent || !record.Time.After(seen) {
			continue
		}
		if f.Count++; f.Count == 1 {
			f.Since = format.UTC(record.Time)
		}
		if record.Time.After(f.last) {
			f.last = record.Time
		}
	}
	if f.Count == 0 {
		return nil
	}
	return f
}
