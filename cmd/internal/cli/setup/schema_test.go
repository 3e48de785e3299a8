package setup

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/testkit/schemas"
)

// TestSchemas checks docs/formats/json. ENTIRE_UPDATE=1 writes the files.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types := schemas.NewTypes()
	schemas.Enum(types, settings.NoLevel, settings.Repository, settings.Marker, settings.Machine)
	schemas.EnumOf[hooksJSON](types, "level", LevelProject, LevelUser)
	types.Golden(t, "enable", "entire enable, disable, agents install, agents remove", schemas.Object(recordingJSON{}))
	types.Golden(t, "config", "entire config, config get, config set, config unset", schemas.Object(Report{}), schemas.Object(Value{}))
	types.Golden(t, "config-trust", "entire config trust", schemas.Object(trustReport{}))
}
