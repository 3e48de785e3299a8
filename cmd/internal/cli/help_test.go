package cli_test

import (
	"strings"
	"testing"
)

// TestWorkflowCommands checks that each command in `help workflows` exists, with its flags.
func TestWorkflowCommands(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	n := 0
	for line := range strings.Lines(d.entire("help", "workflows").out) {
		command, _, _ := strings.Cut(strings.TrimSpace(line), "   ")
		words := strings.Fields(command)
		if len(words) == 0 || words[0] != "entire" || !strings.HasPrefix(line, "  ") {
			continue
		}
		n++
		r := d.entire(append(words[1:], "--help")...)
		if r.code != 0 || !strings.Contains(r.out, "\n  entire "+words[1]) || strings.Contains(r.out, "\nRecord:\n") {
			t.Errorf("%s: exit %d, %s%s", command, r.code, r.out, r.err)
		}
	}
	if n < 10 {
		t.Errorf("%d commands in the workflows", n)
	}
}
