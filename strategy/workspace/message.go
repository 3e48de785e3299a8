package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Digest names a text, whatever white space is around it.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	return hex.EncodeToString(sum[:8])
}
