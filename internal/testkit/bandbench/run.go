package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// bench is one run.
type bench struct {
	options
	testkit.Measurement
	template string
	work     string
	table    table
}

// measure runs every scenario that has a wanted row and prints the table.
func measure(o options, out, progress io.Writer) error {
	template, err := template(o, progress)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(o.cache, "work-")
	if err != nil {
		return fmt.Errorf("make a place to work: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // it is in the cache
	b := &bench{
		options: o, Measurement: testkit.Measurement{Progress: progress}, template: template, work: work,
		table: table{cells: map[string]map[string]*cell{}},
	}
	if err := b.Do(b.all); err != nil {
		return err
	}
	if o.json {
		return testkit.PrintJSON(out, b.table.results())
	}
	b.table.printTable(out)
	return nil
}

// command is one process to measure.
type command struct {
	dir  string
	env  testkit.Env
	name string
	args []string
}

func (c command) run() (ms float64, peak int64, err error) {
	cmd := exec.Command(c.name, c.args...)
	cmd.Dir, cmd.Env = c.dir, c.env.With("PWD="+c.dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err = cmd.Run()
	ms = milliseconds(time.Since(began))
	if err != nil {
		return 0, 0, fmt.Errorf("%s %q: %w\n%s", c.name, c.args, err, out.Bytes())
	}
	return ms, testkit.PeakMemory(cmd.ProcessState), nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// time measures one process for a cell.
func (b *bench) time(row, tool string, c command) {
	b.Helper()
	ms, peak, err := c.run()
	b.Must(err)
	at := b.table.cell(row, tool)
	at.ms, at.peak = append(at.ms, ms), max(at.peak, peak)
	b.Logf("%-28s %-8s %9.1f ms", row, tool, ms)
}

// do runs a command without measuring it.
func (b *bench) do(c command) {
	b.Helper()
	_, _, err := c.run()
	b.Must(err)
}

// shell runs a shell command in the folder of this run.
func (b *bench) shell(line string) {
	b.Helper()
	b.do(command{b.work, b.env(), "/bin/sh", []string{"-c", line}})
}

// settle syncs the disks, so that earlier writes don't slow down the next measurement.
func (b *bench) settle() { b.shell("sync") }

func (b *bench) env() testkit.Env {
	return testkit.CleanEnv(filepath.Join(b.work, "home"), filepath.Join(b.work, "tmp"), "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin")
}

func (b *bench) wanted(row string) bool { return b.rows.MatchString(row) }

// has reports whether a tool is to be measured.
func (b *bench) has(tool string) bool {
	if slices.Contains(b.without, tool) {
		return false
	}
	switch tool {
	case restic, borg:
		_, err := exec.LookPath(tool)
		return err == nil
	default:
		return true
	}
}
