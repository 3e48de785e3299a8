package savedcontext

import (
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Occasion is an event on which a session's context may be saved.
type Occasion struct {
	cause recall.Cause
	// onClear is the setting for a clear; verify skips a clear without changes;
	// auto permits saving without a request.
	onClear      settings.Choice
	verify, auto bool
	// asked reports whether the session ever had a prompt, changed whether its context differs
	// from its last kept checkpoint.
	asked, changed bool
}

// Verdict is the decision about an occasion.
type Verdict struct {
	save   bool
	status recall.Status
	// ask reports whether to ask the user, if that is possible.
	ask bool
}

// verdict returns the decision. A requested checkpoint is always saved. A session without a
// prompt has nothing to save. An accepted plan is saved without a question, even if only the
// plan is new; a clear follows its setting; any other cause saves if the context changed.
func (o Occasion) verdict() Verdict {
	keep := Verdict{save: true, status: recall.Kept}
	switch {
	case o.cause == recall.Requested:
		return keep
	case !o.auto || !o.asked:
		return Verdict{}
	case o.cause != recall.Clear && o.cause != recall.Plan:
		if !o.changed {
			return Verdict{}
		}
		return keep
	case o.onClear == settings.Never:
		return Verdict{}
	case o.cause == recall.Plan:
		return keep
	case !o.changed && o.verify:
		return Verdict{}
	case o.onClear == settings.Always:
		return keep
	default:
		return Verdict{save: true, status: recall.Pending, ask: true}
	}
}
