package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// scene is a situation in which a hook runs: the preparation, the act that starts the hook, and
// the events after it.
type scene struct {
	name    string
	kind    string   // of repository, plain if empty
	hooks   []string // verbs of the hooks to stop, each in separate runs
	places  bool     // also try failures at certain places
	prepare func(p *play)
	act     func(p *play)
	then    func(p *play)
	// holds returns what is wrong after a power cut beyond what every scene checks.
	holds func(p *play) []string
}

// knownLater is a value that isn't known to be a secret until .env has it.
const knownLater = "sommer2024"

// commitHooks returns the hooks that git runs at a commit.
func commitHooks() []string { return []string{"prepare-commit-msg", "commit-msg", "post-commit"} }

func scenes() []scene {
	return slices.Concat(turnScenes(), taskScenes(), commitScenes(), rewriteScenes())
}

// turnScenes returns the scenes of the agent's hooks.
func turnScenes() []scene {
	stop := func(p *play) { p.main().Stop() }
	return []scene{
		{
			name: "first turn", hooks: []string{"session-start"}, places: true,
			act: func(p *play) { p.main().Start("startup") }, then: func(p *play) { p.turn("main", "a.txt") },
		},
		{
			name: "first turn", hooks: []string{"user-prompt-submit"}, places: true,
			act:  func(p *play) { p.main().Prompt("Please write a.txt.") },
			then: func(p *play) { p.writes("main", "a.txt"); stop(p) },
		},
		{
			name: "first turn", hooks: []string{"stop"},
			prepare: func(p *play) {
				p.main().Start("startup")
				p.main().Prompt("Please write a.txt.")
				p.writes("main", "a.txt", "dir/b.txt")
				p.main().Edit("README.md", "line 7\n", "line seven\n")
				p.bash("echo by the shell > shell.txt")
				p.changes("main", "README.md", "shell.txt")
			},
			act: stop,
		},
		{
			name: "later turn", hooks: []string{"user-prompt-submit"},
			prepare: func(p *play) { p.main().Start("startup"); p.turn("main", "a.txt") },
			act:     func(p *play) { p.main().Prompt("Please write b.txt.") },
			then:    func(p *play) { p.writes("main", "b.txt"); stop(p) },
		},
		{
			name: "later turn", hooks: []string{"stop"},
			prepare: func(p *play) {
				p.turn("main", "a.txt", "b.txt")
				p.main().Prompt("Please change a.txt and write c.txt.")
				p.main().Edit("a.txt", "by main", "again by main")
				p.writes("main", "c.txt")
			},
			act: stop,
		},
		{
			name: "HEAD moved since", hooks: []string{"stop"},
			prepare: func(p *play) {
				p.turn("main", "a.txt")
				p.Write("other.txt", "other\n")
				p.git("add", "other.txt")
				p.commits("-m", "other")
				p.main().Prompt("Please write b.txt.")
				p.writes("main", "b.txt")
			},
			act: stop,
		},
		{
			name: "two commits of its own", hooks: []string{"stop"}, places: true,
			prepare: twoOwnCommits, act: stop,
		},
		{
			name: "two commits of its own", hooks: []string{"session-end"},
			prepare: twoOwnCommits, act: func(p *play) { p.main().End("logout") },
		},
		{
			name: "interrupted after two commits", hooks: []string{"user-prompt-submit"},
			prepare: twoOwnCommits,
			act:     func(p *play) { p.main().Prompt("Please go on.") },
			then:    func(p *play) { p.writes("main", "d.txt"); stop(p) },
		},
		{
			name: "long transcript", hooks: []string{"stop"},
			prepare: longTurn, act: stop,
		},
		{
			name: "long transcript", hooks: []string{"complete"}, places: true,
			prepare: func(p *play) {
				longTurn(p)
				p.strand(func() { p.main().Stop() })
			},
			act: func(p *play) { p.complete("main") },
		},
		{
			name: "another agent has died in its turn", hooks: []string{"session-start"},
			prepare: func(p *play) {
				p.main().Live()
				p.main().Prompt("Please write a.txt and b.txt and commit a.txt.")
				p.writes("main", "a.txt", "b.txt")
				p.bash("git add a.txt && git commit -q -m a")
				p.main().Die()
			},
			act: func(p *play) { p.session("other").Start("startup") },
		},
		{
			name: "nothing was ever asked", hooks: []string{"session-end"},
			prepare: func(p *play) { p.main().Start("startup") },
			act:     func(p *play) { p.main().End("logout") },
		},
		{
			name: "after a turn", hooks: []string{"session-end"},
			prepare: func(p *play) { p.turn("main", "a.txt") },
			act:     func(p *play) { p.main().End("logout") },
		},
		{
			name: "a clear", hooks: []string{"session-end"}, places: true,
			prepare: func(p *play) { p.turn("main", "a.txt") },
			act:     func(p *play) { p.main().End("clear") },
		},
		{
			name: "a compaction", hooks: []string{"pre-compact", "session-start", "post-compact"},
			prepare: func(p *play) { p.turn("main", "a.txt") },
			act:     func(p *play) { p.main().Compact("What was done.") },
		},
	}
}

// newFile plays a turn of the main session that writes a file.
func (p *play) newFile(path, content string) {
	p.main().Prompt("Please write " + path + ".")
	p.main().Write(path, content)
	p.main().Stop()
}

// commitScenes returns the scenes of commits by a person and by an agent.
func commitScenes() []scene {
	stage := func(p *play) { p.git("add", "a.txt") }
	commitA := func(p *play) { p.commits("-m", "a") }
	return []scene{
		{
			name: "the agent's commit in its turn", hooks: commitHooks(), places: true,
			prepare: func(p *play) {
				p.main().Prompt("Please write a.txt and b.txt and commit a.txt.")
				p.writes("main", "a.txt", "b.txt")
			},
			act:  func(p *play) { p.bash("git add a.txt && git commit -q -m a") },
			then: func(p *play) { p.main().Stop() },
		},
		{
			name: "a user's commit of all", hooks: commitHooks(),
			prepare: func(p *play) { p.turn("main", "a.txt"); stage(p) },
			act:     commitA,
		},
		{
			name: "a value known since", hooks: []string{"post-commit"}, places: true,
			prepare: func(p *play) {
				p.main().Prompt("The word is " + knownLater + ".")
				p.writes("main", "a.txt", "b.txt")
				p.main().Stop()
				p.Write(".env", "APP_PASSWORD="+knownLater+"\n")
				stage(p)
			},
			act:  commitA,
			then: func(p *play) { p.git("add", "b.txt"); p.commits("-m", "b") },
		},
		{
			name: "split with carry-forward", hooks: commitHooks(), places: true,
			prepare: func(p *play) { p.turn("main", "a.txt", "b.txt"); p.turn("main", "c.txt"); stage(p) },
			act:     commitA,
			then:    func(p *play) { p.git("add", "b.txt"); p.commits("-m", "b") },
		},
		{
			name: "second part of a split", hooks: []string{"prepare-commit-msg", "post-commit"},
			prepare: func(p *play) {
				p.turn("main", "a.txt", "b.txt", "c.txt")
				p.git("add", "b.txt")
				p.commits("-m", "b")
				stage(p)
			},
			act: commitA,
		},
		{
			name: "partial staging of one file", hooks: []string{"post-commit"},
			prepare: func(p *play) {
				p.main().Prompt("Please change README.md.")
				p.main().Edit("README.md", "line 3\n", "line three\n")
				p.main().Edit("README.md", "line 30\n", "line thirty\n")
				p.changes("main", "README.md")
				p.main().Stop()
				whole := p.Read("README.md")
				p.Write("README.md", strings.Replace(whole, "line thirty", "line 30", 1))
				p.git("add", "README.md")
				p.Write("README.md", whole)
			},
			act:  func(p *play) { p.commits("-m", "part") },
			then: func(p *play) { p.git("add", "README.md"); p.commits("-m", "the rest of it") },
		},
		{
			name: "a part of a file that was renamed", hooks: []string{"prepare-commit-msg", "post-commit"},
			prepare: func(p *play) {
				p.newFile("a.txt", "1\n2\n3\n4\n")
				p.changes("main", "b.txt")
				if err := os.Rename(filepath.Join(p.Dir, "a.txt"), filepath.Join(p.Dir, "b.txt")); err != nil {
					p.TB.Fatalf("%v", err)
				}
				p.Write("b.txt", "1\n2\n")
				p.git("add", "b.txt")
				p.Write("b.txt", "1\n2\n3\n4\n")
			},
			act:  func(p *play) { p.commits("-m", "part") },
			then: func(p *play) { p.git("add", "b.txt"); p.commits("-m", "the rest of it") },
		},
		{
			name: "a part of a file, the rest in a stash", hooks: []string{"post-commit"},
			prepare: func(p *play) {
				p.newFile("a.txt", "1\n2\n3\n4\n")
				p.changes("main", "a.txt")
				p.Write("a.txt", "1\n2\n")
				p.git("add", "a.txt")
				p.Write("a.txt", "1\n2\n3\n4\n")
				p.git("stash", "-q", "--keep-index")
			},
			act:  func(p *play) { p.commits("-m", "part") },
			then: func(p *play) { p.git("checkout", "-q", "stash@{0}", "--", "a.txt"); p.commits("-m", "the rest of it") },
		},
		{
			name: "two sessions in one commit", hooks: []string{"prepare-commit-msg", "post-commit"},
			prepare: func(p *play) {
				p.turn("main", "a.txt", "b.txt")
				p.turn("other", "o.txt", "q.txt")
				stage(p)
				p.git("add", "o.txt")
			},
			act:  commitA,
			then: func(p *play) { p.git("add", "q.txt"); p.commits("-m", "q") },
		},
		{
			name: "the editor overwrites the message", hooks: []string{"prepare-commit-msg", "commit-msg"},
			prepare: func(p *play) { p.turn("main", "a.txt"); stage(p) },
			act: func(p *play) {
				p.Env = p.Env.With(`GIT_EDITOR=printf "a new one\n" >`)
				p.commits()
				p.Env = p.Env.With("GIT_EDITOR=true")
			},
		},
		{
			name: "after a commit whose checkpoint couldn't be written", hooks: []string{"prepare-commit-msg", "post-commit"},
			prepare: func(p *play) {
				p.turn("main", "a.txt", "b.txt", "c.txt")
				p.git("add", "b.txt")
				p.failing("post-commit", func() { p.commits("-m", "b") })
				stage(p)
			},
			act: commitA,
		},
		{
			name: "a linked worktree", kind: "worktree", hooks: []string{"prepare-commit-msg", "post-commit"},
			prepare: func(p *play) { p.turn("main", "a.txt", "b.txt"); stage(p) },
			act:     commitA,
		},
		{
			name: "a linked worktree", kind: "worktree", hooks: []string{"stop"},
			prepare: func(p *play) {
				p.turn("main", "b.txt")
				p.main().Prompt("Please write a.txt.")
				p.writes("main", "a.txt")
			},
			act: func(p *play) { p.main().Stop() },
		},
	}
}

// twoOwnCommits plays a turn in which the agent commits twice and leaves one file.
func twoOwnCommits(p *play) {
	p.main().Prompt("Please write a.txt, b.txt and c.txt and commit the first two.")
	for _, path := range []string{"a.txt", "b.txt"} {
		p.writes("main", path)
		p.bash("git add " + path + " && git commit -q -m " + path)
	}
	p.writes("main", "c.txt")
}

// longTurn plays a turn with a commit and with more transcript than a hook may redact.
func longTurn(p *play) {
	p.main().Prompt("Please write a.txt and b.txt, at length.")
	p.writes("main", "a.txt")
	p.bash("git add a.txt && git commit -q -m a")
	p.writes("main", "b.txt")
	for range 4 {
		p.bash("head -c 90000 /dev/zero | tr '\\0' 'x'")
	}
}

// complete runs the child that finishes a session's checkpoints.
func (p *play) complete(name string) {
	p.TB.Helper()
	if p.alone {
		return
	}
	s := p.session(name)
	result := testkit.Call{Dir: p.Dir, Env: s.HookEnv(), Name: "entire", Args: []string{"hooks", "complete", s.ID}}.Run(p.TB)
	if result.Code != 0 && result.Code != -1 {
		p.TB.Fatalf("complete: exit %d\n%s", result.Code, result.Stderr)
	}
}
