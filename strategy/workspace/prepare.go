package workspace

import (
	"encoding/hex"
	"fmt"
	"io"
)

func (r *Workspace) NewNonce() (string, error) {
	b := make([]byte, 6)
	if _, err := io.ReadFull(r.Env.Random, b); err != nil {
		return "", fmt.Errorf("random number: %w", err)
	}
	return hex.EncodeToString(b), nil
}
