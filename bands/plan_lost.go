package bands

import (
	"runtime"
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/bands/tree"
)

// lostCheck looks, beside the walk, whether the store has what files need whose
// steps can simply be left out if it hasn't.
type lostCheck struct {
	content *contents
	work    chan lostEntry
	group   sync.WaitGroup

	mu   sync.Mutex
	lost map[string]bool
}

type lostEntry struct {
	path string
	e    *tree.Entry
}

func newLostCheck(content *contents) *lostCheck {
	l := &lostCheck{content: content, work: make(chan lostEntry, 256), lost: map[string]bool{}}
	for range max(runtime.NumCPU(), 2) {
		l.group.Go(func() {
			for w := range l.work {
				if !l.content.whole(w.e) {
					l.mu.Lock()
					l.lost[w.path] = true
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

func (l *lostCheck) check(path string, e *tree.Entry) {
	if e.Kind == tree.File && e.Size > 0 {
		l.work <- lostEntry{path, e}
	}
}

// end waits, and takes what is lost out of the plan.
func (l *lostCheck) end(p *Plan) {
	close(l.work)
	l.group.Wait()
	if len(l.lost) == 0 {
		return
	}
	for d := range p.steps.dirs() {
		d.list = slices.DeleteFunc(d.list, func(s step) bool {
			gone := s.kind == StepCreate && l.lost[d.pathOf(&s)]
			if gone {
				p.Damaged = append(p.Damaged, d.pathOf(&s))
			}
			return gone
		})
	}
}
