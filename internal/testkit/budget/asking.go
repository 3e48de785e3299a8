package main

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// What is asked about lines, turns and moments.

const (
	longFile    = 5000 // lines
	longHistory = 1000 // commits
	// The checkpoints record the lines of recordedFile, but not those of plainFile, which the same
	// commits change.
	recordedFile, plainFile = "recorded.go", "plain.go"
)

// lines compares blame with git's own.
func lines(b *bench, rows []*row) {
	from := b.template("lines", func(path string) { b.imported(path, (*importer).longFiles) })
	dir := filepath.Join(b.work, "lines")
	testkit.Call{Dir: b.work, Env: b.env, Name: "cp", Args: []string{"-a", from, dir}}.Must(b)
	b.slim()
	git := func(args ...string) sample {
		args = append([]string{"blame", "--incremental", "-M", "-C"}, args...)
		return b.time(testkit.Call{Dir: dir, Env: b.env, Name: "git", Args: args})
	}
	ours := func(args ...string) sample {
		return b.time(testkit.Call{Dir: dir, Env: b.env, Name: "entire", Args: args})
	}
	// Each call takes seconds.
	for n := range (b.runs+2)/3 + 1 {
		whole, plain, part, one := git(recordedFile), git(plainFile), git("-L", "2500,2519", recordedFile), git("-L", "2500,2500", recordedFile)
		took := []sample{
			ours("blame", "--no-pager", recordedFile), ours("blame", "--no-pager", plainFile),
			ours("blame", "--no-pager", "-L", "2500,2519", recordedFile), ours("why", "--no-pager", recordedFile+":2500"),
		}
		if n == 0 {
			continue
		}
		for i, base := range []sample{whole, plain, part, one} {
			rows[i].add(took[i], base.ms)
			rows[i].baseCPU = append(rows[i].baseCPU, base.cpu)
		}
	}
	b.Must(os.RemoveAll(dir))
}

// longFiles imports two files that many commits change, five lines per commit.
func (im *importer) longFiles() {
	const each = 5
	texts := map[string][]string{}
	for _, name := range []string{recordedFile, plainFile} {
		for range longFile {
			texts[name] = append(texts[name], im.statement())
		}
	}
	all := map[string]string{}
	for name, list := range texts {
		all[name] = strings.Join(list, "")
	}
	tip := im.commit("refs/heads/main", "initial import", all, 0)
	shadow := im.commit("refs/heads/entire/checkpoints/v1", "Initialize metadata branch", nil, 0)
	for n := range longHistory - 1 {
		changed := map[string]string{}
		at := map[string]int{}
		for _, name := range []string{recordedFile, plainFile} {
			at[name] = im.rng.IntN(longFile - each)
			for i := range each {
				texts[name][at[name]+i] = im.statement()
			}
			changed[name] = strings.Join(texts[name], "")
		}
		id := fmt.Sprintf("%012x", im.rng.Uint64()>>16)
		first := at[recordedFile] + 1
		ranges := fmt.Sprintf("%d-%d", first, first+each-1)
		content := changed[recordedFile]
		blob := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
		lines := testkit.Object{
			"calculated_at", time.Unix(im.at, 0).UTC().Format(time.RFC3339), "agent_lines", each, "total_committed", 2 * each,
			"human_modified", each, "session_lines", each, "turns",
			[]any{testkit.Object{"id", id, "line", 1, "title", "Change it " + strconv.Itoa(n)}},
			"writers",
			[]any{testkit.Object{"turn", 0}},
			"files",
			[]any{testkit.Object{"path", recordedFile, "agent_ranges", ranges, "blob", hex.EncodeToString(blob[:]), "written", "0=" + ranges}},
		}
		shadow = im.checkpoint(record{id: id, touched: map[string]string{recordedFile: content}, talk: shortTalk / 20, lines: lines}, shadow)
		tip = im.commit("refs/heads/main", fmt.Sprintf("change %d\n\nEntire-Checkpoint: %s", n, id), changed, tip)
	}
}

// statement returns a line of a program.
func (im *importer) statement() string {
	return fmt.Sprintf("x%d = f(y%d, %d)\n", im.rng.IntN(1<<24), im.rng.IntN(1<<16), im.rng.IntN(1<<10))
}

// oneTurn measures a query that adds a turn to the index, and then the same query again.
func oneTurn(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(recordRepo(), "one-turn"), shortTalk)
	ask := func() sample {
		return b.time(testkit.Call{Dir: p.dir, Env: b.env, Name: "entire", Args: []string{"log", "--no-pager", "-n", "5"}})
	}
	ask()
	b.slim()
	for n := range b.runs + 1 {
		p.idle = true
		p.start()
		p.prompt()
		p.work() // a child of the stop would add it to the index
		v := b.version()
		more := ask()
		if said, err := os.ReadFile(filepath.Join(b.work, "out")); err != nil || !strings.Contains(string(said), fmt.Sprintf("Turn %d:", p.turn)) {
			b.Fatalf("the turn isn't in the log (%w):\n%s", err, said)
		}
		again := ask()
		p.stop()
		if n > 0 {
			rows[0].add(more, v)
			rows[1].add(again, v)
		}
	}
	b.Must(os.RemoveAll(p.dir))
}

const manyMoments = 300

// momentCommands returns queries of a store without git.
func momentCommands() []command {
	return []command{
		{"fs log", []string{"fs", "log"}, 40},
		{"fs log, all", []string{"fs", "log", "-n", "0"}, 40},
		{"fs log --path", []string{"fs", "log", "--path", "dir07/f0007.go"}, 40},
		{"fs timeline", []string{"fs", "timeline"}, 40},
		{"fs timeline, all", []string{"fs", "timeline", "-n", "0"}, 0},
		{"fs search", []string{"fs", "search", "moment"}, 40},
		{"fs blame", []string{"fs", "blame", "dir07/f0007.go"}, 40},
	}
}

// moments measures queries of a store in which every checkpoint changed two files.
func moments(b *bench, rows []*row) {
	const files, folders = 2000, 50
	dir := filepath.Join(b.work, "moments")
	name := func(i int) string {
		return filepath.Join(dir, fmt.Sprintf("dir%02d", i%folders), fmt.Sprintf("f%04d.go", i))
	}
	for i := range files {
		b.Must(os.MkdirAll(filepath.Dir(name(i)), 0o755))
		b.Must(os.WriteFile(name(i), []byte(strings.Repeat(fmt.Sprintf("line of file %d\n", i), 40)), 0o644)) //nolint:mnd // some lines
	}
	entire := func(args ...string) testkit.Call { return testkit.Call{Dir: dir, Env: b.env, Name: b.bin, Args: args} }
	entire("fs", "manage", dir, "--name", "moments").Must(b)
	for n := range manyMoments {
		for _, i := range []int{n % files, 7} {
			text, err := os.ReadFile(name(i))
			b.Must(err)
			b.Must(os.WriteFile(name(i), fmt.Appendf(text, "moment %d\n", n), 0o644)) //nolint:gosec // in the run's own folder
		}
		entire("fs", "checkpoint", "create", fmt.Sprintf("moment %d", n), "--agent", "claude-code", "--action", "Edit").Must(b)
	}
	b.slim()
	for n := range b.runs + 1 {
		for i, c := range momentCommands() {
			v := b.version()
			if s := b.time(testkit.Call{Dir: dir, Env: b.env, Name: "entire", Args: c.args}); n > 0 {
				rows[i].add(s, v)
			}
		}
	}
	b.Must(os.RemoveAll(dir))
}
