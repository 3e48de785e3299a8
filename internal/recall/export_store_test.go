package recall

import "github.com/seed-3aff656d/entire/internal/git"

// Decode reads what is stored of a checkpoint.
func Decode(data []byte, id string, format git.Format) (Checkpoint, error) {
	d, err := decode(data, id, format)
	if err != nil {
		return Checkpoint{}, err
	}
	return d.checkpoint(), nil
}

// DifferingLines counts the lines that differ.
func DifferingLines(before, after []byte) (added, removed int) { return differingLines(before, after) }
