package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// registerScene plays some commits of one kind.
type registerScene struct {
	name  string
	short bool // it is in the short selection
	play  func(r *registers)
}

func registerScenes() []registerScene {
	return []registerScene{
		{"one turn", true, (*registers).sceneOneTurn},
		{"shell", false, (*registers).sceneShell},
		{"two turns", false, (*registers).sceneTwoTurns},
		{"two sessions", true, (*registers).sceneTwoSessions},
		{"person", false, (*registers).scenePerson},
		{"mixed", false, (*registers).sceneMixed},
		{"deletion", true, (*registers).sceneDeletion},
		{"rename", false, (*registers).sceneRename},
		{"amend", false, (*registers).sceneAmend},
		{"squash", true, (*registers).sceneSquash},
		{"another person", true, (*registers).sceneAnotherPerson},
		{"fixup", false, (*registers).sceneFixup},
		{"revert", false, (*registers).sceneRevert},
		{"cherry-pick", false, (*registers).sceneCherryPick},
		{"split by files", false, (*registers).sceneSplitByFiles},
		{"split by lines", false, (*registers).sceneSplitByLines},
		{"subagent", true, (*registers).sceneSubagent},
		{"own commit", true, (*registers).sceneOwnCommit},
		{"interrupted", false, (*registers).sceneInterrupted},
		{"no changes", false, (*registers).sceneNoChanges},
		{"resumed", false, (*registers).sceneResumed},
		{"forked", true, (*registers).sceneForked},
		{"formatter", false, (*registers).sceneFormatter},
		{"without hooks", false, (*registers).sceneWithoutHooks},
		{"ignored files", false, (*registers).sceneIgnored},
		{"unknown lines", true, (*registers).sceneUnknownLines},
		{"uncommitted", true, (*registers).sceneUncommitted},
	}
}

// named returns the path of a file of the current scene.
func (r *registers) named(name string) string { return fmt.Sprintf("scene%02d/%s.txt", r.number, name) }

// session returns the session of that name, started on first use.
func (r *registers) session(name string) *testkit.Session {
	s := r.sessions[name]
	if s == nil {
		s = testkit.NewSession(r.Repo, name, filepath.Join(r.Dir, "..", "claude"))
		s.Start("startup")
		r.sessions[name] = s
	}
	return s
}

// asks begins a turn. Its request has a word that no other request has.
func (r *registers) asks(s *testkit.Session, what string) {
	r.turns++
	s.Prompt(fmt.Sprintf("Please %s, request%dnumber", what, r.turns))
}

// turn plays a turn that writes files of five lines.
func (r *registers) turn(s *testkit.Session, names ...string) {
	r.asks(s, "write "+strings.Join(names, " and "))
	for _, name := range names {
		s.Write(r.named(name), r.lines(name, 5))
	}
	s.Say("I wrote " + strings.Join(names, " and ") + ".")
	s.Stop()
}

// lines returns a text of n lines that no other file has.
func (r *registers) lines(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of %s in scene %d\n", i, name, r.number)
	}
	return b.String()
}

// commit commits all changes as a person.
func (r *registers) commit(message string) {
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", fmt.Sprintf("%s in scene %d", message, r.number))
}

func (r *registers) sceneOneTurn() {
	r.turn(r.session("main"), "one")
	r.commit("one turn")
	s := r.session("main")
	r.asks(s, "change the third line")
	s.Edit(r.named("one"), "line 2 of one", "the changed line")
	s.Stop()
	r.commit("an edit")
}

func (r *registers) sceneShell() {
	s := r.session("main")
	r.asks(s, "write by the shell")
	s.Bash(fmt.Sprintf("mkdir -p scene%02d && printf 'a %[1]d\\nb %[1]d\\n' > %s && echo more >> README.md", r.number, r.named("shell")))
	s.Stop()
	r.commit("by the shell")
}

func (r *registers) sceneTwoTurns() {
	r.turn(r.session("main"), "first")
	r.turn(r.session("main"), "second", "third")
	r.commit("two turns")
}

func (r *registers) sceneTwoSessions() {
	r.turn(r.session("main"), "main")
	r.turn(r.session("other"), "other")
	s := r.session("other")
	r.asks(s, "change the file of the other session")
	s.Edit(r.named("main"), "line 1 of main", "the line of the other session")
	s.Stop()
	r.commit("two sessions")
}

func (r *registers) scenePerson() {
	r.Write(r.named("own"), r.lines("own", 3))
	r.commit("of my own")
}

func (r *registers) sceneMixed() {
	r.turn(r.session("main"), "mixed", "clean")
	r.Write(r.named("mixed"), r.Read(r.named("mixed"))+"by hand\nby hand, too\n")
	r.Write(r.named("own"), "of my own\n")
	r.commit("mixed")
}

func (r *registers) sceneDeletion() {
	r.turn(r.session("main"), "long", "gone")
	r.commit("before the deletion")
	s := r.session("main")
	r.asks(s, "delete lines")
	s.Edit(r.named("long"), fmt.Sprintf("line 1 of long in scene %d\n", r.number), "")
	s.Bash("rm " + r.named("gone"))
	s.Stop()
	r.commit("deletion")
}

func (r *registers) sceneRename() {
	r.turn(r.session("main"), "old")
	r.commit("before the rename")
	s := r.session("main")
	r.asks(s, "rename a file")
	s.Bash("git mv " + r.named("old") + " " + r.named("new"))
	s.Stop()
	r.commit("rename")
}

func (r *registers) sceneAmend() {
	r.turn(r.session("main"), "amended")
	r.commit("to amend")
	r.turn(r.session("main"), "added")
	r.Git("add", "-A")
	r.Git("commit", "-q", "--amend", "--no-edit")
}

func (r *registers) sceneSquash() {
	r.Git("checkout", "-q", "-b", "topic")
	r.turn(r.session("main"), "topic1")
	r.commit("topic, first")
	r.turn(r.session("main"), "topic2")
	r.commit("topic, second")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "--squash", "topic")
	r.Git("commit", "-q", "-m", "squashed")
	r.Git("branch", "-q", "-D", "topic")
}

// sceneAnotherPerson plays the work of two persons, one of whom squashes the other's and continues
// the other's session.
func (r *registers) sceneAnotherPerson() {
	branch := fmt.Sprintf("colleague%d", r.number)
	theirs := r.session(fmt.Sprintf("colleague%d", r.number))
	r.Git("checkout", "-q", "-b", branch)
	r.Git("config", "user.name", "Bob Builder")
	r.turn(theirs, "theirs")
	r.commit("of a colleague")
	r.Git("config", "--unset", "user.name")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "--squash", branch)
	r.Git("commit", "-q", "-m", "squashed for a colleague")
	r.Git("branch", "-q", "-D", branch)
	r.turn(theirs, "continued")
	r.commit("continued for a colleague")
	r.turn(r.session("main"), "own")
	r.commit("of my own, too")
}

func (r *registers) sceneFixup() {
	r.turn(r.session("main"), "fixed")
	r.commit("to fix")
	s := r.session("main")
	r.asks(s, "fix it")
	s.Edit(r.named("fixed"), "line 3 of fixed", "the fixed line")
	s.Stop()
	r.Git("add", "-A")
	r.Git("commit", "-q", "--fixup=HEAD")
	r.with("GIT_SEQUENCE_EDITOR=true").Git("rebase", "-q", "-i", "--autosquash", "HEAD~2")
}

func (r *registers) sceneRevert() {
	r.turn(r.session("main"), "reverted")
	r.commit("to revert")
	r.Git("revert", "--no-edit", "HEAD")
}

func (r *registers) sceneCherryPick() {
	branch := fmt.Sprintf("picked%d", r.number)
	r.Git("checkout", "-q", "-b", branch)
	r.turn(r.session("main"), "picked")
	r.commit("to pick")
	r.Git("checkout", "-q", "main")
	r.scenePerson()
	r.Git("cherry-pick", branch)
}

func (r *registers) sceneSplitByFiles() {
	r.turn(r.session("main"), "part1", "part2")
	for _, name := range []string{"part1", "part2"} {
		r.Git("add", "--", r.named(name))
		r.Git("commit", "-q", "-m", "only "+name)
	}
}

func (r *registers) sceneSplitByLines() {
	path := r.named("lines")
	r.Write(path, r.lines("lines", 20))
	r.commit("before the split")
	s := r.session("main")
	r.asks(s, "change two lines")
	s.Edit(path, "line 2 of lines", "the first changed line")
	half := r.Read(path)
	s.Edit(path, "line 17 of lines", "the second changed line")
	s.Stop()
	whole := r.Read(path)
	r.Write(path, half)
	r.Git("add", "--", path)
	r.Write(path, whole)
	r.Git("commit", "-q", "-m", "the first line")
	r.commit("the second line")
}

func (r *registers) sceneSubagent() {
	s := r.session("main")
	r.asks(s, "let a subagent write")
	agent := s.Subagent(fmt.Sprintf("helper%d", r.number), "write the file", "")
	agent.Session.Write(r.named("sub"), r.lines("sub", 4))
	agent.Stop()
	agent.Done()
	s.Stop()
	r.commit("a subagent")
}

func (r *registers) sceneOwnCommit() {
	s := r.session("main")
	r.asks(s, "write and commit, then write more")
	s.Write(r.named("within"), r.lines("within", 4))
	s.Bash("git add -A && git commit -qm 'by the agent itself'")
	s.Write(r.named("after"), r.lines("after", 4))
	s.Stop()
	r.commit("the rest of the turn")
}

func (r *registers) sceneInterrupted() {
	s := r.session("main")
	r.asks(s, "write until interrupted")
	s.Write(r.named("interrupted"), r.lines("interrupted", 4))
	s.Interrupt()
	r.commit("interrupted")
	r.turn(s, "next")
	r.commit("the turn after it")
}

func (r *registers) sceneNoChanges() {
	s := r.session("main")
	r.asks(s, "explain the code")
	s.Show("README.md")
	s.Say("It is short.")
	s.Stop()
	r.turn(s, "later")
	r.commit("after a turn without changes")
}

func (r *registers) sceneResumed() {
	name := fmt.Sprintf("resumed%d", r.number)
	s := r.session(name)
	r.turn(s, "before")
	r.commit("before the resume")
	s.End("prompt_input_exit")
	s.Start("resume")
	r.turn(s, "resumed")
	r.commit("after the resume")
}

// sceneForked continues a session in a new file, into which the client copies the history.
func (r *registers) sceneForked() {
	r.fork("forked", true)
	r.fork("forked-uncommitted", false)
}

func (r *registers) fork(name string, commit bool) {
	from := r.session(fmt.Sprintf("%s-from%d", name, r.number))
	r.turn(from, name+"-original")
	if commit {
		r.commit("before the fork")
	}
	data, err := os.ReadFile(from.Transcript.Path)
	if err != nil {
		r.TB.Fatalf("read transcript: %v", err)
	}
	fork := testkit.NewSession(r.Repo, fmt.Sprintf("%s-to%d", name, r.number), filepath.Join(r.Dir, "..", "claude"))
	fork.Transcript.Raw(strings.ReplaceAll(string(data), from.ID, fork.ID))
	fork.Start("resume")
	r.sessions[fork.ID] = fork
	r.turn(fork, name+"-copy")
	r.commit("after the fork")
	r.turn(fork, name+"-second")
	r.commit("second commit after the fork")
}

func (r *registers) sceneFormatter() {
	hook := filepath.Join(r.CommonDir(), "hooks", "pre-commit")
	script := fmt.Sprintf("#!/bin/sh\nsed -i.bak 's/^line/    line/' %[1]s && rm -f %[1]s.bak && git add %[1]s\n", r.named("formatted"))
	if err := testkit.WriteProgram(hook, script); err != nil {
		r.TB.Fatalf("write: %v", err)
	}
	r.turn(r.session("main"), "formatted")
	r.commit("formatted")
	if err := os.Remove(hook); err != nil {
		r.TB.Fatalf("remove: %v", err)
	}
}

func (r *registers) sceneWithoutHooks() {
	s := r.session("main")
	r.turn(s, "unhooked")
	r.Git("add", "-A")
	r.Git("-c", "core.hooksPath=/nowhere", "commit", "-q", "-m", "without hooks")
	r.asks(s, "go on")
	s.Stop()
}

func (r *registers) sceneIgnored() {
	r.Write(".gitignore", fmt.Sprintf("*.log\nbuild/\n# scene %d\n", r.number))
	r.commit("ignore files")
	s := r.session("main")
	r.asks(s, "build it")
	s.Write(r.named("source"), r.lines("source", 3))
	s.Write(fmt.Sprintf("scene%02d/edited.log", r.number), "ignored\n")
	s.Bash(fmt.Sprintf("mkdir -p build && echo %[1]d > build/a%[1]d && echo %[1]d > build/b%[1]d && echo %[1]d > scene%02[1]d/shell.log", r.number))
	s.Stop()
	r.commit("with ignored files")
}

// sceneUnknownLines plays a turn in which somebody adds a line to a file that a command then changes.
func (r *registers) sceneUnknownLines() {
	s := r.session("main")
	r.asks(s, "append a line by the shell")
	s.Write(r.named("unknown"), r.lines("unknown", 3))
	r.Write(r.named("unknown"), r.Read(r.named("unknown"))+"nobody knows who wrote this\n")
	s.Bash("echo 'the line of the command' >> " + r.named("unknown"))
	s.Stop()
	r.commit("an unknown line")
}

func (r *registers) sceneUncommitted() {
	r.turn(r.session("main"), "pending")
	r.turn(r.session("other"), "pending-other")
}
