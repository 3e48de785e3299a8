package stores

import (
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/testkit/schemas"
)

// TestSchemas checks docs/formats/json. ENTIRE_UPDATE=1 writes the files.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types := schemas.NewTypes()
	schemas.EnumOf[format.CheckpointJSON](types, "cause", bands.Named, bands.Auto, bands.Prompt, bands.Commit, bands.Rescue)
	schemas.EnumOf[format.DiffJSON](types, "kind", diff.Added, diff.Deleted, diff.Modified, diff.Renamed, diff.Attributes, diff.Retyped, "unknown")
	schemas.EnumOf[format.StepJSON](types, "kind", "create", "rewrite", "replace", "attributes", "delete")
	schemas.EnumOf[runJSON](types, "result", diff.BisectGood, diff.BisectBad, diff.BisectSkip)
	types.Golden(t, "error", "An error of any command", schemas.Object(app.ErrorJSON{}))

	types.Golden(t, "snapshot-create", "entire snapshot create", schemas.Object(createdJSON{}))
	types.Golden(t, "snapshot-list", "entire snapshot list", schemas.List("snapshots", format.CheckpointJSON{}), schemas.List("snapshots", momentJSON{}))
	types.Golden(t, "snapshot-show", "entire snapshot show", schemas.Object(infoJSON{}))
	types.Golden(t, "snapshot-restore", "entire snapshot restore", schemas.Object(format.RestoredJSON{}), schemas.Object(format.PlanJSON{}), schemas.Object(volumeRestoredJSON{}))
	types.Golden(t, "snapshot-export", "entire snapshot export", schemas.Object(exportedJSON{}))
	types.Golden(t, "snapshot-delete", "entire snapshot delete", schemas.Object(deletedJSON{}))
	types.Golden(t, "snapshot-du", "entire snapshot du", schemas.Object(usageJSON{}).Lines("checkpoints"))
	types.Golden(t, "snapshot-prune", "entire snapshot prune", schemas.Object(prunedJSON{}))
	types.Golden(t, "snapshot-verify", "entire snapshot verify", schemas.Object(verifiedJSON{}))
	types.Golden(t, "diff", "entire diff", schemas.List("changes", format.DiffJSON{}))

	types.Golden(t, "bisect-run", "entire bisect run, bisect replay", schemas.Object(foundJSON{}))
	types.Golden(t, "bisect-log", "entire bisect log", schemas.Object(logJSON{}))
	types.Golden(t, "bisect-reset", "entire bisect reset", schemas.Object(resetJSON{}))

	types.Golden(t, "agentfs-init", "agentfs init", schemas.Object(storeJSON{}))
	types.Golden(t, "agentfs-manage", "agentfs manage", schemas.Object(storeJSON{}))
	types.Golden(t, "agentfs-open", "agentfs open, close", schemas.Object(storeJSON{}), schemas.List("stores", storeJSON{}))
	types.Golden(t, "agentfs-delete", "agentfs delete", schemas.Object(deletedStoreJSON{}))
	types.Golden(t, "agentfs-unmanage", "agentfs unmanage", schemas.Object(deletedStoreJSON{}))
	types.Golden(t, "agentfs-list", "agentfs list", schemas.List("stores", storeJSON{}))
	types.Golden(t, "agentfs-use", "agentfs use", schemas.Object(usedJSON{}))
	types.Golden(t, "agentfs-status", "agentfs status", schemas.Object(fsStatusJSON{}))
	types.Golden(t, "agentfs-convert", "agentfs convert", schemas.Object(convertedJSON{}), schemas.Object(canceledJSON{}), schemas.Object(removedFormerJSON{}))
	types.Golden(t, "agentfs-log", "agentfs log", schemas.List("checkpoints", format.CheckpointJSON{}))
	types.Golden(t, "agentfs-timeline", "agentfs timeline", schemas.List("checkpoints", momentJSON{}))
	types.Golden(t, "agentfs-search", "agentfs search", schemas.List("checkpoints", hitJSON{}))
	types.Golden(t, "agentfs-blame", "agentfs blame", schemas.Object(blameJSON{}).Lines("ranges"))
	types.Golden(t, "agentfs-doctor", "agentfs doctor", schemas.Object(registry.Report{}))
}
