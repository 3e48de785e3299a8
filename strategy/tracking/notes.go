package tracking

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
)

// Pending are what a hook has for a session's side files and for refs, kept until
// its state is saved: nobody but the holder of the lock writes them.
type Pending struct {
	prompts, usage Tail
	Steps          Tail
	Texts          []string // all prompts, once read, up to textsEnd
	TextsEnd       int64
	Known          []byte // the new list of untracked files, nil if it stays
	// Unstored reports that a child has to go on: with the rest of the
	// transcript, or with the list of untracked files.
	Unstored bool
	// Snapshot is what a child is asked for once the state is saved, nil for
	// nothing.
	Snapshot *snapshots.Request
	// TurnSaved says that a turn ends, prompted is the time of its prompt's file.
	TurnSaved bool
	Prompted  time.Time
	// Refs are what remains to be done of a hook's actions once it has the lock
	// and before the state is saved: they move refs.
	Refs []func() error
}

// Tail is what is to be added to a side file.
type Tail struct {
	at   int64 // where it goes
	Data []byte
}

// Add puts data behind the first valid bytes of the file, and answers how many
// are valid then.
func (t *Tail) Add(valid int64, data []byte) int64 {
	if valid != t.at+int64(len(t.Data)) {
		t.at, t.Data = valid, nil
	}
	t.Data = append(t.Data, data...)
	return valid + int64(len(data))
}

// Read answers the first valid bytes, what is still to be added included.
func (t *Tail) Read(side session.Side, valid int64) ([]byte, error) {
	if len(t.Data) == 0 || valid != t.at+int64(len(t.Data)) {
		return side.Read(valid)
	}
	data, err := side.Read(t.at)
	return append(slices.Clip(data), t.Data...), err
}

// scan is read in pieces of whole records.
func (t *Tail) scan(side session.Side, valid int64, size int, yield func(records []byte)) error {
	if len(t.Data) == 0 || valid != t.at+int64(len(t.Data)) {
		return side.Scan(valid, size, yield)
	}
	err := side.Scan(t.at, size, yield)
	yield(t.Data)
	return err
}

// Save brings the side files of the session up to date and saves its state, which
// counts on them.
func (n *Pending) Save(store *session.Store, s *session.State) error {
	var written []session.Side
	for _, t := range []struct {
		kind string
		Tail
	}{{session.PromptsKind, n.prompts}, {session.UsageKind, n.usage}, {session.StepsKind, n.Steps}} {
		if len(t.Data) == 0 {
			continue
		}
		side := store.SideOf(s, t.kind)
		if _, err := side.Append(t.at, t.Data); err != nil {
			return fmt.Errorf("store %s: %w", t.kind, err)
		}
		written = append(written, side)
	}
	if n.Known != nil {
		s.Renew(session.UntrackedKind)
		side := store.SideOf(s, session.UntrackedKind)
		if err := side.Replace(n.Known); err != nil {
			return fmt.Errorf("store list of untracked files: %w", err)
		}
		written = append(written, side)
	}
	return store.Save(s, written...)
}
