package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// The compared tools.
const (
	ours   = "agentfs"
	restic = "restic"
	borg   = "borg"
	cpA    = "cp -a"
	cpAL   = "cp -al"
	walk   = "walk" // only a stat of all entries, on all processors
)

// The rows.
const (
	rowFirst     = "first snapshot"
	rowChanged   = "one changed file"
	rowUnchanged = "nothing changed"
	rowRestore   = "restore 1,000 files, verified"
	rowModules   = "restore all of node_modules"
	rowSize      = "size of the store"
	rowEarly     = "snapshots 1-100 of many"
	rowLate      = "the last 100 of them"
	rowManySize  = "size of their store"
)

// all runs the scenarios of the wanted rows. The tools alternate, so that no tool gets all quiet
// minutes.
func (b *bench) all() {
	b.Must(os.MkdirAll(filepath.Join(b.work, "home"), 0o700))
	b.Must(os.MkdirAll(filepath.Join(b.work, "tmp"), 0o700))
	b.Logf("copying the tree")
	b.do(command{b.work, b.env(), "cp", []string{"-a", b.template, b.tree()}})
	b.settle()
	if b.wanted(rowFirst) {
		b.first()
	}
	if b.wanted(rowChanged) || b.wanted(rowUnchanged) || b.wanted(rowSize) {
		b.incremental()
	}
	if b.wanted(rowRestore) {
		b.thousand()
	}
	if b.wanted(rowModules) {
		b.modules()
	}
	if b.snapshots > 0 {
		b.many()
	}
}

func (b *bench) tree() string { return filepath.Join(b.work, "tree") }

// walks measures the bare walk, in this process.
func (b *bench) walks(row string) {
	b.Helper()
	began := time.Now()
	_, err := treetest.CountTree(b.tree(), runtime.NumCPU())
	b.Must(err)
	at := b.table.cell(row, walk)
	at.ms = append(at.ms, milliseconds(time.Since(began)))
}

// first measures first snapshots, each in a store of its own.
func (b *bench) first() {
	for range b.runs {
		for _, p := range b.peers() {
			b.shell("rm -rf store-" + p.tool + " && rm -f tree/.agentfs")
			p.prepare(b)
			b.settle()
			b.time(rowFirst, p.tool, p.snapshot(b))
		}
	}
	// Copies as first snapshots.
	for _, tool := range []string{cpA, cpAL} {
		if !b.has(tool) {
			continue
		}
		for range b.runs {
			b.settle()
			b.time(rowFirst, tool, command{b.work, b.env(), "cp", []string{tool[len("cp "):], "tree", "copy"}})
			b.shell("rm -rf copy")
		}
	}
}

// stored returns the tools, each with a store that has a snapshot.
func (b *bench) stored() []peer {
	peers := b.peers()
	for _, p := range peers {
		if _, err := os.Stat(filepath.Join(b.work, "store-"+p.tool)); err == nil {
			continue
		}
		p.prepare(b)
		b.do(p.snapshot(b))
	}
	return peers
}

// incremental measures snapshots of a tree with one changed file, and with none.
func (b *bench) incremental() {
	peers := b.stored()
	for run := range b.runs {
		for _, p := range peers {
			b.change(1, run)
			b.settle()
			b.walks(rowChanged)
			b.time(rowChanged, p.tool, p.snapshot(b))
			b.settle()
			b.walks(rowUnchanged)
			b.time(rowUnchanged, p.tool, p.again(b))
		}
	}
	for _, p := range peers {
		at := b.table.cell(rowSize, p.tool)
		at.size, at.ms = true, []float64{b.allocated("store-" + p.tool)}
	}
}

// change appends to the first n sources.
func (b *bench) change(n, run int) {
	b.Helper()
	for i := range n {
		path := filepath.Join(b.tree(), "src", fmt.Sprintf("part%02d", i/20), fmt.Sprintf("file%03d.ts", i)) //nolint:mnd // as generated
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		b.Must(err)
		_, err = fmt.Fprintf(f, "// changed in run %d at %d\n", run, time.Now().UnixNano())
		b.Must(err)
		b.Must(f.Close())
	}
}

// thousand measures the restore of a thousand changed files.
func (b *bench) thousand() {
	b.stored()
	for run := range b.runs {
		version := b.take()
		b.change(sources, run)
		b.settle()
		b.walks(rowRestore)
		b.time(rowRestore, ours, b.agentfs("restore", version, "-f"))
	}
}

// modules measures the restore of a removed node_modules.
func (b *bench) modules() {
	peers := b.stored()
	version := b.take()
	for _, p := range peers[1:] {
		b.do(p.snapshot(b))
	}
	for range b.runs {
		b.shell("rm -rf tree/node_modules")
		b.settle()
		b.time(rowModules, ours, b.agentfs("restore", version, "-f"))
		for _, p := range peers[1:] {
			b.shell("mkdir -p back")
			b.settle()
			b.time(rowModules, p.tool, p.extract(b))
			b.shell("rm -rf back")
		}
		if b.has(cpA) {
			b.settle()
			b.time(rowModules, cpA, command{b.work, b.env(), "cp", []string{"-a", "tree/node_modules", "back"}})
			b.shell("rm -rf back")
		}
	}
}

// many takes many snapshots of a small tree.
func (b *bench) many() {
	const edge = 100
	b.shell("rm -rf store-agentfs many && mkdir -p many && cp -a tree/src/part0* many/")
	home := b.env().With("AGENTFS_HOME=" + filepath.Join(b.work, "store-agentfs"))
	dir := filepath.Join(b.work, "many")
	b.do(command{b.work, home, b.bin, []string{"init", "many", "--mount", dir, "--size", "1G"}})
	b.Logf("%d snapshots", b.snapshots)
	for i := range b.snapshots {
		text := []byte("// snapshot " + strconv.Itoa(i) + "\n")
		b.Must(os.WriteFile(filepath.Join(dir, "part00", "file000.ts"), text, 0o644))
		c := command{b.work, home, b.bin, []string{"--store", "many", "checkpoint", "--auto"}}
		row := rowEarly
		if i >= edge {
			row = rowLate
		}
		if i >= edge && i < b.snapshots-edge {
			b.do(c)
			continue
		}
		ms, peak, err := c.run()
		b.Must(err)
		at := b.table.cell(row, ours)
		at.ms, at.peak = append(at.ms, ms), max(at.peak, peak)
	}
	at := b.table.cell(rowManySize, ours)
	at.size, at.ms = true, []float64{b.allocated("store-agentfs")}
}
