package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// rewound is a repository with two turns: the trees and the pending files after the first and
// after the second, and the point to rewind to.
type rewound struct {
	p              *play
	read           func(p *play) string
	trees, pending map[string]string
	point          string
}

// turns plays two turns, and reads the trees with read.
type turns func(p *play, read func(p *play) string) rewound

// at returns the command with the scene's point.
func (s rewound) at(args []string) []string {
	args = slices.Clone(args)
	for i := range args {
		if args[i] == "POINT" {
			args[i] = s.point
		}
	}
	return args
}

func toPoint() []string { return []string{"rewind", "--to", "POINT"} }

// interrupted reports whether the next call names an interrupted rewind.
func interrupted(p *play) bool {
	p.TB.Helper()
	return strings.Contains(testkit.Call{Dir: p.Dir, Env: p.Env, Name: "entire", Args: []string{"status"}}.Run(p.TB).Stderr, "was interrupted")
}

// twoTurns plays two turns with snapshots.
func twoTurns(p *play, read func(p *play) string) rewound {
	trees := map[string]string{}
	p.Write("kept.txt", "the user's\n")
	p.main().Start("startup")
	p.turn("main", "a.txt")
	trees["early"] = read(p)
	p.main().Prompt("Please change things.")
	p.writes("main", "b.txt")
	p.bash("mkdir -p deep/er && echo 1 > deep/er/one && echo 2 > deep/two && chmod 600 a.txt && rm old.txt && ln -s a.txt link")
	p.main().Stop()
	trees["late"] = read(p)
	return rewound{p, read, trees, map[string]string{"late": "a.txt b.txt deep/er/one deep/two link old.txt", "early": "a.txt"}, "v3"}
}

// twoTurnsWithoutSnapshots plays two turns that leave only shadow commits.
func twoTurnsWithoutSnapshots(p *play, read func(p *play) string) rewound {
	p.Entire("enable", "--agent", "claude-code", "--no-bands")
	trees := map[string]string{}
	p.Write("kept.txt", "the user's\n")
	p.Write("deep/kept.txt", "the user's\n")
	p.main().Start("startup")
	p.turn("main", "a.txt")
	trees["early"] = read(p)
	p.main().Prompt("Please change things.")
	p.writes("main", "b.txt")
	p.bash("echo 1 > deep/one && chmod 755 a.txt && rm old.txt && ln -s a.txt link && echo more >> README.md")
	p.main().Stop()
	trees["late"] = read(p)
	point := strings.TrimSpace(p.Git("for-each-ref", "--format=%(objectname)", "refs/heads/entire/*-*"))
	point = strings.TrimSpace(p.Git("rev-parse", point+"~1"))
	return rewound{p, read, trees, map[string]string{"late": "README.md a.txt b.txt deep/one link old.txt", "early": "a.txt"}, point}
}

// namesAndContents returns every file of the worktree: names, kinds and contents.
func namesAndContents(p *play) string {
	return listed(p, func(info fs.FileInfo) fs.FileMode { return info.Mode().Type() })
}

// listed returns every file of the worktree: names, the results of modeOf, and contents.
func listed(p *play, modeOf func(fs.FileInfo) fs.FileMode) string {
	p.TB.Helper()
	var lines []string
	err := filepath.Walk(p.top, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(p.top, path)
		if name == ".git" || name == ".entire" {
			return filepath.SkipDir
		}
		line := name + " " + modeOf(info).String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += string(data)
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += target
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		p.TB.Fatalf("read tree: %v", err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
