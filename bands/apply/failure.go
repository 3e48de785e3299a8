package apply

import (
	"errors"
)

// ErrIncomplete means that a restore was carried out but for the paths it names
// in Restored.Failed.
var ErrIncomplete = errors.New("not everything could be restored")

// Failure is a path that could not be restored.
type Failure struct {
	Path string
	Err  error
}
