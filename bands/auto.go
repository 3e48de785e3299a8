package bands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// AutoFailures are the attempts of an automatic snapshot that failed since the last that succeeded.
type AutoFailures struct {
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	Error string    `json:"error"`
}

// autoFile is the file of a store with its AutoFailures.
const autoFile = "auto-failures.json"

// AutoFailures returns the recorded failures; none if the file is damaged.
func (s *Store) AutoFailures() (failed AutoFailures, err error) {
	data, err := disk.ReadFile(s.Path(autoFile))
	if errors.Is(err, fs.ErrNotExist) {
		return failed, nil
	}
	if err != nil {
		return failed, fmt.Errorf("read failures of automatic snapshots: %w", err)
	}
	if json.Unmarshal(data, &failed) != nil {
		failed = AutoFailures{}
	}
	return failed, nil
}

// RecordAuto records a failed attempt of an automatic snapshot with its error, or for an empty text
// forgets those before one that succeeded.
func (s *Store) RecordAuto(failure string, now time.Time) error {
	failed, err := s.AutoFailures()
	switch {
	case err != nil:
		return err
	case failure == "" && failed.Count == 0:
		return nil
	case failure == "":
		return disk.Remove(s.Path(autoFile))
	}
	if failed.Count == 0 {
		failed.First = now.UTC()
	}
	failed.Count, failed.Last, failed.Error = failed.Count+1, now.UTC(), failure
	return disk.WriteJSON(s.Path(autoFile), failed)
}
