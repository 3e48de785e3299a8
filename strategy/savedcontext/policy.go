package savedcontext

import (
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// Occasion is a moment at which a session's context may be saved.
type Occasion struct {
	cause recall.Cause
	// onClear is what the user wants at a clear, verify that one at which
	// nothing changed is passed over, auto that anything is saved unasked.
	onClear      settings.Choice
	verify, auto bool
	// asked says that the session was ever asked anything, changed that there
	// is more than its last kept checkpoint has.
	asked, changed bool
}

// Verdict is what is done then.
type Verdict struct {
	save   bool
	status recall.Status
	// ask says that the person is asked, if that can be done.
	ask bool
}

// verdict decides. A checkpoint that somebody asked for is always saved. A
// session in which nothing was asked has nothing to save. A clear goes by its
// setting, which an accepted plan's never asks about; whatever else happens
// saves what changed.
func (o Occasion) verdict() Verdict {
	keep := Verdict{save: true, status: recall.Kept}
	switch {
	case o.cause == recall.Requested:
		return keep
	case !o.auto || !o.asked:
		return Verdict{}
	case o.cause != recall.Clear && o.cause != recall.Plan:
		keep.save = o.changed
		return keep.only()
	case o.onClear == settings.Never:
		return Verdict{}
	case !o.changed && (o.verify || o.cause == recall.Plan):
		return Verdict{}
	case o.cause == recall.Plan || o.onClear == settings.Always:
		return keep
	default:
		return Verdict{save: true, status: recall.Pending, ask: true}
	}
}

// only is nothing at all unless something is saved.
func (v Verdict) only() Verdict {
	if !v.save {
		return Verdict{}
	}
	return v
}
