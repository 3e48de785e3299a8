package history

import (
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/testkit/schemas"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/blame"
	"github.com/seed-3aff656d/entire/strategy/importing"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// TestSchemas checks docs/formats/json. ENTIRE_UPDATE=1 writes the files.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types := schemas.NewTypes()
	schemas.Enum(types, transcript.User, transcript.Assistant, transcript.Tool)
	schemas.Enum(types, query.Active, query.Idle, query.Ended, query.Gone, query.Stored)
	schemas.Enum(types, importing.Imported, importing.Known, importing.Recorded, importing.Empty, importing.Forgotten)
	schemas.Enum(types, importing.Shown, importing.Rewritten, importing.Lines)
	schemas.Enum(types, recall.Pending, recall.Kept)
	schemas.Enum(types, recall.Clear, recall.Plan, recall.Compact, recall.Exit, recall.Threshold, recall.Lost, recall.Requested, recall.Recorded)
	schemas.Enum(types, recall.SummaryMode, recall.StatefulMode)

	schemas.EnumOf[factJSON](types, "kind", "decision", "attempt", "rule", "failure")
	schemas.EnumOf[factJSON](types, "by", "person", "plan", "agent", "output")
	schemas.EnumOf[factJSON](types, "state", "unchanged", "changed", "unknown")
	schemas.EnumOf[authorJSON](types, "kind", blame.Agent, blame.Person, blame.Unknown)
	schemas.EnumOf[hitJSON](types, "kind", index.KindNames()...)
	schemas.EnumOf[commandJSON](types, "outcome", "unknown", "passed", "failed")
	schemas.EnumOf[format.GapJSON](types, "part", format.CheckpointsPart, format.ContentsPart, format.HistoryPart)

	checkpoints := schemas.List("checkpoints", explainPointJSON{}, explainHeadJSON{}, explainEndJSON{})
	types.Golden(t, "log", "entire log, sessions", schemas.List("turns", logJSON{}, logEndJSON{}), schemas.List("sessions", sessionJSON{}, moreJSON{}), checkpoints)
	types.Golden(t, "show", "entire show, explain, why", schemas.Object(explainedJSON{}).Lines("checkpoints"), checkpoints, schemas.Object(whyJSON{}),
		schemas.Object(sessionShownJSON{}).Lines("turns"), schemas.Object(logJSON{}))
	types.Golden(t, "search", "entire search", schemas.Object(searchJSON{}).Lines("hits"))
	types.Golden(t, "usage", "entire usage", schemas.Object(usageJSON{}).Lines("members"))
	types.Golden(t, "blame", "entire blame", schemas.Object(blameJSON{}).Lines("lines"))
	types.Golden(t, "import", "entire import", schemas.Object(importJSON{}).Lines("sessions"), schemas.Object(changedImportJSON{}))
	types.Golden(t, "link", "entire link, unlink", schemas.Object(foundListJSON{}).Lines("found"), schemas.Object(relinkedJSON{}))
	types.Golden(t, "push", "entire push", schemas.Object(sharedJSON{}))
	types.Golden(t, "fetch", "entire fetch", schemas.Object(sharedJSON{}))
	types.Golden(t, "resume", "entire resume", schemas.Object(resumedJSON{}))
	types.Golden(t, "recall", "entire recall, recall resume", schemas.Object(briefJSON{}))
	types.Golden(t, "recall-list", "entire recall list, recall search", schemas.Object(recallListJSON{}).Lines("checkpoints"))
	types.Golden(t, "recall-show", "entire recall show", schemas.Object(recall.Checkpoint{}), schemas.Object(sectionsJSON{}))
	types.Golden(t, "recall-why-not", "entire recall why-not", schemas.Object(whyNotJSON{}))
	types.Golden(t, "recall-save", "entire recall save", schemas.Object(recall.Checkpoint{}))
	types.Golden(t, "recall-discard", "entire recall discard", schemas.Object(recallDiscardJSON{}))
	types.Golden(t, "recall-configure", "entire recall configure", schemas.Object(recallConfigJSON{}))
}
