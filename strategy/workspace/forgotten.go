package workspace

import (
	"errors"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// ErrForgotten means that a session was forgotten: nothing of it is recorded any
// more, also if it goes on.
var ErrForgotten = errors.New("the session was forgotten")

// IsForgotten reports whether the session was forgotten in this repository, by
// this clone or by one whose checkpoints were merged.
func (r *Workspace) IsForgotten(session string) (bool, error) {
	t, err := checkpoint.LoadTombstones(r.Repo.CommonDir)
	return t.HasSession(session), err
}

// CheckTombstones returns an error if it isn't known what was forgotten here: what
// would be recorded then could bring it back. What is due stays due.
func (r *Workspace) CheckTombstones() error {
	_, err := checkpoint.LoadTombstones(r.Repo.CommonDir)
	return err
}
