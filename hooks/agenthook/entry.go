package agenthook

import (
	"strconv"
	"time"

	"github.com/seed-3aff656d/entire/internal/jsonedit"
)

// entry is one of our hooks: the agent's event, the verb it calls and the tools to which it
// applies. former is the matcher that the existing tool writes. timeout is the time limit in
// seconds, 0 for the agent's default.
type entry struct {
	event, verb, matcher, former string
	timeout                      int
}

// command returns the command that the agent runs: it is silent, and succeeds even without the
// binary, since an exit status of 2 would block the agent.
func (d *dialect) command(e entry) string {
	return "entire hooks " + d.agent.Name + " " + e.verb + d.argument + " 2>/dev/null || true"
}

// timeLimit returns the entry's time limit in the agent's unit.
func (d *dialect) timeLimit(e entry) string {
	return strconv.FormatInt(int64(time.Duration(e.timeout)*time.Second/d.form.unit), 10)
}

// hook returns the entry as compact JSON, with its group.
func (d *dialect) hook(e entry) string {
	f := d.form
	hook := `{`
	if f.named {
		hook += `"name":` + jsonedit.Quote("entire "+e.verb) + `,`
	}
	hook += `"type":"command",` + jsonedit.Quote(f.command) + `:` + jsonedit.Quote(d.command(e))
	if e.timeout > 0 {
		hook += `,` + jsonedit.Quote(f.timeout) + `:` + d.timeLimit(e)
	}
	if f.flat && e.matcher != "" {
		hook += `,"matcher":` + jsonedit.Quote(e.matcher)
	}
	hook += `}`
	if f.flat {
		return hook
	}
	matcher := ""
	if e.matcher != "" || f.anyMatcher {
		matcher = `"matcher":` + jsonedit.Quote(e.matcher) + `,`
	}
	return `{` + matcher + `"hooks":[` + hook + `]}`
}
