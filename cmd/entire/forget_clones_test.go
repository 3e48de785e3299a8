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

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// clones are clones that send their checkpoints to one remote, each with a session.
type clones struct {
	*testing.T

	rng    *rand.Rand
	remote *testkit.Repo
	all    []*clone
	other  *testkit.Repo // of another program, with old histories of the checkpoints
	old    []string
	ids    []string // of the checkpoints of all clones
	gone   []string // the texts that were forgotten
	log    []string
	files  int
}

// clone is one of them.
type clone struct {
	*testkit.Repo

	name    string
	session *testkit.Session // nil before the first record
}

// TestForgetInClones plays random orders of records, pushes, also killed ones, fetches and forgetting
// in clones of one remote, and of another program that merges old histories. After everyone's next
// push no text that was forgotten is in an object of the remote, and after --listed in no record of a
// clone, the pushes of all clones go on, and no checkpoint is lost.
func TestForgetInClones(t *testing.T) {
	testkit.Long(t, "dozens of steps in four clones")
	t.Parallel()
	for run := range max(2, stormRuns(t)/5) {
		t.Run(strconv.Itoa(run), func(t *testing.T) {
			t.Parallel()
			c := newClones(t, uint64(run))
			defer func() {
				if t.Failed() {
					t.Logf("steps: %s", strings.Join(c.log, "; "))
				}
			}()
			for range 24 {
				c.step()
			}
			c.end()
		})
	}
}

// newClones makes three clones, and one without hooks that begins later.
func newClones(t *testing.T, seed uint64) *clones {
	t.Helper()
	repo := matrixRepo(t)
	repo.InProcess = inProcess
	repo.Env = repo.Env.With("ENTIRE_BANDS_ENABLED=false")
	remote := repo.Path("../remote.git")
	repo.Git("init", "-q", "--bare", "-b", "main", remote)
	repo.Git("remote", "add", "origin", remote)
	repo.Git("push", "-q", "origin", "HEAD:main")
	repo.Git("clone", "-q", "--bare", remote, repo.Path("../other.git"))
	c := &clones{T: t, other: repo.At("../other.git"), rng: rand.New(rand.NewPCG(seed, 1)), remote: repo.At(remote)}
	c.all = []*clone{{Repo: repo, name: "a"}}
	for _, name := range []string{"b", "c", "late"} {
		dir := repo.Path("../" + name)
		repo.Git("clone", "-q", "-b", "main", remote, dir)
		c.all = append(c.all, &clone{Repo: repo.At(dir), name: name})
	}
	for _, one := range c.all {
		one.Git("config", "user.name", one.name)
		one.Git("config", "user.email", one.name+"@example.com")
		one.Git("config", "gc.auto", "0")
		one.Write(".entire/settings.local.json", `{"strategy_options": {"push_remote": "origin"}}`)
	}
	return c
}

func (c *clones) step() {
	one := c.all[c.rng.IntN(len(c.all))]
	if one.name == "late" && len(c.gone) == 0 {
		one = c.all[0]
	}
	switch n := c.rng.IntN(12); {
	case n < 4:
		c.record(one, fmt.Sprintf("walrus-%d", 4711+c.rng.IntN(3)))
	case n < 7:
		c.push(one, c.rng.IntN(4) == 0)
	case n < 8 && one.session != nil:
		c.log = append(c.log, one.name+" ends its session")
		one.session.End("logout")
		one.session = nil
	case n < 9:
		c.mergeOld()
	case n < 10:
		c.log = append(c.log, one.name+" fetches")
		one.Git("fetch", "-q")
		if c.rng.IntN(2) == 0 {
			one.Entire("explain", "--fetch", "--no-pager")
		}
	default:
		c.forget(one)
	}
}

// record makes a checkpoint of a turn with a text, and commits.
func (c *clones) record(one *clone, text string) {
	c.Helper()
	c.files++
	c.log = append(c.log, fmt.Sprintf("%s records %s in %d", one.name, text, c.files))
	if one.session == nil {
		one.Entire("enable", "--agent", "claude-code")
		one.session = testkit.NewSession(one.Repo, fmt.Sprint("session ", c.files, " of ", one.name), one.Path("../claude-"+one.name))
		one.session.Start("startup")
	}
	path := fmt.Sprintf("%s-%d.txt", one.name, c.files)
	one.session.Prompt("About " + text + ".")
	one.session.Write(path, "the line of "+path+"\n")
	one.session.Say("I have noted " + text + ", and the line of " + path)
	one.session.Stop()
	one.Git("add", path)
	one.Git("commit", "-q", "-m", path)
	c.ids = append(c.ids, one.Trailers("HEAD")...)
}

// mergeOld merges and pushes an old history of the checkpoints, as a program would that doesn't know
// forgotten texts, and keeps the present one for later.
func (c *clones) mergeOld() {
	c.Helper()
	tip := c.remote.TryGit("rev-parse", "-q", "--verify", "refs/heads/entire/checkpoints/v1")
	if tip.Code != 0 {
		return
	}
	c.other.Git("fetch", "-q", "origin", "refs/heads/entire/checkpoints/v1")
	if len(c.old) > 0 {
		c.log = append(c.log, "an old history is merged")
		old := c.old[c.rng.IntN(len(c.old))]
		args := []string{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", "-m", "merged", "-p", "FETCH_HEAD"}
		merged := c.other.Git(append(args, "-p", old, "FETCH_HEAD^{tree}")...)
		c.other.Git("push", "-q", "origin", merged+":refs/heads/entire/checkpoints/v1")
	}
	c.old = append(c.old, strings.TrimSpace(tip.Stdout))
	c.other.Git("update-ref", fmt.Sprint("refs/old/", len(c.old)), "FETCH_HEAD")
}

// push pushes the clone's branch, with its checkpoints. It returns what the hook has printed.
func (c *clones) push(one *clone, killed bool) string {
	c.Helper()
	repo := one.Repo
	if killed {
		dir := writeHookKiller(repo, "pre-push", 20+c.rng.IntN(300))
		repo = &testkit.Repo{TB: c, Dir: repo.Dir, Env: repo.Env.With("PATH=" + dir + string(os.PathListSeparator) + repo.Env.Get("PATH"))}
	}
	got := repo.TryGit("push", "origin", "HEAD:refs/heads/of-"+one.name)
	c.log = append(c.log, fmt.Sprintf("%s pushes (killed: %v): %q", one.name, killed, got.Stderr))
	refused := strings.Contains(got.Stderr, "forgotten here") && strings.Contains(got.Stderr, "hint: `entire forget --push origin`")
	if got.Code != 0 || strings.Contains(got.Stderr, "not sent") && !refused {
		c.Errorf("push of %s: exit %d: %s", one.name, got.Code, got.Stderr)
	}
	return got.Stderr
}

// forget forgets one of the texts, or a session or file, and mostly removes it from the remote.
func (c *clones) forget(one *clone) {
	c.Helper()
	text := fmt.Sprintf("walrus-%d", 4711+c.rng.IntN(3))
	args := []string{"forget", "--text", text, "--force"}
	switch n := c.rng.IntN(8); {
	case n == 0 && one.session != nil:
		args, text = []string{"forget", "--session", one.session.ID, "--force"}, ""
		one.session = nil // it is no longer recorded
	case n == 1 && one.session != nil:
		args, text = []string{"forget", "--file", fmt.Sprintf("%s-%d.txt", one.name, c.files), "--force"}, ""
	}
	if c.rng.IntN(4) > 0 {
		args = append(args, "--push", "origin")
	}
	c.log = append(c.log, fmt.Sprintf("%s: %v", one.name, args))
	if said := one.Entire(args...); strings.Contains(said, "Nothing to forget") {
		c.log = append(c.log, "nothing")
		return
	}
	if text != "" && !slices.Contains(c.gone, text) {
		c.gone = append(c.gone, text)
	}
}

// end lets everyone push once more, in any order, and checks all objects.
func (c *clones) end() {
	c.Helper()
	order := c.rng.Perm(len(c.all))
	for range 3 { // what was only forgotten in one clone is pushed, refused there, and then removed by all
		for _, i := range order {
			one := c.all[i]
			if c.rng.IntN(2) == 0 {
				one.Git("fetch", "-q")
			}
			c.record(one, "the end")
			said := c.push(one, false)
			if strings.Contains(said, "forgotten here") {
				one.Entire("forget", "--push", "origin")
				c.record(one, "the end")
				said = c.push(one, false)
			}
			if !strings.Contains(said, "entire: sent ") {
				c.Errorf("nothing sent by %s: %s", one.name, said)
			}
		}
	}
	stored := c.remote.Git("ls-tree", "-r", "-d", "--name-only", "entire/checkpoints/v1") + "\n"
	for _, id := range c.ids {
		if !strings.Contains(stored, id[:2]+"/"+id[2:]+"\n") {
			c.Errorf("checkpoint %s is lost", id)
		}
	}
	c.scan()
}

// scan looks for the forgotten texts in the objects of all repositories, and in the records of the
// clones.
func (c *clones) scan() {
	c.Helper()
	for _, one := range c.all {
		one.Entire("forget", "--listed", "--force")
		for _, text := range c.gone {
			if found := one.Sh("grep -rFla " + text + " .git .entire || true"); found != "" {
				c.Errorf("%s is in files of %s:\n%s", text, one.name, found)
			}
		}
	}
	for _, repo := range append([]*testkit.Repo{c.remote}, c.repos()...) {
		repo.Git("gc", "-q", "--prune=now")
		all := repo.Git("cat-file", "--batch-all-objects", "--batch")
		for _, text := range c.gone {
			if strings.Contains(all, text) {
				c.Errorf("%s is in an object of %s", text, filepath.Base(repo.Dir))
			}
		}
	}
}

func (c *clones) repos() []*testkit.Repo {
	list := make([]*testkit.Repo, len(c.all))
	for i, one := range c.all {
		list[i] = one.Repo
	}
	return list
}
