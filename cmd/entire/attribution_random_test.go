package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// writers is a repository in which an agent and a person edit the same files at random. No two
// lines are ever equal, so each line's author is known.
type writers struct {
	*testkit.Repo

	session *testkit.Session
	random  *rand.Rand
	agents  map[string]bool // lines that the agent wrote
	lines   int
	open    bool // the last turn was interrupted
}

// edit returns the file with a random stretch of it replaced.
func (w *writers) edit(path string, byAgent bool) string {
	old := strings.Split(strings.TrimSuffix(w.Read(path), "\n"), "\n")
	from := w.random.IntN(len(old) + 1)
	to := min(len(old), from+w.random.IntN(3))
	text := slices.Clone(old[:from])
	for range 1 + w.random.IntN(3) {
		w.lines++
		line := "line " + strconv.Itoa(w.lines)
		w.agents[line] = byAgent
		text = append(text, line)
	}
	return strings.Join(append(text, old[to:]...), "\n") + "\n"
}

func (w *writers) file() string { return []string{"a.txt", "b.txt"}[w.random.IntN(2)] }

// turn plays a turn of the agent in which a tool names the file or a shell command changes it.
// Some turns are interrupted.
func (w *writers) turn() {
	w.session.Prompt("Change it")
	w.settle()
	path := w.file()
	text := w.edit(path, true)
	if w.random.IntN(2) == 0 {
		w.session.Write(path, text)
	} else {
		w.session.Bash("printf '" + strings.ReplaceAll(text, "\n", `\n`) + "' > " + path)
	}
	if w.open = w.random.IntN(4) == 0; !w.open {
		w.session.Stop()
	}
}

// settle waits until the prompt's snapshot is taken: on a busy machine another child may still
// be taking it.
func (w *writers) settle() {
	const tries = 100
	for range tries {
		asked, _ := filepath.Glob(w.Path(".git/entire/*/requests-*/*.json"))
		if len(asked) == 0 {
			return
		}
		w.Entire("hooks", "snapshot")
		testkit.Pass(w.TB, w.Env.Get("TMPDIR"), 20*time.Millisecond)
	}
}

// person edits a file at a time that no turn can claim.
func (w *writers) person() {
	if w.open {
		return
	}
	testkit.Pass(w.TB, w.Env.Get("TMPDIR"), 60*time.Millisecond)
	path := w.file()
	w.Write(path, w.edit(path, false))
	testkit.Pass(w.TB, w.Env.Get("TMPDIR"), 60*time.Millisecond)
}

// commit commits everything and compares the attribution with the known authors.
func (w *writers) commit(t *testing.T) {
	t.Helper()
	if w.open {
		w.open = false
		w.session.Stop()
	}
	w.Git("commit", "-q", "-a", "-m", "all")
	want, got := testkit.Figures{}, w.Checkpoint("HEAD").Slot(t, w.session.ID).Meta.Attribution
	removed := 0.0
	for line := range strings.Lines(w.Git("show", "--format=", "-U0", "HEAD")) {
		text := strings.TrimSpace(line[1:])
		switch {
		case strings.HasPrefix(line, "+line"):
			want["total"]++
			if w.agents[text] {
				want["agent"]++
			}
		case strings.HasPrefix(line, "-line"):
			removed++
		}
	}
	if got["agent_lines"] != want["agent"] || got["total_committed"] != want["total"] {
		t.Errorf("%v of %v lines are the agent's, want %v of %v", got["agent_lines"], got["total_committed"], want["agent"], want["total"])
	}
	if got["agent_lines"]+got["human_added"]+got["human_modified"] != want["total"] {
		t.Errorf("the figures don't add up to %v: %v", want["total"], got)
	}
	if sum := got["agent_removed"] + got["agent_replaced"] + got["human_removed"] + got["human_replaced"]; sum != removed {
		t.Errorf("%v lines removed, want %v", sum, removed)
	}
}

// TestAttributionOfRandomEdits plays turns and a person's edits through the
// installed hooks, with snapshots and without.
func TestAttributionOfRandomEdits(t *testing.T) {
	testkit.Long(t, "three commits of ten edits each")
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			repo := matrixRepo(t)
			w := &writers{Repo: repo, random: rand.New(rand.NewPCG(seed, 1)), agents: map[string]bool{}}
			for _, path := range []string{"a.txt", "b.txt"} {
				for range 10 {
					w.lines++
					old, _ := os.ReadFile(w.Path(path))
					w.Write(path, string(old)+"line "+strconv.Itoa(w.lines)+"\n")
				}
			}
			repo.Commit("lines of a person")
			w.session = testkit.NewSession(repo, "main", t.TempDir())
			w.session.Start("startup")
			for range 3 {
				for range 4 {
					if w.random.IntN(2) == 0 {
						w.person()
					} else {
						w.turn()
					}
				}
				w.turn()
				if w.random.IntN(2) == 0 {
					w.person()
				}
				w.commit(t)
			}
		})
	}
}
