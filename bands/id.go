package bands

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// StoreID is the same however the folder is reached.
func StoreID(dir string) string {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	sum := sha256.Sum256([]byte(filepath.Clean(dir)))
	return hex.EncodeToString(sum[:8])
}
