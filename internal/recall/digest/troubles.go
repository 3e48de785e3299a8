package digest

import (
	"slices"

	"github.com/seed-3aff656d/entire/internal/recall/plain"
	"github.com/seed-3aff656d/entire/internal/recall/shellcmd"
)

// Trouble is something that went wrong.
type Trouble struct {
	Kind TroubleKind `json:"kind"`
	// Text is the command, file or tool, Why the line of its output with the error.
	Text string `json:"text"`
	Why  string `json:"why,omitempty"`
	// Checks are those of a command that have not passed since.
	Checks shellcmd.Checks `json:"checks,omitempty"`
}

// TroubleKind is what went wrong.
type TroubleKind string

// The kinds. All but failed commands end with the next prompt.
const (
	FailedCommand TroubleKind = "command"
	Denied        TroubleKind = "denied"
	Interrupted   TroubleKind = "interrupted"
	FailedTurn    TroubleKind = "turn"
)

// Troubles are what went wrong and has not succeeded since, the most recent last.
type Troubles []Trouble

// add appends a trouble, and removes an earlier one of the same kind and text.
func (l *Troubles) add(t Trouble) {
	l.drop(func(old Trouble) bool { return old.Kind == t.Kind && old.Text == t.Text })
	const fields = 40 // the names of the fields
	*l = plain.Last(append(*l, t), plain.Bound{Items: 10, Bytes: 6 << 10},
		func(t Trouble) int { return plain.JSONSize(t.Text) + plain.JSONSize(t.Why) + fields })
}

func (l *Troubles) drop(goes func(Trouble) bool) { *l = slices.DeleteFunc(*l, goes) }

// passed removes checks from the failed commands, and the commands without any left.
func (l *Troubles) passed(checks shellcmd.Checks) {
	for i := range *l {
		(*l)[i].Checks &^= checks
	}
	l.drop(func(t Trouble) bool { return t.Kind == FailedCommand && t.Checks == 0 })
}
