package servermerge

import (
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// Play plays the history of a seed in an enabled repository with one commit, which becomes the
// clone of the author of pull requests, and compares what the program prints with what is known.
func Play(author *testkit.Repo, kind Kind, seed uint64) Result {
	w := &world{
		random: rand.New(rand.NewPCG(seed, uint64(crc32.ChecksumIEEE([]byte(kind.Name))))), seed: seed, //nolint:gosec // a history can be played again
		author: author, writers: map[string]writer{}, restored: map[string]bool{},
	}
	w.begin()
	kind.play(w)
	if w.chance(50) {
		for _, s := range w.sessions {
			s.End("logout")
		}
	}
	c := comparison{world: w, result: Result{Kind: kind, Seed: seed}}
	c.landed = w.landed()

	author.Git("checkout", "-q", "main")
	author.Git("pull", "-q", "--ff-only")
	c.lines("author", author)
	c.sentences("author", author)

	w.prune()
	colleague := w.clone("colleague")
	for place, repo := range map[string]*testkit.Repo{"pruned": author, "colleague": colleague} {
		c.lines(place, repo)
		c.sentences(place, repo)
		c.find(place, repo)
		c.lines(place+", linked", repo)
	}
	c.result.Log = w.log
	return c.result
}

// prune deletes the branches of the pull requests from the author's clone, and all objects that only
// they have.
func (w *world) prune() {
	for n := 1; n <= w.requests; n++ {
		w.author.TryGit("branch", "-q", "-D", branchOf(n)) // others are of another author
	}
	w.author.Git("fetch", "-q", "--all", "--prune")
	w.author.TryGit("remote", "remove", "fork")
	for _, name := range []string{"ORIG_HEAD", "FETCH_HEAD"} {
		_ = os.Remove(filepath.Join(w.author.GitDir(), name))
	}
	w.author.Git("reflog", "expire", "--expire=now", "--all")
	w.author.Git("gc", "-q", "--prune=now")
}

// clone makes a clone of another user, who enables the program and gets the checkpoints.
func (w *world) clone(name string) *testkit.Repo {
	clone := w.author.At("../" + name)
	home := w.author.Path("../home of " + name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		w.author.TB.Fatalf("make the home of %s: %v", name, err)
	}
	clone.Env = clone.Env.With("HOME=" + home)
	w.author.Git("clone", "-q", "--no-local", w.server.Dir, clone.Dir)
	clone.Git("config", "user.name", name)
	clone.Git("config", "user.email", name+"@example.com")
	clone.Git("config", "gc.auto", "0")
	clone.Entire("enable", "--agent", "claude-code")
	clone.Entire("explain", "--fetch", "--no-pager")
	return clone
}
