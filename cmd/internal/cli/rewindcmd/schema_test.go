package rewindcmd

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit/schemas"
)

// TestSchemas checks docs/formats/json. ENTIRE_UPDATE=1 writes the files.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types := schemas.NewTypes()
	types.Golden(t, "rewind", "entire rewind, undo, redo", schemas.Object(rewoundJSON{}), schemas.Object(rewindPlanJSON{}),
		schemas.Object(codePlanJSON{}), schemas.Object(logsJSON{}), schemas.List("points", pointJSON{}))
	types.Golden(t, "fork", "entire fork", schemas.Object(madeJSON{}))
	types.Golden(t, "fork-list", "entire fork list", schemas.Object(listJSON{}).Lines("forks"))
	types.Golden(t, "fork-diff", "entire fork diff", schemas.Object(diffJSON{}).Lines("changes"))
	types.Golden(t, "fork-remove", "entire fork remove", schemas.Object(removedJSON{}))
}
