package strategy

import (
	"sync"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
)

// manyPrompts is the size of a session's prompts, in bytes, from which they are
// written ahead.
const manyPrompts = 32 << 10

// promptsAhead are the prompts of sessions that have many. They are read and
// written while git is asked what was committed.
type promptsAhead struct {
	group sync.WaitGroup
	found map[string]*aheadPrompts
}

// aheadPrompts are those of one session, up to the end of its side file as it
// was then.
type aheadPrompts struct {
	end     int64
	texts   []string
	written checkpoint.WrittenPrompts
	failed  error
}

// promptsAhead begins with the sessions that have a share.
func (r *Recorder) promptsAhead(shares []Share) *promptsAhead {
	p := &promptsAhead{found: map[string]*aheadPrompts{}}
	for _, share := range shares {
		s, err := r.Sessions.Load(share.Session)
		if err != nil || s.Recorder.Prompts < manyPrompts {
			continue
		}
		a := &aheadPrompts{end: s.Recorder.Prompts}
		p.found[share.Session] = a
		guarded(&p.group, &a.failed, func() (err error) {
			if a.texts, err = r.prompts(s, new(notes)); err == nil {
				a.written, err = checkpoint.WritePrompts(r.Repo, a.texts)
			}
			return err
		})
	}
	return p
}

// wait ends with what was begun.
func (p *promptsAhead) wait() { p.group.Wait() }

// take answers the session's prompts, if they are all that it has by now. What
// went wrong shows again when they are written in their turn.
func (p *promptsAhead) take(s *session.State) (aheadPrompts, bool) {
	a, ok := p.found[s.ID]
	if !ok {
		return aheadPrompts{}, false
	}
	p.wait()
	return *a, a.failed == nil && a.end == s.Recorder.Prompts
}
