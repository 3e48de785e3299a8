package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// command is an interactive command, with its budget in v.
type command struct {
	name   string
	args   []string
	budget float64
}

// middle is a commit in the middle of the history.
const middle = "main~1000"

// readings returns the commands that read the record of a repository. "ID" is replaced by the
// checkpoint of a commit in the middle of its history, "FILE" by a file that it changed.
func readings() []command {
	return []command{
		{"explain", []string{"explain", "--no-pager"}, 46},
		{"explain -c", []string{"explain", "--no-pager", "-c", "ID"}, 31},
		{"rewind --list", []string{"rewind", "--list"}, 23},
		{"status", []string{"status"}, 19},
		{"clean, preview", []string{"clean"}, 62},
		{"doctor", []string{"doctor"}, 230},
		{"resume without checkout", []string{"resume", "ID"}, 46},
		{"search", []string{"search", "--no-pager", "change", "parser"}, 40},
		{"log", []string{"log", "--no-pager", "--commands"}, 40},
		{"log --file", []string{"log", "--no-pager", "--file", "pkg01"}, 40},
		{"usage", []string{"usage", "--no-pager"}, 40},
		{"usage --per file", []string{"usage", "--no-pager", "--per", "file"}, 40},
		{"why, a line", []string{"why", "--no-pager", "FILE:3"}, 40},
		{"why, a commit", []string{"why", "--no-pager", middle}, 40},
		{"blame, a file of 40 lines", []string{"blame", "--no-pager", "FILE"}, 40},
	}
}

func recordRepo() history {
	return history{name: "record", files: 36_001, commits: 2001, checkpoints: 2000, talk: 20_000}
}

// reading measures each command in a repository with a long record, and in one with as many
// checkpoints and longer transcripts.
func reading(b *bench, rows []*row) {
	fat := history{name: "fat-record", files: 36_001, commits: 2001, checkpoints: 2000, talk: 350_000}
	little, much := b.enabled(recordRepo(), "record"), b.enabled(fat, "fat-record")
	b.slim()
	for i, c := range readings() {
		for n := range b.runs + 1 {
			v := b.version()
			few, many := b.reads(little, c), b.reads(much, c)
			if n == 0 {
				continue
			}
			rows[i].add(few, v)
			r := rows[len(readings())+i]
			r.add(many, 0)
			r.base, r.baseCPU = append(r.base, few.ms), append(r.baseCPU, few.cpu)
		}
	}
	b.Must(os.RemoveAll(little))
	b.Must(os.RemoveAll(much))
}

// reads measures a command once, without transcripts of sessions in the agent's folder.
func (b *bench) reads(dir string, c command) sample {
	args := make([]string, len(c.args))
	for i, arg := range c.args {
		if arg == "ID" {
			arg = strings.TrimSpace(b.git(dir, "log", "-1", "--format=%(trailers:key=Entire-Checkpoint,valueonly)", middle))
		}
		if strings.HasPrefix(arg, "FILE") {
			file, _, _ := strings.Cut(b.git(dir, "log", "-1", "--format=", "--name-only", middle), "\n")
			arg = file + strings.TrimPrefix(arg, "FILE")
		}
		args[i] = arg
	}
	old, err := filepath.Glob(filepath.Join(b.claude, "*.jsonl"))
	b.Must(err)
	for _, path := range old {
		b.Must(os.Remove(path))
	}
	return b.time(testkit.Call{Dir: dir, Env: b.env, Name: "entire", Args: args})
}
