package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/servermerge"
)

// rewrite is one operation that rewrites history, and its expected outcome.
type rewrite struct {
	name    string
	outcome string // for readers of the table
	run     func(m *matrix)
}

// matrix is one run of one operation: a topic branch with linked commits.
type matrix struct {
	*testkit.Repo
	rng      *rand.Rand
	run      int
	sessions []*testkit.Session
	commits  [][]string // ids of the topic's commits, oldest first
	before   int        // checkpoints before the operation
	others   int        // commits of other work
}

// rewrites returns the rows of the table. This project decided on the outcomes and documents
// them.
func rewrites() []rewrite {
	return append([]rewrite{
		{"commit --amend --no-edit", "keeps its id", (*matrix).amendNoEdit},
		{"commit --amend -m", "keeps its id", (*matrix).amendMessage},
		{"rebase -i, reword", "each commit keeps its id", (*matrix).reword},
		{"rebase -i, squash", "every id folded in, each once, in order", func(m *matrix) { m.fold("squash") }},
		{"rebase -i, fixup", "every id folded in, each once, in order", func(m *matrix) { m.fold("fixup") }},
		{"rebase --autosquash", "every id folded in, each once, in order", (*matrix).autosquash},
		{"rebase", "each commit keeps its id", (*matrix).rebase},
		{"rebase --onto", "each commit keeps its id", (*matrix).rebaseOnto},
		{"cherry-pick", "keeps the id: two commits, one checkpoint", (*matrix).cherryPick},
		{"revert", "no id", (*matrix).revert},
		{"merge --squash", "every id folded in, each once", func(m *matrix) { m.mergeSquash("commit", "-q", "--no-edit") }},
		{"merge --squash, commit -m", "every id folded in, each once", func(m *matrix) { m.mergeSquash("commit", "-q", "-m", "feat: all") }},
		{"stash, stash pop, commit", "linked", (*matrix).stash},
		{"reset --soft, commit", "linked", (*matrix).resetSoft},
	}, partRewrites()...)
}

// TestRewriting runs every operation. With ENTIRE_TEST_TABLE=FILE there are twenty runs, each with
// different numbers of sessions, commits and files, and in different orders, and the table of
// outcomes is written to FILE.
func TestRewriting(t *testing.T) {
	t.Parallel()
	runs := 1
	if os.Getenv("ENTIRE_TEST_TABLE") != "" {
		runs = 20
	}
	table := &table{rows: map[string]int{}}
	t.Cleanup(func() { table.write(t, runs) })
	for _, operation := range testkit.ShortOf(rewrites(), 1) {
		t.Run(operation.name, func(t *testing.T) {
			t.Parallel()
			repo := matrixRepo(t)
			repo.InProcess = inProcess
			for run := range runs {
				m := &matrix{Repo: repo, rng: rand.New(rand.NewPCG(uint64(run), uint64(len(operation.name)))), run: run}
				m.prepare()
				operation.run(m)
				table.passed(operation.name)
			}
			testkit.Check(t, repo)
		})
	}
}

// table counts the runs that passed.
type table struct {
	mu   sync.Mutex // guards rows
	rows map[string]int
}

func (t *table) passed(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows[name]++
}

// write writes the table to ENTIRE_TEST_TABLE, if set, after all runs.
func (t *table) write(tb testing.TB, runs int) {
	tb.Helper()
	path := os.Getenv("ENTIRE_TEST_TABLE")
	if path == "" || tb.Failed() {
		return
	}
	writeSection(tb, path, rewritingHeading, t.markdown(runs))
}

// rewritingHeading is the heading of the table's page.
const rewritingHeading = "# Links when history is rewritten"

// writeSection writes the section of a page that begins with a heading, and ends before the next
// heading of a section that another test writes. Other sections stay as they are.
func writeSection(tb testing.TB, path, heading, text string) {
	tb.Helper()
	page, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	var sections []string // in the order of the page, without this one
	for _, other := range []string{rewritingHeading, servermerge.Heading} {
		if other == heading {
			sections = append(sections, strings.TrimSpace(text))
			continue
		}
		if _, rest, found := strings.Cut("\n"+string(page), "\n"+other+"\n"); found {
			if end := strings.Index(rest, "\n"+servermerge.Heading+"\n"); end >= 0 {
				rest = rest[:end]
			}
			sections = append(sections, other+"\n"+strings.TrimRight(rest, "\n"))
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(sections, "\n\n")+"\n"), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func (t *table) markdown(runs int) string {
	var out strings.Builder
	out.WriteString(rewritingHeading + "\n\n" +
		"Each operation is run many times on real repositories, each time with other numbers of sessions, commits and files.\n" +
		"`ENTIRE_TEST_TABLE=FILE go test ./cmd/entire -run TestRewriting` writes this page.\n\n" +
		"| operation | what becomes of the trailer | runs as expected |\n|---|---|---|\n")
	for _, operation := range rewrites() {
		fmt.Fprintf(&out, "| `%s` | %s | %d of %d |\n", operation.name, operation.outcome, t.rows[operation.name], runs)
	}
	out.WriteString("\nNo operation makes a checkpoint of its own, but a commit after `reset` or `stash pop` may, and one with an agent's work\n" +
		"while git has stopped. No hook condenses during a rebase: what is due is written when it ends.\n" +
		"No trailer is ever left without its checkpoint.\n")
	return out.String()
}

// matrixRepo creates an enabled repository for the runs of one operation.
func matrixRepo(t *testing.T) *testkit.Repo {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	env := testkit.CleanEnv(home, t.TempDir(), os.Getenv("PATH"))
	repo, _ := testkit.NewRepo(t, filepath.Join(dir, "w"), "plain", env)
	repo.InProcess = inProcess
	repo.Entire("enable", "--agent", "claude-code")
	repo.InProcess = nil
	repo.Commit("set up")
	return repo
}

// prepare creates a topic branch of two or three linked commits by one or two sessions, based
// on a new commit of main.
func (m *matrix) prepare() {
	m.TB.Helper()
	m.Git("checkout", "-q", "-f", "main")
	m.Write(fmt.Sprintf("mine-%d.txt", m.run), "mine\n")
	m.quietCommit(fmt.Sprintf("mine %d", m.run))
	m.Git("checkout", "-q", "-b", m.topic())
	for n := range 1 + m.rng.IntN(2) {
		name := fmt.Sprintf("%s-%d-%d", filepath.Base(filepath.Dir(filepath.Dir(m.Dir))), m.run, n)
		session := testkit.NewSession(m.Repo, name, filepath.Join(m.Dir, "..", "claude"))
		session.Lag = m.rng.IntN(2) == 0
		session.Start("startup")
		m.sessions = append(m.sessions, session)
	}
	for n := range 2 + m.rng.IntN(2) {
		m.step(n)
	}
	m.before = len(m.Stored())
}

// quietCommit commits everything without any hook.
func (m *matrix) quietCommit(message string) {
	m.TB.Helper()
	m.Git("add", "-A")
	m.Git("-c", "core.hooksPath=/nowhere", "commit", "-q", "-m", message)
}

func (m *matrix) topic() string { return fmt.Sprintf("topic-%d", m.run) }

// step plays one turn of a session and one commit by the user or the agent.
func (m *matrix) step(n int) {
	m.TB.Helper()
	session := m.sessions[m.rng.IntN(len(m.sessions))]
	paths := m.touch(session, n)
	message := fmt.Sprintf("step %d of run %d", n, m.run)
	if m.rng.IntN(3) == 0 {
		session.Bash("git add -- " + strings.Join(paths, " ") + " && git commit -qm '" + message + "'")
		session.Stop()
	} else {
		session.Stop()
		m.Git(append([]string{"add", "--"}, paths...)...)
		m.Git("commit", "-q", "-m", message)
	}
	ids := m.Trailers("HEAD")
	if len(ids) != 1 {
		m.TB.Fatalf("run %d: commit %d has trailers %v, want one", m.run, n, ids)
	}
	m.commits = append(m.commits, ids)
}

// touch makes the session write a few new files, in any order.
func (m *matrix) touch(session *testkit.Session, n int) []string {
	m.TB.Helper()
	session.Prompt(fmt.Sprintf("Write the files of step %d", n))
	var paths []string
	for f := range 1 + m.rng.IntN(3) {
		paths = append(paths, fmt.Sprintf("run%d/step%d-%d.txt", m.run, n, f))
	}
	m.rng.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	for _, path := range paths {
		if m.rng.IntN(3) == 0 {
			session.Bash("mkdir -p " + filepath.Dir(path) + " && echo by the shell > " + path)
		} else {
			session.Write(path, "by a tool: "+path+"\n")
		}
	}
	return paths
}

// expect asserts the ids of a commit, in order.
func (m *matrix) expect(rev string, want ...string) {
	m.TB.Helper()
	if got := m.Trailers(rev); !slices.Equal(got, want) {
		m.TB.Fatalf("run %d: %s has ids %v, want %v\n%s", m.run, rev, got, want, m.Git("log", "-1", "--format=%B", rev))
	}
}

// expectTopic asserts the ids of the topic's commits on HEAD, and that the operation created no
// checkpoint.
func (m *matrix) expectTopic() {
	m.TB.Helper()
	for i, ids := range m.commits {
		m.expect(fmt.Sprintf("HEAD~%d", len(m.commits)-1-i), ids...)
	}
	m.expectNothingNew()
}

func (m *matrix) expectNothingNew() {
	m.TB.Helper()
	if now := len(m.Stored()); now != m.before {
		m.TB.Fatalf("run %d: %d checkpoints, were %d", m.run, now, m.before)
	}
}

func (m *matrix) amendNoEdit() {
	m.Git("commit", "-q", "--amend", "--no-edit")
	m.expectTopic()
}

func (m *matrix) amendMessage() {
	m.Git("commit", "-q", "--amend", "-m", "feat: said better")
	m.expectTopic()
}

// with returns the repository with additional environment variables.
func (m *matrix) with(entries ...string) *testkit.Repo {
	repo := m.For(m.TB)
	repo.Env = m.Env.With(entries...)
	return repo
}

func (m *matrix) base() string { return fmt.Sprintf("HEAD~%d", len(m.commits)) }

func (m *matrix) reword() {
	m.with("GIT_SEQUENCE_EDITOR=sed -i.bak s/^pick/reword/", "GIT_EDITOR=sed -i.bak '1s/.*/reworded/'").
		Git("rebase", "-q", "-i", m.base())
	m.expectTopic()
}

func (m *matrix) fold(verb string) {
	m.with("GIT_SEQUENCE_EDITOR=sed -i.bak '2,$s/^pick/"+verb+"/'").Git("rebase", "-q", "-i", m.base())
	m.expect("HEAD", slices.Concat(m.commits...)...)
	m.expectNothingNew()
}

func (m *matrix) autosquash() {
	target := m.rng.IntN(len(m.commits))
	session := m.sessions[0]
	paths := m.touch(session, 9)
	session.Stop()
	m.Git(append([]string{"add", "--"}, paths...)...)
	m.Git("commit", "-q", fmt.Sprintf("--fixup=HEAD~%d", len(m.commits)-1-target))
	fixup := m.Trailers("HEAD")
	m.with("GIT_SEQUENCE_EDITOR=true").Git("rebase", "-q", "-i", "--autosquash", fmt.Sprintf("HEAD~%d", len(m.commits)+1))
	m.commits[target] = slices.Concat(m.commits[target], fixup)
	m.before++
	m.expectTopic()
}

// advance adds a commit to main that the topic doesn't have.
func (m *matrix) advance() {
	m.Git("checkout", "-q", "main")
	m.Write(fmt.Sprintf("later-%d.txt", m.run), "later\n")
	m.quietCommit("later")
	m.Git("checkout", "-q", m.topic())
}

func (m *matrix) rebase() {
	m.advance()
	m.Git("rebase", "-q", "main")
	m.expectTopic()
}

func (m *matrix) rebaseOnto() {
	m.Git("branch", "-f", "target", m.base()+"~1")
	m.Git("rebase", "-q", "--onto", "target", m.base())
	m.expectTopic()
}

func (m *matrix) cherryPick() {
	m.advance()
	m.Git("checkout", "-q", "main")
	m.Git("cherry-pick", fmt.Sprintf("%s~%d..%s", m.topic(), len(m.commits), m.topic()))
	m.expectTopic()
	m.expect(m.topic(), m.commits[len(m.commits)-1]...)
}

func (m *matrix) revert() {
	m.Git("revert", "--no-edit", "HEAD")
	m.expect("HEAD")
	m.expect("HEAD~", m.commits[len(m.commits)-1]...)
	m.expectNothingNew()
}

func (m *matrix) mergeSquash(commit ...string) {
	m.Git("checkout", "-q", "main")
	m.Git("merge", "-q", "--squash", m.topic())
	m.Git(commit...)
	got, want := m.Trailers("HEAD"), slices.Concat(m.commits...)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.TB.Fatalf("run %d: ids %v, want %v\n%s", m.run, got, want, m.Git("log", "-1", "--format=%B"))
	}
	m.expectNothingNew()
}

func (m *matrix) stash() {
	session := m.sessions[0]
	paths := m.touch(session, 9)
	session.Stop()
	m.Git("stash", "-q", "-u")
	m.Git("stash", "pop", "-q")
	m.Git(append([]string{"add", "--"}, paths...)...)
	m.Git("commit", "-q", "-m", "after the stash")
	slices.Sort(paths)
	if got := m.Checkpoint("HEAD").Summary.FilesTouched; !slices.Equal(got, paths) {
		m.TB.Fatalf("run %d: files_touched %q, want %q", m.run, got, paths)
	}
}

func (m *matrix) resetSoft() {
	m.Git("reset", "-q", "--soft", "HEAD~1")
	m.Git("commit", "-q", "-m", "once more")
	m.Checkpoint("HEAD")
}
