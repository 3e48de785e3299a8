package authorship

import (
	"sync"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// manyPrompts is the size of a session's prompts, in bytes, above which they are written early.
const manyPrompts = 32 << 10

// EarlyPrompts are the prompts of sessions that have many. They are read and written while git
// determines the changes of the commit.
type EarlyPrompts struct {
	group sync.WaitGroup
	found map[string]*SessionPrompts
}

// SessionPrompts are the prompts of one session, up to the end of its side file at that time.
type SessionPrompts struct {
	End     int64
	Texts   []string
	Written checkpoint.WrittenPrompts
	failed  error
}

// StartPrompts starts reading the prompts of the sessions that have a share.
func StartPrompts(w *workspace.Workspace, shares []tracking.Share) *EarlyPrompts {
	p := &EarlyPrompts{found: map[string]*SessionPrompts{}}
	for _, share := range shares {
		s, err := w.Sessions.Load(share.Session)
		if err != nil || s.Recorder.Prompts < manyPrompts {
			continue
		}
		a := &SessionPrompts{End: s.Recorder.Prompts}
		p.found[share.Session] = a
		workspace.Guard(&p.group, &a.failed, func() (err error) {
			if a.Texts, err = tracking.Prompts(w, s, new(tracking.Pending)); err == nil {
				a.Written, err = checkpoint.WritePrompts(w.Repo, a.Texts)
			}
			return err
		})
	}
	return p
}

// Wait waits until all prompts are written.
func (p *EarlyPrompts) Wait() { p.group.Wait() }

// Take returns the session's prompts if none were added meanwhile. It ignores errors: they occur
// again when the prompts are written later.
func (p *EarlyPrompts) Take(s *session.State) (SessionPrompts, bool) {
	a, ok := p.found[s.ID]
	if !ok {
		return SessionPrompts{}, false
	}
	p.Wait()
	return *a, a.failed == nil && a.End == s.Recorder.Prompts
}
