package health

import (
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/testkit/schemas"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/cleanup"
	"github.com/seed-3aff656d/entire/strategy/doctor"
	"github.com/seed-3aff656d/entire/strategy/forget"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// TestSchemas checks docs/formats/json. ENTIRE_UPDATE=1 writes the files.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types := schemas.NewTypes()
	schemas.Enum(types, settings.NoLevel, settings.Repository, settings.Marker, settings.Machine)
	schemas.Enum(types, settings.NotEnabled, settings.Vetoed, settings.Excluded, settings.Unusable)
	schemas.Enum(types, doctor.Note, doctor.Warning, doctor.Error)
	schemas.Enum(types, agenthook.TrustUnknown, agenthook.Trusted, agenthook.Untrusted)
	schemas.EnumOf[statusReport](types, "state", stateEnabled, stateDisabled, stateNotSetUp, stateNoRepo, stateBare)
	schemas.EnumOf[sessionJSON](types, "phase", session.Active, session.Idle)
	schemas.EnumOf[agentHooksJSON](types, "level", setup.LevelProject, setup.LevelUser)
	schemas.EnumOf[agentJSON](types, "level", setup.LevelProject, setup.LevelUser)
	schemas.EnumOf[contextEntryJSON](types, "cause", recall.Clear, recall.Plan, recall.Compact, recall.Exit, recall.Threshold, recall.Lost, recall.Requested, recall.Recorded)
	schemas.EnumOf[contextEntryJSON](types, "status", recall.Pending, recall.Kept)
	schemas.EnumOf[format.CheckpointJSON](types, "cause", bands.Named, bands.Auto, bands.Prompt, bands.Commit, bands.Rescue)
	schemas.EnumOf[orphanJSON](types, "kind", cleanup.Shadow, cleanup.Rescue, cleanup.State, cleanup.Checkpoint, cleanup.Transcript, cleanup.Leftover)
	schemas.EnumOf[placeJSON](types, "kind", forget.Branch, forget.Shadow, forget.Saved, forget.Other, forget.Object, forget.Packed, forget.Own, forget.File, forget.Snapshot, forget.Unknown)
	types.Golden(t, "status", "entire status", schemas.Object(statusReport{}))
	types.Golden(t, "agents", "entire agents", schemas.Object(agentsJSON{}).Lines("agents"))
	types.Golden(t, "clean", "entire clean, reset", schemas.Object(cleanJSON{}).Lines("items"), schemas.Object(resetJSON{}))
	types.Golden(t, "check", "entire check", schemas.Object(checkJSON{}).Lines("findings"))
	types.Golden(t, "doctor", "entire doctor", schemas.Object(doctorJSON{}).Lines("findings"), schemas.Object(undoneJSON{}))
	types.Golden(t, "forget", "entire forget", schemas.Object(forgetJSON{}))
	types.Golden(t, "redact", "entire redact", schemas.Object(scanJSON{}).Lines("findings"), schemas.Object(forgetJSON{}))
	types.Golden(t, "redact-check", "entire redact check", schemas.Object(redactCheckJSON{}).Lines("findings"))
}
