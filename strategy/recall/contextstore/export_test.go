package contextstore

import (
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Decode parses the stored form of a checkpoint.
func Decode(data []byte, id string, format git.Format) (recall.Checkpoint, error) {
	d, err := decode(data, id, format)
	if err != nil {
		return recall.Checkpoint{}, err
	}
	return d.checkpoint(), nil
}
