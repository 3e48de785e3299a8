package workspace

import (
	"github.com/seed-3aff656d/entire/bands/tree"
)

// AutoMessage is the message of snapshots that nobody asked for.
const AutoMessage = "auto"

func IsDir(e *tree.Entry) bool { return e != nil && e.Kind == tree.Dir }
