package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

const secretText = "walrus-4711"

// orderStep is a step of a clone: it records a turn of plain words (r) or of the secret text (t) and
// commits it, pushes (p), fetches by git alone (f) or with the checkpoints (e), or forgets the text and
// removes it from the remote (x).
type orderStep struct {
	clone int
	do    byte
}

func (s orderStep) String() string { return string("abc"[s.clone]) + string(s.do) }

// orderSteps returns the steps of orders that are all played: b is the clone without the text of its own,
// c one that doesn't forget.
func orderSteps() []orderStep { return stepsOf("tpfx", "rpfx", "tpf") }

func stepsOf(clones ...string) []orderStep {
	var list []orderStep
	for clone, letters := range clones {
		for i := range len(letters) {
			list = append(list, orderStep{clone, letters[i]})
		}
	}
	return list
}

// isRedundant reports whether an order with next after last is played as another one, too: steps that
// don't affect each other are played in the order of the clones, and no step twice in a row.
func isRedundant(last, next orderStep) bool {
	if last.clone == next.clone {
		return last.do == next.do
	}
	isLocal := func(s orderStep) bool { return s.do == 'r' || s.do == 't' }
	apart := isLocal(last) || isLocal(next) || last.do == 'f' && next.do == 'f'
	return apart && last.clone > next.clone
}

// orders are three clones of one remote, in a state after some steps.
type orders struct {
	*testing.T

	root   string // all repositories; it has the same path in every state
	remote *testkit.Repo
	clones []*testkit.Repo
	state  orderState
	saved  int // number of states that are kept
	played int
}

// orderState is what a state has beside the files below root.
type orderState struct {
	sessions  [3]*testkit.Session
	path      []string
	ids       []string // of all checkpoints
	forgotten bool     // the remote lists the text as forgotten
	records   int
}

// TestForgetOrders plays every order of steps of three clones of one remote, up to a length. As soon as
// the text was forgotten and removed from the remote, none of the remote's refs has it again, whoever
// pushes, and none of the clone's own. In the end every clone's pushes are accepted, and no checkpoint is lost.
//
// Without ENTIRE_TEST_ORDERS, a length, some longer orders are played, by chance.
func TestForgetOrders(t *testing.T) {
	testkit.Long(t, "three clones and a remote")
	t.Parallel()
	for _, form := range []string{"branch", settings.GitRefs} {
		for _, begin := range []string{"recorded", "pushed"} {
			if text := os.Getenv("ENTIRE_TEST_ORDERS"); text != "" {
				length, err := strconv.Atoi(text)
				if err != nil {
					t.Fatalf("ENTIRE_TEST_ORDERS=%s: not a length", text)
				}
				for _, first := range orderSteps() {
					t.Run(form+"/"+begin+"/"+first.String(), func(t *testing.T) {
						t.Parallel()
						o := newOrders(t, form, begin)
						o.all(first, length)
						t.Logf("%d orders", o.played)
					})
				}
				continue
			}
			t.Run(form+"/"+begin, func(t *testing.T) {
				t.Parallel()
				o := newOrders(t, form, begin)
				rng := rand.New(rand.NewPCG(uint64(len(form)), uint64(len(begin))))
				for range 3 * stormRuns(t) {
					o.some(rng, 9)
				}
			})
		}
	}
}

// newOrders makes the clones. a has recorded the text, and pushed it before the others were made if
// begin is "pushed".
func newOrders(t *testing.T, form, begin string) *orders {
	t.Helper()
	repo := matrixRepo(t)
	repo.InProcess = inProcess
	repo.Env = repo.Env.With("ENTIRE_BANDS_ENABLED=false", "ENTIRE_CHECKPOINTS_PRIMARY="+form)
	o := &orders{T: t, root: filepath.Dir(repo.Dir)}
	remote := repo.Path("../remote.git")
	repo.Git("init", "-q", "--bare", "-b", "main", remote)
	repo.Git("remote", "add", "origin", remote)
	repo.Git("push", "-q", "origin", "HEAD:main")
	o.remote = repo.At(remote)
	o.clones = []*testkit.Repo{repo}
	setUp := func(name string, one *testkit.Repo) {
		one.Git("config", "user.name", name)
		one.Git("config", "user.email", name+"@example.com")
		one.Git("config", "gc.auto", "0")
		one.Write(".entire/settings.local.json", `{"strategy_options": {"push_remote": "origin"}}`)
	}
	setUp("a", repo)
	o.step(orderStep{0, 't'})
	if begin == "pushed" {
		o.step(orderStep{0, 'p'})
	}
	for _, name := range []string{"b", "c"} {
		dir := repo.Path("../" + name)
		repo.Git("clone", "-q", "-b", "main", remote, dir)
		one := repo.At(dir)
		setUp(name, one)
		one.Entire("enable", "--agent", "claude-code")
		o.clones = append(o.clones, one)
	}
	return o
}

// all plays all orders of a length that begin with a step, and returns to the state before them.
func (o *orders) all(first orderStep, length int) {
	o.Helper()
	back := o.save()
	o.step(first)
	switch {
	case o.Failed():
		o.Fatalf("after %v", o.state.path)
	case length == 1:
		o.end()
	default:
		for _, next := range orderSteps() {
			if !isRedundant(first, next) {
				o.all(next, length-1)
			}
		}
	}
	back()
}

// some plays a random order of a length, and returns to the state before it.
func (o *orders) some(rng *rand.Rand, length int) {
	o.Helper()
	back := o.save()
	steps := stepsOf("rtpfxe", "rtpfxe", "rtpfxe")
	for range length {
		o.step(steps[rng.IntN(len(steps))])
		if o.Failed() {
			o.Fatalf("after %v", o.state.path)
		}
	}
	o.end()
	back()
}

// save keeps the state, and returns a function that restores it.
func (o *orders) save() (back func()) {
	o.Helper()
	o.saved++
	kept := fmt.Sprintf("%s.%d", o.root, o.saved)
	o.clones[0].Sh("cp -a '" + o.root + "' '" + kept + "'")
	state := o.state
	state.path, state.ids = slices.Clone(state.path), slices.Clone(state.ids)
	for i, s := range state.sessions {
		if s != nil {
			copied, transcript := *s, *s.Transcript
			copied.Transcript = &transcript
			state.sessions[i] = &copied
		}
	}
	return func() {
		o.saved--
		o.clones[0].At("/").Sh("rm -rf '" + o.root + "' && mv '" + kept + "' '" + o.root + "'")
		o.state = state
	}
}

// step plays a step, and checks the remote.
func (o *orders) step(s orderStep) {
	o.Helper()
	o.state.path = append(o.state.path, s.String())
	one := o.clones[s.clone]
	switch s.do {
	case 'r':
		o.record(s.clone, "plain words")
	case 't':
		o.record(s.clone, secretText)
	case 'p':
		o.push(s.clone)
	case 'f':
		one.Git("fetch", "-q")
	case 'e':
		got := one.TryEntire("fetch")
		if got.Code != 0 && !strings.Contains(got.Stderr, "origin has no checkpoints") {
			o.Errorf("exit %d after %v: %s", got.Code, o.state.path, got.Stderr)
		}
	case 'x':
		one.Entire("forget", "--text", secretText, "--force", "--push", "origin")
		o.check(one, "--all", "--reflog")
		o.check(o.remote, "--all")
		// A text that was neither on the branch nor at the remote is not listed: it is forgotten in this clone alone.
		list := o.remote.TryGit("show", "entire/checkpoints/v1:forgotten.json")
		o.state.forgotten = o.state.forgotten || strings.Contains(list.Stdout, "text_marks")
	}
	if o.state.forgotten {
		o.check(o.remote, "--all")
	}
}

// check looks for the text in the objects of a repository that revisions reach.
func (o *orders) check(repo *testkit.Repo, revs ...string) {
	o.Helper()
	found := repo.Sh("git rev-list --objects " + strings.Join(revs, " ") + " | cut -d ' ' -f 1 | git cat-file --batch --buffer | grep -a -c " + secretText + " || true")
	if found != "0" {
		o.Errorf("the text is in %s after %v", filepath.Base(repo.Dir), o.state.path)
	}
}

// record records a turn with a text and commits it.
func (o *orders) record(clone int, text string) {
	o.Helper()
	one, name := o.clones[clone], string("abc"[clone])
	o.state.records++
	session := o.state.sessions[clone]
	if session == nil {
		session = testkit.NewSession(one, "session of "+name, one.Path("../claude-"+name))
		session.Start("startup")
		o.state.sessions[clone] = session
	}
	path := fmt.Sprintf("%s-%d.txt", name, o.state.records)
	session.Prompt("About " + text + ".")
	session.Write(path, "the line of "+path+"\n")
	session.Say("I have noted " + text + ".")
	session.Stop()
	one.Git("add", path)
	one.Git("commit", "-q", "-m", path)
	o.state.ids = append(o.state.ids, one.Trailers("HEAD")...)
}

// push pushes the clone's branch, with its checkpoints.
func (o *orders) push(clone int) string {
	o.Helper()
	got := o.clones[clone].TryGit("push", "origin", "HEAD:refs/heads/of-"+string("abc"[clone]))
	refused := strings.Contains(got.Stderr, "forgotten here") && strings.Contains(got.Stderr, "hint: `entire forget --push origin`")
	if got.Code != 0 || strings.Contains(got.Stderr, "not sent") && !refused {
		o.Errorf("exit %d after %v: %s", got.Code, o.state.path, got.Stderr)
	}
	return got.Stderr
}

// end lets every clone record and push, and checks that the remote has the checkpoints of all.
func (o *orders) end() {
	o.Helper()
	o.played++
	for clone := range o.clones {
		o.step(orderStep{clone, 'r'})
		said := o.push(clone)
		if strings.Contains(said, "forgotten here") && !o.state.forgotten {
			o.step(orderStep{clone, 'x'})
			said = "entire: sent "
		}
		if !strings.Contains(said, "entire: sent ") {
			o.Errorf("nothing sent by %c after %v: %s", "abc"[clone], o.state.path, said)
		}
		if o.state.forgotten {
			o.check(o.remote, "--all")
		}
	}
	stored := o.remote.Sh("git ls-tree -r -d --name-only entire/checkpoints/v1 2>/dev/null; git for-each-ref --format='%(refname)' refs/entire/checkpoints") + "\n"
	for _, id := range o.state.ids {
		if !strings.Contains(stored, id[:2]+"/"+id[2:]+"\n") && !strings.Contains(stored, "/"+id+"\n") {
			o.Errorf("checkpoint %s is lost after %v", id, o.state.path)
		}
	}
	if o.Failed() {
		o.Fatalf("after %v", o.state.path)
	}
}
