package health

import (
	"testing"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/testkit/schemas"
	"github.com/seed-3aff656d/entire/strategy/doctor"
)

// TestSchemas checks docs/formats/json. ENTIRE_UPDATE=1 writes the files.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types := schemas.NewTypes()
	schemas.Enum(types, settings.NoLevel, settings.Repository, settings.Marker, settings.Machine)
	schemas.Enum(types, settings.NotEnabled, settings.Vetoed, settings.Excluded, settings.Unusable)
	schemas.Enum(types, doctor.Note, doctor.Warning, doctor.Error)
	schemas.Enum(types, agenthook.TrustUnknown, agenthook.Trusted, agenthook.Untrusted)
	types.Golden(t, "status", "entire status", schemas.Object(statusReport{}))
	types.Golden(t, "agents", "entire agents", schemas.Object(agentsJSON{}).Lines("agents"))
	types.Golden(t, "clean", "entire clean, reset", schemas.Object(cleanJSON{}).Lines("items"), schemas.Object(resetJSON{}))
	types.Golden(t, "check", "entire check", schemas.Object(checkJSON{}).Lines("findings"))
	types.Golden(t, "doctor", "entire doctor", schemas.Object(doctorJSON{}).Lines("findings"), schemas.Object(undoneJSON{}))
	types.Golden(t, "forget", "entire forget", schemas.Object(forgetJSON{}))
	types.Golden(t, "redact", "entire redact", schemas.Object(scanJSON{}).Lines("findings"), schemas.Object(forgetJSON{}))
	types.Golden(t, "redact-check", "entire redact check", schemas.Object(redactCheckJSON{}).Lines("findings"))
}
