package main

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// powerScenes returns the scenes of the hooks, and those of commands that write.
func powerScenes() []scene {
	list := append(scenes(), contextScenes()...)
	list = append(list, autoCommitScene(), doctorPowerScene(nil, "doctor", "-f"),
		doctorPowerScene([]string{"doctor", "-f"}, "doctor", "--undo", "-f"))
	undo, redo := []string{"rewind", "--undo"}, []string{"rewind", "--redo"}
	for _, c := range []struct {
		name  string
		turns turns
	}{{"with snapshots", twoTurns}, {"without snapshots", twoTurnsWithoutSnapshots}} {
		list = append(list, rewindPowerScene(c.name, c.turns, nil, toPoint()),
			rewindPowerScene(c.name, c.turns, [][]string{toPoint()}, undo),
			rewindPowerScene(c.name, c.turns, [][]string{toPoint(), undo}, redo))
	}
	for _, args := range [][]string{
		{"fs", "checkpoint", "create", "before it"},
		{"fs", "checkpoint", "delete", "v1", "--force"},
		{"fs", "restore", "v1", "--force"},
		{"disable", "--uninstall", "--force"},
		{"clean", "--force"},
		{"reset", "--force"},
		{"recall", "save", "-m", "half of it works"},
	} {
		list = append(list, scene{
			name: "after a turn", hooks: []string{strings.Join(args[:min(len(args), 3)], " ")},
			prepare: func(p *play) { p.main().Start("startup"); p.turn("main", "a.txt") },
			act:     func(p *play) { p.runs(args...) },
		})
	}
	return append(list, scene{
		name: "hooks were removed", hooks: []string{"enable --agent"},
		prepare: func(p *play) { p.turn("main", "a.txt"); p.runs("disable", "--uninstall", "--force") },
		act:     func(p *play) { p.runs("enable", "--agent", "claude-code") },
	}, scene{
		name: "after a commit", hooks: []string{"resume main"},
		prepare: func(p *play) {
			p.turn("main", "a.txt")
			p.git("add", "a.txt")
			p.commits("-m", "a")
			p.git("checkout", "-q", "-b", "other")
		},
		act: func(p *play) { p.runs("resume", "main", "--force") },
	})
}

// runs runs a command of entire as the user, with the faults in force. It must succeed.
func (p *play) runs(args ...string) {
	p.TB.Helper()
	testkit.Call{Dir: p.Dir, Env: p.Env.With(p.fault...), Name: "entire", Args: args}.Must(p.TB)
}

// rewindPowerScene is a command that changes the tree, after others. After a power cut the next
// call names a mixture of the two trees, and the rewind can be undone.
func rewindPowerScene(name string, turns turns, first [][]string, args []string) scene {
	var r rewound
	return scene{
		name: "two turns " + name, hooks: []string{strings.Join(args[:2], " ")},
		prepare: func(p *play) {
			r = turns(p, namesAndContents) // the model has no permissions
			for _, before := range first {
				p.runs(r.at(before)...)
			}
		},
		act: func(p *play) { p.runs(r.at(args)...) },
		holds: func(p *play) []string {
			before := "late"
			if args[1] == "--undo" {
				before = "early"
			}
			return r.afterPowerCut(p, before)
		},
	}
}

// afterPowerCut returns the faults of the tree: it is neither of the two and no command reports
// that, or the undo doesn't restore the tree before.
func (r rewound) afterPowerCut(p *play, before string) []string {
	half, is := interrupted(p), r.read(p)
	if !half {
		if is != r.trees["early"] && is != r.trees["late"] {
			return []string{"the tree is a mixture, and no command names it (-late +now):\n" + cmp.Diff(r.trees["late"], is)}
		}
		return nil
	}
	if result := (testkit.Call{Dir: p.Dir, Env: p.Env, Name: "entire", Args: []string{"rewind", "--undo"}}).Run(p.TB); result.Code != 0 {
		return []string{fmt.Sprintf("rewind --undo: exit %d: %s%s", result.Code, result.Stdout, result.Stderr)}
	}
	if before == "early" && is == r.trees["late"] && r.read(p) == is {
		return nil // only the sessions of the undo were left: it completed them
	}
	if diff := cmp.Diff(r.trees[before], r.read(p)); diff != "" {
		return []string{"taken back, the tree is not what it was (-was +is):\n" + diff}
	}
	if got := strings.Join(p.pending("main"), " "); got != r.pending[before] {
		return []string{fmt.Sprintf("taken back: pending %q", got)}
	}
	return nil
}

// toRepair leaves a turn without an end and a lost checkpoint.
func (p *play) toRepair() {
	p.main().Start("startup")
	p.turn("main", "a.txt")
	p.Git("add", "a.txt")
	p.Git("commit", "-q", "-m", "a")
	p.Git("update-ref", testkit.Branch, testkit.Branch+"~1")
	p.main().Live()
	p.main().Prompt("Please go on.")
	p.writes("main", "b.txt")
	p.main().Die()
}

// doctorPowerScene is a repair, or its undo. Pending files stay pending, and the repair can be
// repeated.
func doctorPowerScene(first []string, args ...string) scene {
	return scene{
		name: "a turn without an end", hooks: []string{strings.Join(args[:2], " ")},
		prepare: func(p *play) {
			p.toRepair()
			if len(first) > 0 {
				p.runs(first...)
			}
		},
		act: func(p *play) { p.runs(args...) },
		holds: func(p *play) []string {
			var faults []string
			if result := (testkit.Call{Dir: p.Dir, Env: p.Env, Name: "entire", Args: []string{"doctor", "-f"}}).Run(p.TB); result.Code != 0 {
				faults = append(faults, fmt.Sprintf("doctor -f: exit %d: %s%s", result.Code, result.Stdout, result.Stderr))
			}
			if got := strings.Join(p.pending("main"), " "); got != "b.txt" {
				faults = append(faults, fmt.Sprintf("pending %q", got))
			}
			return faults
		},
	}
}

// autoCommitScene is a turn that ends with a commit of its own.
func autoCommitScene() scene {
	return scene{
		name: "auto-commit", hooks: []string{"stop"},
		prepare: func(p *play) {
			p.Entire("enable", "--strategy", "auto-commit")
			p.main().Prompt("Please write a.txt and change README.md.")
			p.writes("main", "a.txt")
			p.main().Edit("README.md", "line 7\n", "line seven\n")
		},
		act: func(p *play) {
			s := p.main()
			s.Shared = true
			s.Stop()
		},
	}
}

// contextScenes are the hooks around a clear.
func contextScenes() []scene {
	turns := func(p *play) {
		p.turn("main", "a.txt")
		p.main().Prompt("Please write b.txt as well.")
		p.writes("main", "b.txt")
		p.main().Stop()
	}
	return []scene{
		{
			name: "the end at a clear", hooks: []string{"session-end"},
			prepare: turns, act: func(p *play) { p.main().End("clear") },
		},
		{
			name: "the start after a clear", hooks: []string{"session-start"},
			prepare: func(p *play) { turns(p); p.main().End("clear") },
			act: func(p *play) {
				s := p.session("cleared")
				s.PID = p.main().PID
				s.Start("clear")
			},
		},
	}
}
