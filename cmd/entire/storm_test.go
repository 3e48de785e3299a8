package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// stormRuns returns the number of runs of a storm: ENTIRE_TEST_STORM, or one by default.
func stormRuns(t *testing.T) int {
	t.Helper()
	if text := os.Getenv("ENTIRE_TEST_STORM"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("ENTIRE_TEST_STORM=%s: not a number of runs", text)
		}
		return n
	}
	return 1
}

// history is an operation of git on commits whose post-commit hook was killed, before any other
// hook has run.
type history struct {
	name string
	run  func(s *storm)
}

func histories() []history {
	return []history{
		{"squash", func(s *storm) { s.fold("squash") }},
		{"fixup", func(s *storm) { s.fold("fixup") }},
		{"rebase", func(s *storm) { s.advance(); s.Git("rebase", "-q", "main") }},
		{"rebase --apply", func(s *storm) { s.advance(); s.Git("rebase", "-q", "--apply", "main") }},
		{"cherry-pick", func(s *storm) { s.advance(); s.Git("checkout", "-q", "main"); s.Git("cherry-pick", s.topic()) }},
		{"branch switch", (*storm).leave},
		{"reset --soft, commit -C", func(s *storm) { s.Git("reset", "-q", "--soft", "HEAD~1"); s.Git("commit", "-q", "-C", "ORIG_HEAD") }},
		{"31 foreign commits", (*storm).foreign},
		{"amend", func(s *storm) { s.Git("commit", "-q", "--amend", "--no-edit") }},
		{"amend -m", func(s *storm) { s.Git("commit", "-q", "--amend", "-m", "said better") }},
		{"detached HEAD, left", (*storm).detached},
		{"worktree removed", (*storm).removeWorktree},
	}
}

// storm is one run: a topic branch whose last commit had its post-commit hook killed.
type storm struct {
	*testkit.Repo
	main    *testkit.Repo // the main worktree; Repo may be a linked one
	rng     *rand.Rand
	run     int
	session *testkit.Session
	killed  []string       // trailers of the commits whose hook was killed
	dirs    map[int]string // of programs that kill, by delay in milliseconds
}

// TestStorm kills the post-commit hook of commits, at once or after some milliseconds, and then
// makes the commits unreachable or rewrites them with git in every possible way. After the next
// hooks every trailer of a commit has its checkpoint.
func TestStorm(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "twelve ways to rewrite history")
	runs := stormRuns(t)
	for _, h := range histories() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			repo := matrixRepo(t)
			repo.Env = repo.Env.With("ENTIRE_BANDS_ENABLED=false")
			repo.Git("config", "gc.autoDetach", "false") // else git's gc.log.lock may exist when the repository is checked
			s := &storm{Repo: repo, main: repo, dirs: map[int]string{}}
			lost := 0
			for run := range runs {
				s.run, s.rng = run, rand.New(rand.NewPCG(uint64(run), uint64(len(h.name))))
				s.prepare()
				h.run(s)
				s.Repo = s.main
				s.next()
				lost += len(s.dangling())
			}
			s.end()
			removeLeftovers(t, repo)
			testkit.Check(t, repo)
			t.Logf("%s: %d runs, %d lost", h.name, runs, lost)
			if lost > 0 {
				t.Errorf("%d trailers without a checkpoint", lost)
			}
		})
	}
}

// removeLeftovers removes the temporary files of killed writers, as git and session-start do
// with old ones.
func removeLeftovers(t *testing.T, repo *testkit.Repo) {
	t.Helper()
	err := filepath.WalkDir(repo.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && (strings.HasPrefix(entry.Name(), "tmp_obj_") || strings.Contains(entry.Name(), ".entire-tmp-")) {
			return os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *storm) topic() string { return fmt.Sprintf("topic-%d", s.run) }

// prepare creates a topic branch of a complete commit and one whose hook is killed.
func (s *storm) prepare() {
	s.TB.Helper()
	s.Git("checkout", "-q", "-f", "-B", s.topic(), "main")
	s.begin(s.Repo)
	s.commit(s.Repo, fmt.Sprintf("run%d/a.txt", s.run))
	s.kill(s.Repo, fmt.Sprintf("run%d/b.txt", s.run))
}

// begin starts the session's turn; every tenth run has a new session.
func (s *storm) begin(repo *testkit.Repo) {
	s.TB.Helper()
	if s.run%10 == 0 || s.session == nil {
		s.end()
		name := fmt.Sprintf("%s-%d", filepath.Base(filepath.Dir(filepath.Dir(repo.Dir))), s.run)
		s.session = testkit.NewSession(repo, name, filepath.Join(s.main.Dir, "..", "claude"))
		s.session.Start("startup")
	}
	s.session.Repo, s.session.Cwd = repo, repo.Dir
	s.session.Prompt("Write two files")
	for _, name := range []string{"a", "b"} {
		s.session.Write(fmt.Sprintf("run%d/%s.txt", s.run, name), fmt.Sprintf("%s of run %d\n", name, s.run))
	}
	s.session.Stop()
}

func (s *storm) commit(repo *testkit.Repo, path string) {
	s.TB.Helper()
	repo.Git("add", "--", path)
	repo.Git("commit", "-q", "-m", "commit "+path)
	ids := repo.Trailers("HEAD")
	if len(ids) != 1 {
		s.TB.Fatalf("run %d: %s has trailers %v, want one", s.run, path, ids)
	}
	s.killed = ids
}

// kill commits the path; the commit's post-commit hook is killed.
func (s *storm) kill(repo *testkit.Repo, path string) {
	s.TB.Helper()
	delay := 0 // half of them are killed before they have done anything
	if s.rng.IntN(2) == 0 {
		delay = s.rng.IntN(60)
	}
	s.commit(s.killing(repo, delay), path)
}

// killing returns the repository with an environment in which post-commit hooks are killed
// after some milliseconds.
func (s *storm) killing(repo *testkit.Repo, delay int) *testkit.Repo {
	repo.TB.Helper()
	dir := s.dirs[delay]
	if dir == "" {
		dir = writeHookKiller(repo, "post-commit", delay)
		s.dirs[delay] = dir
	}
	return &testkit.Repo{TB: repo.TB, Dir: repo.Dir, Env: repo.Env.With("PATH=" + dir + string(os.PathListSeparator) + repo.Env.Get("PATH"))}
}

// writeHookKiller writes a program "entire" that runs the next one on PATH, but kills one of git's
// hooks after some milliseconds, and returns its folder.
func writeHookKiller(repo *testkit.Repo, hook string, delay int) string {
	repo.TB.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(repo.Env.Get("HOME")), "kill")
	if err != nil {
		repo.TB.Fatalf("make folder: %v", err)
	}
	script := fmt.Sprintf(`#!/bin/sh
PATH=${PATH#*:}
export PATH
if [ "$3" != %s ]; then exec entire "$@"; fi
entire "$@" &
[ %d = 0 ] || sleep 0.%03d
kill -9 $! 2>/dev/null
wait $!
exit 0
`, hook, delay, delay)
	if err := testkit.WriteProgram(filepath.Join(dir, "entire"), script); err != nil {
		repo.TB.Fatalf("write: %v", err)
	}
	return dir
}

// end ends the session.
func (s *storm) end() {
	if s.session != nil {
		s.session.End("logout")
	}
}

// next runs the hooks that come after: the agent continues in the main worktree.
func (s *storm) next() {
	s.TB.Helper()
	s.session.Repo = s.main
	s.session.Cwd, s.session.Project = s.main.Dir, s.main.Dir
	s.session.Prompt("And now?")
	s.session.Stop()
}

// dangling returns the trailers without a checkpoint, of the commits that are reachable or in a
// reflog and of the killed commits.
func (s *storm) dangling() []string {
	s.TB.Helper()
	stored := s.Git("ls-tree", "-r", "-d", "--name-only", "entire/checkpoints/v1")
	named := s.Git("log", "--all", "--reflog", "--max-count=60", "--format=%(trailers:key=Entire-Checkpoint,valueonly)")
	var lost []string
	for _, id := range append(strings.Fields(named), s.killed...) {
		if !strings.Contains(stored, id[:2]+"/"+id[2:]+"\n") && !strings.HasSuffix(stored, id[:2]+"/"+id[2:]) && !slices.Contains(lost, id) {
			lost = append(lost, id)
			s.TB.Logf("run %d: %s has no checkpoint", s.run, id)
		}
	}
	return lost
}

// advance adds a commit to main that the topic doesn't have.
func (s *storm) advance() {
	s.TB.Helper()
	parent := s.Git("rev-parse", "main")
	commit := s.Git("commit-tree", "-p", parent, "-m", "later", s.Git("rev-parse", "main^{tree}"))
	s.Git("update-ref", "refs/heads/main", commit)
}

func (s *storm) fold(verb string) {
	repo := &testkit.Repo{TB: s.TB, Dir: s.Dir, Env: s.Env.With("GIT_SEQUENCE_EDITOR=sed -i.bak '2,$s/^pick/" + verb + "/'")}
	repo.Git("rebase", "-q", "-i", "HEAD~2")
	if got := len(s.Trailers("HEAD")); got != 2 {
		s.TB.Fatalf("run %d: %d trailers after %s, want 2", s.run, got, verb)
	}
}

// leave checks out main and commits there.
func (s *storm) leave() {
	s.Git("checkout", "-q", "main")
	s.mine()
}

// mine makes a commit of the user's own.
func (s *storm) mine() {
	s.TB.Helper()
	path := fmt.Sprintf("mine-%d.txt", s.run)
	s.Write(path, "mine\n")
	s.Git("add", "--", path)
	s.Git("commit", "-q", "-m", "mine")
}

// foreign adds 31 commits without hooks, and one with all hooks.
func (s *storm) foreign() {
	s.TB.Helper()
	var in strings.Builder
	from := s.Git("rev-parse", "HEAD")
	when := s.Git("log", "-1", "--format=%ct")
	for n := range 31 {
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter F <f@example.com> %s +0000\ndata <<E\nforeign %d\nE\n", s.topic(), when, n)
		if n == 0 {
			fmt.Fprintf(&in, "from %s\n", from)
		}
	}
	s.GitInput(in.String(), "fast-import", "--quiet")
	s.mine()
}

// detached leaves a commit that only the reflog contains.
func (s *storm) detached() {
	s.Git("checkout", "-q", "--detach")
	s.Git("branch", "-q", "-D", s.topic())
	s.leave()
}

// removeWorktree commits in a linked worktree and removes the worktree.
func (s *storm) removeWorktree() {
	s.TB.Helper()
	dir := filepath.Join(s.main.Dir, "..", fmt.Sprintf("linked-%d", s.run))
	s.Git("worktree", "add", "-q", "-b", fmt.Sprintf("linked-%d", s.run), dir, "main")
	linked := s.At(dir)
	s.begin(linked)
	s.kill(linked, fmt.Sprintf("run%d/a.txt", s.run))
	s.Git("worktree", "remove", "--force", dir)
	s.mine()
}

// crowd is the size of a storm of sessions.
type crowd struct{ sessions, worktrees, commits int }

// TestStormOfSessions lets sessions work and commit in several worktrees at once: every commit
// is linked to its session, regardless of the order in which they get the lock.
func TestStormOfSessions(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "six sessions")
	size := crowd{sessions: 6, worktrees: 3, commits: 2}
	if os.Getenv("ENTIRE_TEST_STORM") != "" {
		size = crowd{sessions: 20, worktrees: 6, commits: 6}
	}
	repo := matrixRepo(t)
	repo.Env = repo.Env.With("ENTIRE_NO_DETACH=0")
	trees := []*testkit.Repo{repo}
	for n := 1; n < size.worktrees; n++ {
		dir := filepath.Join(repo.Dir, "..", fmt.Sprintf("tree%d", n))
		repo.Git("worktree", "add", "-q", "-b", fmt.Sprintf("branch%d", n), dir)
		trees = append(trees, repo.At(dir))
	}
	var group sync.WaitGroup
	made := make([][]sessionCommit, size.sessions)
	for n := range size.sessions {
		session := testkit.NewSession(trees[n%len(trees)], fmt.Sprintf("session %d", n), filepath.Join(repo.Dir, "..", "claude"))
		session.Shared = true
		group.Go(func() { made[n] = commitInCrowd(session, n, size.commits) })
	}
	group.Wait()
	if t.Failed() {
		return
	}
	settleChildren(t, repo)
	stored := repo.Stored()
	commits, lost, unlinked := 0, 0, 0
	for n, list := range made {
		for _, c := range list {
			commits++
			ids := repo.Trailers(c.rev)
			linked := false
			for _, id := range ids {
				point := stored[id]
				if point == nil {
					lost++
					t.Errorf("session %d: %s of %s has no checkpoint", n, id, c.path)
					continue
				}
				linked = linked || slices.Contains(point.Summary.FilesTouched, c.path) && slices.Contains(point.Sessions(), c.session)
			}
			if !linked {
				unlinked++
				t.Errorf("session %d: the commit of %s (%s) is not linked, trailers %v", n, c.path, c.by, ids)
			}
		}
	}
	t.Logf("%d sessions in %d worktrees: %d commits, %d lost, %d unlinked", size.sessions, size.worktrees, commits, lost, unlinked)
	explain(t, repo)
	testkit.CheckBusy(t, repo)
}

// sessionCommit is a commit of a session's file.
type sessionCommit struct{ rev, path, session, by string }

// commitInCrowd plays a session among others: after some turns the user commits its file, in
// others the agent does.
func commitInCrowd(session *testkit.Session, number, commits int) []sessionCommit {
	var made []sessionCommit
	session.Start("startup")
	for turn := range commits {
		path := fmt.Sprintf("s%02d/t%d.txt", number, turn)
		session.Prompt("Write " + path)
		if turn%3 == 1 {
			session.Bash(fmt.Sprintf("mkdir -p s%02d && echo by the shell > %s", number, path))
		} else {
			session.Write(path, path+"\n")
		}
		// Other sessions commit in the same worktree: git may find the index or HEAD locked.
		script := fmt.Sprintf(`for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	if git add -- %[1]s 2>/dev/null && git commit -q -m 'commit %[1]s' -- %[1]s 2>/dev/null; then
		git log -1 --format=%%H -- %[1]s; exit
	fi
	sleep 0.1
done
exit 1`, path)
		c := sessionCommit{path: path, session: session.ID, by: "by the agent"}
		var result testkit.Result
		if turn%2 == 0 {
			session.Stop()
			c.by = "by the person"
			result = testkit.Call{Dir: session.Repo.Dir, Env: session.Repo.Env, Name: "sh", Args: []string{"-c", script}}.Run(session.TB)
		} else {
			result = session.Bash(script)
			session.Stop()
		}
		if c.rev = strings.TrimSpace(result.Stdout); result.Code != 0 || c.rev == "" {
			session.TB.Logf("commit of %s: exit %d\n%s", path, result.Code, result.Stderr)
			continue
		}
		made = append(made, c)
	}
	session.End("prompt_input_exit")
	return made
}

// settleChildren waits for the detached children, which run in the worktrees, by running the
// same command, which waits for the lock after them.
func settleChildren(t *testing.T, repo *testkit.Repo) {
	t.Helper()
	const tries = 200
	for range tries {
		if !childrenIn(filepath.Dir(repo.Dir)) {
			break
		}
		testkit.Call{Dir: repo.Dir, Env: repo.Env, Name: "entire", Args: []string{"hooks", "complete"}}.Must(t)
	}
	testkit.Call{Dir: repo.Dir, Env: repo.Env, Name: "entire", Args: []string{"hooks", "complete"}}.Must(t)
}

// childrenIn reports whether a process runs in a folder below dir, on systems with /proc.
func childrenIn(dir string) bool {
	paths, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		cwd, err := os.Readlink(path)
		return err == nil && strings.HasPrefix(cwd, dir+"/")
	})
}
