package transcript_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// TestAttackPathInOneForm: a text full of one form of a path takes no longer if the other forms
// don't occur in it.
//
//nolint:paralleltest // measures processor time, so not next to the tests that work at once
func TestAttackPathInOneForm(t *testing.T) {
	move := transcript.NewPathMove("/é<", "/new")
	const times = 1 << 18
	var out []byte
	took := testkit.ProcessorTime(t, func() { out = move.Text([]byte(strings.Repeat("/é</x ", times))) })
	if n := bytes.Count(out, []byte("/new/x ")); n != times {
		t.Errorf("%d of %d paths were replaced", n, times)
	}
	if took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
