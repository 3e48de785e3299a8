package hookrun_test

import (
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/hookrun"
)

func TestNeedsDatabase(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ handled, database bool }{
		"":        {},
		"status":  {},
		"version": {handled: true}, "version --help": {},
		"statusline": {handled: true}, "statusline --help": {},
		"hooks": {handled: true}, "hooks nobody stop": {handled: true}, "hooks claude-code": {handled: true},
		"hooks git post-commit": {handled: true}, "hooks git pre-push origin url": {handled: true},
		"hooks claude-code user-prompt-submit": {handled: true}, "hooks claude-code stop --user": {handled: true},
		"hooks claude-code session-start": {handled: true, database: true}, "hooks gemini session-end": {handled: true, database: true},
		"hooks index": {handled: true, database: true}, "hooks recall ID": {handled: true, database: true},
	} {
		args := strings.Fields(line)
		if handled, database := hookrun.Handles(args), hookrun.NeedsDatabase(args); handled != want.handled || database != want.database {
			t.Errorf("entire %s: handled %t, database %t", line, handled, database)
		}
	}
}
