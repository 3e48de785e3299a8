package rewindcmd

import (
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/testkit/schemas"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// TestSchemas checks docs/formats/json. ENTIRE_UPDATE=1 writes the files.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types := schemas.NewTypes()
	schemas.EnumOf[format.DiffJSON](types, "kind", diff.Added, diff.Deleted, diff.Modified, diff.Renamed, diff.Attributes, diff.Retyped)
	schemas.EnumOf[format.StepJSON](types, "kind", "create", "rewrite", "replace", "attributes", "delete")
	schemas.EnumOf[keptJSON](types, "reason", rewind.KeptChanged, rewind.KeptCreated, rewind.KeptCreatedBoth, rewind.KeptNamed, rewind.KeptBoth, rewind.KeptAtWork)
	schemas.EnumOf[pointJSON](types, "snapshot_cause", bands.Named, bands.Auto, bands.Prompt, bands.Commit, bands.Rescue)
	types.Golden(t, "rewind", "entire rewind, undo, redo", schemas.Object(rewoundJSON{}), schemas.Object(rewindPlanJSON{}),
		schemas.Object(codePlanJSON{}), schemas.Object(logsJSON{}), schemas.List("points", pointJSON{}))
	types.Golden(t, "fork", "entire fork", schemas.Object(madeJSON{}))
	types.Golden(t, "fork-list", "entire fork list", schemas.Object(listJSON{}).Lines("forks"))
	types.Golden(t, "fork-diff", "entire fork diff", schemas.Object(diffJSON{}).Lines("changes"))
	types.Golden(t, "fork-remove", "entire fork remove", schemas.Object(removedJSON{}))
}
