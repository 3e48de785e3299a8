package session

import "github.com/seed-3aff656d/entire/internal/plain"

type (
	// Paths are file names in JSON, Path is a single one.
	Paths = plain.GitPaths
	Path  = plain.GitName
)
