package bands

import (
	"fmt"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Raise makes v the least version that was ever given out. It writes only if the
// store's own note of that is lost, or older, as a power cut can leave it.
func (h *Held) Raise(v Version) error {
	last := h.Reserved()
	if last.Version == 0 {
		versions, err := h.Versions()
		if err != nil {
			return err
		}
		if n := len(versions); n > 0 {
			v = max(v, versions[n-1])
		}
		last.Lineage = PlainLineage
	}
	if last.Version >= v {
		return nil
	}
	last.Version = v
	if err := disk.WriteDurable(h.Path(VersionFile), last.Encode(), 0o600); err != nil {
		return fmt.Errorf("note highest version: %w", err)
	}
	return nil
}
