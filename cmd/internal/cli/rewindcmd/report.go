package rewindcmd

import (
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// rewindPlanJSON is the output of `rewind --preview --json`.
type rewindPlanJSON struct {
	format.PlanJSON

	KeptBecause []keptJSON   `json:"kept_because"`
	Both        []string     `json:"both"`
	AtWork      []atWorkJSON `json:"at_work"`
	Turns       []turnJSON   `json:"turns"`
	Committed   []string     `json:"committed"`
	// TakesBack is what an undo or redo takes back.
	TakesBack *pastJSON `json:"takes_back,omitempty"`
	// Others are the other repositories that the turns changed.
	Others []otherJSON `json:"other_repositories"`
}

// keptJSON is a path of "kept", and the reason why it stays.
type keptJSON struct {
	Path    string `json:"path"`
	Reason  string `json:"reason"`
	Session string `json:"session_id,omitempty"`
}

// atWorkJSON holds the paths that a session at work changed.
type atWorkJSON struct {
	Session string   `json:"session_id"`
	Paths   []string `json:"paths"`
}

func newRewindPlanJSON(p rewind.Plan, target bands.Snapshot, taken takenBack) rewindPlanJSON {
	j := rewindPlanJSON{
		PlanJSON: format.NewPlanJSON(p.Plan, target), KeptBecause: []keptJSON{}, Both: format.NotNil(p.Both), AtWork: []atWorkJSON{},
		Turns: []turnJSON{}, Committed: format.NotNil(taken.committed), Others: []otherJSON{},
	}
	for _, t := range taken.turns {
		j.Turns = append(j.Turns, newTurnJSON(t))
	}
	if last := taken.past; last != nil {
		j.TakesBack = &pastJSON{last.What, format.UTC(last.At), last.Commits, last.Moved, last.Interrupted}
	}
	for _, k := range p.KeptPaths {
		j.KeptBecause = append(j.KeptBecause, keptJSON{k.Path, string(k.Why), k.Session})
	}
	for _, s := range p.AtWork {
		j.AtWork = append(j.AtWork, atWorkJSON{s.Session, s.Paths})
	}
	return j
}

// rewoundJSON is the output of `rewind --json`.
type rewoundJSON struct {
	rewindPlanJSON

	Rescue   string               `json:"rescue"`
	Verified int                  `json:"verified"`
	Failed   []format.FailureJSON `json:"failed"`
	Sessions []string             `json:"sessions"`
}

// reporter prints the plan and the result of a rewind, and the paths that it leaves.
type reporter struct{ *rewinding }

// noteLeft prints notes on the paths that a rewind leaves unchanged, with the reasons.
func (r *reporter) noteLeft(p rewind.Plan) {
	kept := map[string][]string{}
	var order []string
	for _, k := range p.KeptPaths {
		why := keptBecause(k)
		if kept[why] == nil {
			order = append(order, why)
		}
		kept[why] = append(kept[why], k.Path)
	}
	for _, why := range order {
		r.noteKept(why, kept[why])
	}
	for _, left := range []struct {
		why   string
		paths []string
	}{
		{"changed since the rewind", p.ChangedSince},
		{"not changed by the rewind", p.Untouched},
		{"a process has it open (--force restores it)", p.Busy},
		{"a repository of its own (--nested restores it)", p.Nested},
		{"restored only if named with --paths", p.Unnamed},
		{"not in the snapshot", p.Unknown},
		{"a file that is kept is in its place", p.Blocked},
		{"lost from the store", p.Damaged},
	} {
		r.noteKept(left.why, left.paths)
	}
}

// keptBecause returns the reason why a path stays, and the flag that changes that.
func keptBecause(k rewind.KeptPath) string {
	switch k.Why {
	case rewind.KeptChanged:
		if k.Removed {
			return "deleted later, not by an agent (--exact restores it)"
		}
		return "changed later, not by an agent (--exact restores it)"
	case rewind.KeptCreatedBoth:
		return "created later by a person, changed by an agent (--exact removes it)"
	case rewind.KeptNamed:
		return "created later; an agent's command names it, but didn't write it (--exact removes it)"
	case rewind.KeptBoth:
		return "changed by an agent and by you"
	case rewind.KeptAtWork:
		return "changed by session " + format.ID(k.Session) + ", which is working (--force restores it)"
	case rewind.KeptCreated:
	}
	return "created later, not by an agent (--exact removes it)"
}

// noteBoth prints notes on the paths that a rewind changes although a person changed them, too.
func (r *reporter) noteBoth(p rewind.Plan, rescue bands.Version) {
	paths := make([]string, 0, len(p.Both))
	for _, path := range p.Both {
		if !r.keepBoth {
			paths = append(paths, path)
		}
	}
	verb, where := "restores", "is saved first"
	if rescue != 0 {
		verb = "restored"
		where = "is in " + rescue.String()
	}
	r.noteSome(paths, func(path string) string {
		return fmt.Sprintf("%s %s: changed by an agent and by you; its previous content %s", verb, path, where)
	})
}

// noteKept prints notes on the first of the paths that stay, and the number of the others.
func (r *reporter) noteKept(why string, paths []string) {
	r.noteSome(paths, func(path string) string { return "kept " + path + ": " + why })
}

func (r *reporter) noteSome(paths []string, line func(path string) string) {
	const shown = 10
	for i, p := range paths {
		if i == shown {
			r.Streams.Notef("  and %d more", len(paths)-shown)
			return
		}
		r.Streams.Notef("%s", line(format.Path(p)))
	}
}
