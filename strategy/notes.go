package strategy

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/session"
)

// notes are what a hook has for a session's side files and for refs, kept until
// its state is saved: nobody but the holder of the lock writes them.
type notes struct {
	prompts, usage tail
	steps          tail
	texts          []string // all prompts, once read, up to textsEnd
	textsEnd       int64
	known          []byte // the new list of untracked files, nil if it stays
	// unstored reports that a child has to go on: with the rest of the
	// transcript, or with the list of untracked files.
	unstored bool
	// snapshot is what a child is asked for once the state is saved, nil for
	// nothing.
	snapshot *request
	// turnSaved says that a turn ends, prompted is the time of its prompt's file.
	turnSaved bool
	prompted  time.Time
	// refs are what remains to be done of a hook's actions once it has the lock
	// and before the state is saved: they move refs.
	refs []func() error
}

// tail is what is to be added to a side file.
type tail struct {
	at   int64 // where it goes
	data []byte
}

// add puts data behind the first valid bytes of the file, and answers how many
// are valid then.
func (t *tail) add(valid int64, data []byte) int64 {
	if valid != t.at+int64(len(t.data)) {
		t.at, t.data = valid, nil
	}
	t.data = append(t.data, data...)
	return valid + int64(len(data))
}

// read answers the first valid bytes, what is still to be added included.
func (t *tail) read(side session.Side, valid int64) ([]byte, error) {
	if len(t.data) == 0 || valid != t.at+int64(len(t.data)) {
		return side.Read(valid)
	}
	data, err := side.Read(t.at)
	return append(slices.Clip(data), t.data...), err
}

// scan is read in pieces of whole records.
func (t *tail) scan(side session.Side, valid int64, size int, yield func(records []byte)) error {
	if len(t.data) == 0 || valid != t.at+int64(len(t.data)) {
		return side.Scan(valid, size, yield)
	}
	err := side.Scan(t.at, size, yield)
	yield(t.data)
	return err
}

// save brings the side files of the session up to date and saves its state, which
// counts on them.
func (n *notes) save(store *session.Store, s *session.State) error {
	var written []session.Side
	for _, t := range []struct {
		kind string
		tail
	}{{session.PromptsKind, n.prompts}, {session.UsageKind, n.usage}, {session.StepsKind, n.steps}} {
		if len(t.data) == 0 {
			continue
		}
		side := store.SideOf(s, t.kind)
		if _, err := side.Append(t.at, t.data); err != nil {
			return fmt.Errorf("store %s: %w", t.kind, err)
		}
		written = append(written, side)
	}
	if n.known != nil {
		s.Renew(session.UntrackedKind)
		side := store.SideOf(s, session.UntrackedKind)
		if err := side.Replace(n.known); err != nil {
			return fmt.Errorf("store list of untracked files: %w", err)
		}
		written = append(written, side)
	}
	return store.Save(s, written...)
}
