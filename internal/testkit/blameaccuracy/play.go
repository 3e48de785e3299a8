package blameaccuracy

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// baseSubject is the subject of the commit on which a history builds.
const baseSubject = "base"

// Play plays the history of a seed in an enabled repository, and compares the authors of its
// lines with what the program prints.
func Play(repo *testkit.Repo, seed uint64) Result {
	w := &world{Repo: repo, random: rand.New(rand.NewPCG(seed, seed)), facts: map[string]*fact{}, moved: map[string]bool{}} //nolint:gosec // a history can be played again
	for range 3 {
		w.Write(w.newFile(), join(append(w.lines(8, writer{}, ByPerson), w.lines(8, writer{}, ByPerson)...)))
	}
	w.Commit(baseSubject)
	for _, name := range []string{"one", "two"} {
		s := testkit.NewSession(repo, fmt.Sprintf("%s-%d", name, seed), filepath.Join(repo.Dir, "..", "claude"))
		s.Start("startup")
		w.agents = append(w.agents, &agent{Session: s, name: name})
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
	case what < 7:
		w.atOnce()
	default:
		w.pass()
		w.note("the person:")
		for range 1 + w.random.IntN(2) {
			w.person().step(w.file())
		}
		w.pass()
	}
}

// begin begins a turn.
func (w *world) begin(a *agent) {
	w.turns++
	a.prompt = fmt.Sprintf("Request %d of session %s", w.turns, a.name)
	a.open = true
	w.note("prompt: %s", a.prompt)
	a.Prompt(a.prompt)
	// The child of the prompt takes the requested snapshot.
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
		w.pass()
	}
}

func (w *world) stop(a *agent) {
	w.note("stop: %s", a.prompt)
	a.Stop()
	a.open = false
}

// turn plays a turn of one agent.
func (w *world) turn(a *agent) {
	w.begin(a)
	for range 1 + w.random.IntN(3) {
		if !w.chance(20) {
			w.hand(a, w.chance(40)).step(w.file())
			continue
		}
		helper := a.Subagent(fmt.Sprintf("helper %d %d", w.turns, len(w.log)), "Help with it", "")
		h := hand{w: w, by: writer{session: a.ID, prompt: a.prompt, subagent: helper.ID}, kind: BySubagent, tools: helper.Session}
		h.edit(w.file())
		if w.chance(50) {
			h.create()
		}
		helper.Stop()
		helper.Done()
	}
	if w.chance(12) {
		w.note("the agent commits")
		w.hand(a, true).run("git add -A && git commit -q -m 'By the agent' || true")
		committer{w}.markCommits("HEAD~1..HEAD", CommittedByAgent)
		clear(w.moved)
	}
	w.stop(a)
}

// atOnce plays overlapping turns of two agents, in one file or in one file each.
func (w *world) atOnce() {
	one, two := w.agents[0], w.agents[1]
	if w.chance(50) {
		one, two = two, one
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
		if w.chance(15) {
			w.stop(a)
		}
	}
	for _, a := range []*agent{two, one} {
		if a.open {
			w.stop(a)
		}
	}
}
