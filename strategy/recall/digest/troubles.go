package digest

import (
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// Trouble is a failure or an interruption of the work.
type Trouble struct {
	Kind TroubleKind `json:"kind"`
	// Text names the command, file or tool, Why is the output line with the error.
	Text string `json:"text"`
	Why  string `json:"why,omitempty"`
	// Checks holds the checks of the command that have not passed since.
	Checks shellcmd.Checks `json:"checks,omitempty"`
	// For a failed command, Files are the files that Why names, Request is the number of
	// requests so far, At the time.
	Files   []string  `json:"files,omitempty"`
	Request int       `json:"request,omitempty"`
	At      time.Time `json:"at,omitzero"`
}

// TroubleKind is the kind of a trouble.
type TroubleKind string

// The kinds. The next prompt removes all but FailedCommand.
const (
	FailedCommand TroubleKind = "command"
	Denied        TroubleKind = "denied"
	Interrupted   TroubleKind = "interrupted"
	FailedTurn    TroubleKind = "turn"
)

// Troubles is the list of unresolved troubles, the most recent last.
type Troubles []Trouble

// add appends a trouble, and removes an earlier one of the same kind and text.
func (l *Troubles) add(t Trouble) {
	l.drop(func(old Trouble) bool { return old.Kind == t.Kind && old.Text == t.Text })
	const fields = 120 // their names, the number and the time
	*l = plain.Last(append(*l, t), plain.Bound{Items: 10, Bytes: 6 << 10}, func(t Trouble) int {
		n := plain.JSONSize(t.Text) + plain.JSONSize(t.Why) + fields
		for _, path := range t.Files {
			n += plain.JSONSize(path) + len(`"",`)
		}
		return n
	})
}

func (l *Troubles) drop(match func(Trouble) bool) { *l = slices.DeleteFunc(*l, match) }

// passed removes checks from the failed commands, and commands without remaining checks.
func (l *Troubles) passed(checks shellcmd.Checks) {
	for i := range *l {
		(*l)[i].Checks &^= checks
	}
	l.drop(func(t Trouble) bool { return t.Kind == FailedCommand && t.Checks == 0 })
}
