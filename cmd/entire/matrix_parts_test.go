package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// partRewrites returns the rows about commits that are taken apart, copied texts, and agents that
// work while git has stopped.
func partRewrites() []rewrite {
	return []rewrite{
		{"commit -F, with an older message", "no id; an agent's commit its own", (*matrix).reuseByFile},
		{"commit -C another commit", "no id; an agent's commit its own", (*matrix).reuseByCommit},
		{"rebase --autosquash, a fixup and a squash", "every id folded in, each once, in order", (*matrix).autosquashBoth},
		{"rebase -i, edit, reset HEAD^, commit by file", "each part keeps its id; other work none", (*matrix).splitAtEdit},
		{"reset HEAD^, commit by file", "each part keeps its id; other work none", (*matrix).splitByFile},
		{"reset HEAD^, commit by lines", "each part keeps its id; other work none", (*matrix).splitByLines},
		{"reset --soft over a person's commit", "keeps its id", func(m *matrix) { m.resetOver("--soft") }},
		{"reset --mixed over a person's commit", "keeps its id", func(m *matrix) { m.resetOver("--mixed") }},
		{"a part rewritten and committed, the rest later", "both linked; other work not", (*matrix).partByHand},
		{"rebase -i, edit, an agent commits", "linked when the rebase ends; other work not", (*matrix).agentAtStop},
		{"rebase -i, edit, an agent's work amended", "keeps its id, with the agent's work", (*matrix).amendAtStop},
		{"rebase --abort after an agent's commit", "linked by the next event", (*matrix).abortAtStop},
		{"rebase, an agent resolves a conflict", "keeps its id, and one of the resolution", (*matrix).resolveRebase},
		{"cherry-pick, an agent resolves a conflict", "keeps its id, and one of the resolution", (*matrix).resolvePick},
		{"merge, an agent resolves a conflict", "linked", (*matrix).resolveMerge},
	}
}

// other commits other work as a person, which must not be linked.
func (m *matrix) other(message ...string) {
	m.TB.Helper()
	m.others++
	path := fmt.Sprintf("other-%d-%d.txt", m.run, m.others)
	m.Write(path, "of my own\n")
	m.Git("add", "--", path)
	if len(message) == 0 {
		message = []string{"-m", "of my own"}
	}
	m.Git(append([]string{"commit", "-q"}, message...)...)
	m.expect("HEAD")
}

// last returns the ids of the topic's last commit.
func (m *matrix) last() []string { return m.commits[len(m.commits)-1] }

// turn plays a turn of the first session that writes a file.
func (m *matrix) turn(path, content string) {
	m.TB.Helper()
	m.sessions[0].Prompt("Write " + path)
	m.sessions[0].Write(path, content)
	m.sessions[0].Stop()
}

// own checks that a commit has one id that no commit of the topic has, and returns it.
func (m *matrix) own(rev string, besides ...string) string {
	m.TB.Helper()
	ids, stored := m.Trailers(rev), m.Stored()
	if slices.ContainsFunc(ids, func(id string) bool { return stored[id] == nil }) {
		m.TB.Fatalf("run %d: %s has ids %v, not all of which are stored", m.run, rev, ids)
	}
	if len(ids) == 0 || !slices.Equal(ids[:len(ids)-1], besides) || slices.Contains(slices.Concat(m.commits...), ids[len(ids)-1]) {
		m.TB.Fatalf("run %d: %s has ids %v, want %v and its own", m.run, rev, ids, besides)
	}
	return ids[len(ids)-1]
}

func (m *matrix) reuseByFile() {
	file := filepath.Join(m.Dir, "..", fmt.Sprintf("message-%d", m.run))
	if err := os.WriteFile(file, []byte(m.Git("log", "-1", "--format=%B")), 0o600); err != nil {
		m.TB.Fatalf("%v", err)
	}
	m.reuse("-F", file)
}

func (m *matrix) reuseByCommit() { m.reuse("-C", m.topic()) }

func (m *matrix) reuse(message ...string) {
	m.other(message...)
	m.turn(fmt.Sprintf("run%d/reused.txt", m.run), "by a tool\n")
	m.Git("add", "-A")
	m.Git(append([]string{"commit", "-q"}, message...)...)
	m.own("HEAD")
}

func (m *matrix) autosquashBoth() {
	target := fmt.Sprintf("HEAD~%d", len(m.commits)-1)
	base := m.Git("rev-parse", target+"~")
	target = strings.TrimSpace(m.Git("rev-parse", target))
	want := m.commits[0]
	kinds := []string{"--fixup=", "--squash="}
	m.rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for n, kind := range kinds {
		m.turn(fmt.Sprintf("run%d/folded-%d.txt", m.run, n), "by a tool\n")
		m.Git("add", "-A")
		m.Git("commit", "-q", "--no-edit", kind+target)
		want = append(want, m.own("HEAD", nil...))
	}
	m.with("GIT_SEQUENCE_EDITOR=true", "GIT_EDITOR=true").Git("rebase", "-q", "-i", "--autosquash", strings.TrimSpace(base))
	m.commits[0], m.before = want, m.before+2
	m.expectTopic()
}

// editLast stops a rebase at the topic's last commit.
func (m *matrix) editLast() {
	m.TB.Helper()
	m.with("GIT_SEQUENCE_EDITOR=sed -i.bak 1s/^pick/edit/").Git("rebase", "-q", "-i", "HEAD~1")
}

func (m *matrix) splitAtEdit() {
	m.editLast()
	m.commitParts()
	m.Git("rebase", "--continue")
	m.expectNothingNew()
}

func (m *matrix) splitByFile() {
	m.commitParts()
	m.expectNothingNew()
}

// commitParts resets the last commit and commits its files one by one, with other work in between.
func (m *matrix) commitParts() {
	m.TB.Helper()
	paths := strings.Fields(m.Git("diff-tree", "--no-commit-id", "--name-only", "-r", "HEAD"))
	m.Git("reset", "-q", "HEAD~1")
	for n, path := range paths {
		m.Git("add", "--", path)
		m.Git("commit", "-q", "-m", "part "+path)
		m.expect("HEAD", m.last()...)
		if n == 0 || m.rng.IntN(2) == 0 {
			m.other()
		}
	}
}

// lines makes the first session change some lines of a person's file and commits it. It returns the
// path, and the content before, in part and in whole.
func (m *matrix) lines() (path string, contents [3]string) {
	m.TB.Helper()
	path = fmt.Sprintf("run%d-lines.txt", m.run)
	for n := range 20 {
		line := fmt.Sprintf("line %d\n", n)
		for i := range contents {
			switch {
			case i == 1 && n == 2, i == 2 && (n == 2 || n == 17):
				contents[i] += fmt.Sprintf("changed by an agent %d\n", n)
			default:
				contents[i] += line
			}
		}
	}
	m.Write(path, contents[0])
	m.quietCommit("lines")
	m.turn(path, contents[2])
	return path, contents
}

func (m *matrix) splitByLines() {
	path, contents := m.lines()
	m.Git("commit", "-q", "-a", "-m", "all lines")
	id := m.own("HEAD")
	m.Git("reset", "-q", "HEAD~1")
	m.Write(path, contents[1])
	m.Git("add", "--", path)
	m.Write(path, contents[2])
	m.Git("commit", "-q", "-m", "some lines")
	m.expect("HEAD", id)
	m.other()
	m.Git("commit", "-q", "-a", "-m", "other lines")
	m.expect("HEAD", id)
	m.Write(path, contents[2]+"of my own\n")
	m.Git("commit", "-q", "-a", "-m", "of my own")
	m.expect("HEAD")
}

func (m *matrix) resetOver(how string) {
	path, contents := m.lines()
	m.Git("commit", "-q", "-a", "-m", "all lines")
	id := m.own("HEAD")
	for n := range 1 + m.rng.IntN(2) {
		m.Write(path, contents[2]+strings.Repeat("of my own\n", n+1))
		m.Git("commit", "-q", "-a", "-m", "of my own")
		m.expect("HEAD")
	}
	m.Git("reset", "-q", how, strings.TrimSpace(m.Git("log", "-1", "--format=%H", "--grep=^all lines"))+"~")
	m.Git("commit", "-q", "-a", "-m", "once more")
	m.expect("HEAD", id)
	m.Checkpoint("HEAD")
}

func (m *matrix) partByHand() {
	path, contents := m.lines()
	m.Write(path, contents[1])
	m.Git("commit", "-q", "-a", "-m", "some lines")
	id := m.own("HEAD")
	m.other()
	m.Write(path, contents[1]+"of my own\n")
	m.Git("commit", "-q", "-a", "-m", "of my own")
	m.expect("HEAD")
	m.Write(path, contents[2]+"of my own\n")
	m.Git("commit", "-q", "-a", "-m", "other lines")
	if m.own("HEAD") == id {
		m.TB.Fatalf("run %d: both parts have %s", m.run, id)
	}
}

func (m *matrix) agentAtStop() {
	m.editLast()
	m.turn(fmt.Sprintf("run%d/at-stop.txt", m.run), "by a tool\n")
	m.Git("add", "-A")
	m.Git("commit", "-q", "-m", "at the stop")
	m.other()
	m.expectNothingNew()
	m.Git("rebase", "--continue")
	m.sessions[0].Prompt("Go on")
	m.sessions[0].Stop()
	m.own("HEAD~1")
	m.expect("HEAD~2", m.last()...)
}

func (m *matrix) amendAtStop() {
	m.editLast()
	path := fmt.Sprintf("run%d/at-stop.txt", m.run)
	m.turn(path, "by a tool\n")
	m.Git("add", "-A")
	if m.rng.IntN(2) == 0 {
		m.Git("commit", "-q", "--amend", "--no-edit")
	}
	m.with("GIT_EDITOR=true").Git("rebase", "--continue")
	m.expectTopic()
	if touched := m.Checkpoint("HEAD").Summary.FilesTouched; !slices.Contains(touched, path) {
		m.TB.Fatalf("run %d: files_touched %q, want %s among them", m.run, touched, path)
	}
}

func (m *matrix) abortAtStop() {
	m.editLast()
	m.turn(fmt.Sprintf("run%d/at-stop.txt", m.run), "by a tool\n")
	m.Git("add", "-A")
	m.Git("commit", "-q", "-m", "at the stop")
	aside := strings.TrimSpace(m.Git("rev-parse", "HEAD"))
	m.Git("rebase", "--abort")
	m.expectTopic()
	m.sessions[0].Prompt("Go on")
	m.sessions[0].Stop()
	m.own(aside)
}

// conflict makes the first session change a file on the topic, and a person on main, differently.
// It returns the path and the id of the topic's commit.
func (m *matrix) conflict() (path, id string) {
	m.TB.Helper()
	path = fmt.Sprintf("run%d-conflict.txt", m.run)
	m.Git("checkout", "-q", "main")
	m.Write(path, "base\n")
	m.quietCommit("base of the conflict")
	m.Git("checkout", "-q", "-B", m.topic())
	m.commits = nil
	m.turn(path, "the topic has this line\n")
	m.Git("commit", "-q", "-a", "-m", "on the topic")
	id = m.own("HEAD")
	m.Git("checkout", "-q", "main")
	m.Write(path, "main has that line\n")
	m.quietCommit("on main")
	return path, id
}

// resolve makes the first session resolve the conflict and continues.
func (m *matrix) resolve(path string, then ...string) {
	m.TB.Helper()
	m.turn(path, "main has that line\nthe topic has this line\nand both are joined by an agent\n")
	m.Git("add", "--", path)
	m.with("GIT_EDITOR=true").Git(then...)
}

func (m *matrix) resolveRebase() {
	path, id := m.conflict()
	m.Git("checkout", "-q", m.topic())
	m.TryGit("rebase", "-q", "main")
	m.resolve(path, "rebase", "--continue")
	m.own("HEAD", id)
}

func (m *matrix) resolvePick() {
	path, id := m.conflict()
	m.TryGit("cherry-pick", m.topic())
	m.resolve(path, "cherry-pick", "--continue")
	m.own("HEAD", id)
}

func (m *matrix) resolveMerge() {
	path, _ := m.conflict()
	m.TryGit("merge", "-q", m.topic())
	m.resolve(path, "commit", "-q", "--no-edit")
	m.own("HEAD")
}
