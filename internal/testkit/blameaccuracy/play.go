package blameaccuracy

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// baseSubject is the subject of the commit on which a history builds.
const baseSubject = "base"

// Play plays the history of a seed in an enabled repository, and compares the authors of its
// lines with what the program prints. In a disturbed history turns also end without a stop, others
// write in turns, and time passes between steps. In those of even seeds one session works at a time.
func Play(repo *testkit.Repo, seed uint64, disturbed bool) Result {
	w := &world{
		Repo: repo, random: rand.New(rand.NewPCG(seed, seed)), facts: map[string]*fact{}, moved: map[string]bool{}, //nolint:gosec // a history can be played again
		seed: seed, alone: seed%2 == 0, disturbed: disturbed, theirs: map[string]bool{}, mine: map[string]bool{},
	}
	for range 3 {
		w.Write(w.newFile(), join(append(w.lines(8, writer{}, ByPerson), w.lines(8, writer{}, ByPerson)...)))
	}
	w.Commit(baseSubject)
	for _, name := range []string{"one", "two"} {
		a := &agent{Session: w.open(name), name: name}
		w.agents = append(w.agents, a)
		defer func() { a.Die() }()
	}
	w.pass()
	for range 5 + w.random.IntN(4) {
		w.episode()
	}
	if w.chance(60) {
		w.work()
	}
	return w.compare(seed)
}

// episode does some work, and commits or rewrites it at random.
func (w *world) episode() {
	for range 1 + w.random.IntN(3) {
		w.work()
	}
	c := committer{w}
	switch what := w.random.IntN(20); {
	case what < 2: // it stays uncommitted
	case what < 6:
		c.some()
	case what < 10:
		c.all()
	case what < 12:
		c.amend()
	case what < 13:
		if !c.all() {
			return
		}
		w.note("reword")
		w.Git("commit", "-q", "--amend", "-m", fmt.Sprintf("In other words %d", len(w.log)))
		c.markCommits("HEAD~1..HEAD", Reworded)
	case what < 15:
		c.squash()
	case what < 16:
		c.fixup()
	case what < 17:
		c.rebase()
	case what < 18:
		name := c.topic(1)
		c.meanwhile()
		if w.Git("rev-list", "--count", "main.."+name) == "1" && c.try("cherry-pick", name) {
			c.markCommits("HEAD~1..HEAD", Picked)
		}
	default:
		c.revert()
	}
}

// work plays a turn, two turns at once, or edits of the person between turns.
func (w *world) work() {
	switch what := w.random.IntN(10); {
	case what < 5:
		w.turn(w.agents[w.random.IntN(len(w.agents))])
	case what < 7 && w.alone:
		w.turn(w.agents[w.random.IntN(len(w.agents))])
	case what < 7:
		w.atOnce()
	default:
		w.spell()
		w.note("the person:")
		for range 1 + w.random.IntN(2) {
			w.person().step(w.file())
		}
		w.spell()
	}
}

// spell lets the time pass that the person needs.
func (w *world) spell() {
	if w.disturbed {
		w.pause()
	} else {
		w.pass()
	}
}

// begin begins a turn. The child of the prompt takes its snapshot.
func (w *world) begin(a *agent) {
	w.prompt(a)
	w.snapshot()
}

// prompt begins a turn, whose snapshot is not taken yet.
func (w *world) prompt(a *agent) {
	if a.dead {
		w.revive(a)
	}
	if !slices.ContainsFunc(w.agents, func(a *agent) bool { return a.open }) {
		clear(w.theirs)
		clear(w.mine)
	}
	w.turns++
	a.prompt = fmt.Sprintf("Request %d of session %s", w.turns, a.name)
	a.open = true
	w.note("prompt: %s", a.prompt)
	a.Prompt(a.prompt)
}

// snapshot plays the child that takes requested snapshots.
func (w *world) snapshot() {
	const tries = 100
	for range tries {
		asked, err := filepath.Glob(w.Path(".git/entire/*/requests-*/*.json"))
		if err != nil {
			w.TB.Fatalf("list requests: %v", err)
		}
		if len(asked) == 0 {
			break
		}
		w.Entire("hooks", "snapshot")
		w.spell()
	}
}

func (w *world) stop(a *agent) {
	w.note("stop: %s", a.prompt)
	a.Stop()
	a.open = false
}

// turn plays a turn of one agent.
func (w *world) turn(a *agent) {
	w.pause()
	if w.disturbed && w.chance(15) {
		w.note("the person, right before the prompt:")
		h := w.person()
		h.kind = PersonAtPrompt
		h.write()
	}
	w.prompt(a)
	late := w.disturbed && w.chance(25) // the snapshot is taken after the first step
	if !late {
		w.snapshot()
	}
	for range 1 + w.random.IntN(3) {
		w.step(a)
		if late {
			w.snapshot()
			late = false
		}
		w.pause()
		w.disturb(a)
		w.pause()
	}
	if w.chance(12) {
		w.note("the agent commits")
		w.hand(a, true).run("git add -A && git commit -q -m 'By the agent' || true")
		committer{w}.markCommits("HEAD~1..HEAD", CommittedByAgent)
		clear(w.moved)
	}
	w.end(a)
}

// step plays a step of the agent or of a subagent.
func (w *world) step(a *agent) {
	if !w.chance(20) {
		h := w.hand(a, w.chance(40))
		if w.disturbed && w.chance(5) {
			w.whileItRuns(a)
		}
		h.step(h.file())
		a.Meanwhile = nil
		return
	}
	helper := a.Subagent(fmt.Sprintf("helper %d %d", w.turns, len(w.log)), "Help with it", "")
	h := w.hand(a, false)
	h.by.subagent, h.kind, h.tools = helper.ID, BySubagent, helper.Session
	if path := h.file(); path != "" {
		h.edit(path)
	}
	if w.chance(50) {
		h.create()
	}
	helper.Stop()
	helper.Done()
}

// atOnce plays overlapping turns of two agents, in one file or in one file each.
func (w *world) atOnce() {
	one, two := w.agents[0], w.agents[1]
	if w.chance(50) {
		one, two = two, one
	}
	if w.disturbed && w.chance(30) {
		w.between(one, two)
		return
	}
	paths := map[*agent]string{one: w.file(), two: w.file()}
	kind := AtOnceApart
	if paths[one] == paths[two] || w.chance(40) {
		paths[two] = paths[one]
		kind = AtOnceTogether
	}
	w.begin(one)
	w.begin(two)
	for range 3 + w.random.IntN(3) {
		a := []*agent{one, two}[w.random.IntN(2)]
		if !a.open {
			w.begin(a)
		}
		h := w.hand(a, w.chance(30), kind)
		if w.chance(15) {
			h.create()
		} else {
			h.edit(paths[a])
		}
		w.pause()
		w.disturb(a)
		if w.chance(15) {
			w.end(a)
		}
	}
	for _, a := range []*agent{two, one} {
		if a.open {
			w.end(a)
		}
	}
}
