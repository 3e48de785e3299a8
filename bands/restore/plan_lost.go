package restore

import (
	"runtime"
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// lostCheck checks, during the walk, that the store has the contents of new files. Steps of files
// whose content is lost are removed.
type lostCheck struct {
	content *bands.ContentReader
	work    chan lostEntry
	group   sync.WaitGroup

	mu   sync.Mutex
	lost map[string]bool
}

type lostEntry struct {
	path string
	e    *band.Entry
}

func newLostCheck(content *bands.ContentReader) *lostCheck {
	l := &lostCheck{content: content, work: make(chan lostEntry, 256), lost: map[string]bool{}}
	for range max(runtime.NumCPU(), 2) {
		l.group.Go(func() {
			for w := range l.work {
				if !l.content.Whole(w.e) {
					l.mu.Lock()
					l.lost[w.path] = true
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

// end waits for the checks and removes the steps of lost files.
func (l *lostCheck) end(p *Plan) {
	close(l.work)
	l.group.Wait()
	if len(l.lost) == 0 {
		return
	}
	for d := range p.Root.Dirs() {
		d.List = slices.DeleteFunc(d.List, func(s namedStep) bool {
			gone := s.Kind == StepCreate && l.lost[d.PathOf(&s)]
			if gone {
				p.Damaged = append(p.Damaged, d.PathOf(&s))
			}
			return gone
		})
	}
}
