package transcript_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// A text full of one form of a path takes no longer because the other forms are
// nowhere in it.
func TestAttackPathInOneForm(t *testing.T) {
	t.Parallel()
	move := transcript.NewRelocation("/é<", "/new")
	const times = 1 << 18
	began := time.Now()
	out := move.Text([]byte(strings.Repeat("/é</x ", times)))
	if n := bytes.Count(out, []byte("/new/x ")); n != times {
		t.Errorf("%d of %d paths were replaced", n, times)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
