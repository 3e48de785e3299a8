package agenthook

import (
	"strconv"
	"time"

	"github.com/seed-3aff656d/entire/internal/jsonedit"
)

// entry is one hook of ours: the agent's event, the verb it calls and the tools
// that it is for. former is the matcher that the existing tool writes, timeout
// the seconds that the agent is configured to give it, 0 for those that it gives.
type entry struct {
	event, verb, matcher, former string
	timeout                      int
}

// command is what the agent runs: silent and successful without the binary,
// and never with an exit status, since 2 would block the agent.
func (d *dialect) command(e entry) string {
	return "entire hooks " + d.agent.Name + " " + e.verb + d.argument + " 2>/dev/null || true"
}

// timeLimit is the entry's time limit in the agent's unit.
func (d *dialect) timeLimit(e entry) string {
	return strconv.FormatInt(int64(time.Duration(e.timeout)*time.Second/d.form.unit), 10)
}

// hook is the entry as compact JSON, with its group.
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
