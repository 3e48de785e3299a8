package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// bench is one run.
type bench struct {
	options
	template string
	work     string
	progress io.Writer
	failed   error
	order    []string                    // of the rows
	cells    map[string]map[string]*cell // by row and tool
}

// cell is what one tool took for one row.
type cell struct {
	ms   []float64
	peak int64 // KiB
	size bool  // it is MB, not ms
}

func (b *bench) cell(row, tool string) *cell {
	if b.cells[row] == nil {
		b.cells[row] = map[string]*cell{}
		b.order = append(b.order, row)
	}
	if b.cells[row][tool] == nil {
		b.cells[row][tool] = &cell{}
	}
	return b.cells[row][tool]
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
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = usage.Maxrss
		if runtime.GOOS == "darwin" {
			peak >>= 10 // it is in bytes there
		}
	}
	return ms, peak, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// time measures one process for a cell.
func (b *bench) time(row, tool string, c command) {
	b.Helper()
	ms, peak, err := c.run()
	b.must(err)
	at := b.cell(row, tool)
	at.ms, at.peak = append(at.ms, ms), max(at.peak, peak)
	b.Logf("%-28s %-8s %9.1f ms", row, tool, ms)
}

// do runs what isn't measured.
func (b *bench) do(c command) {
	b.Helper()
	_, _, err := c.run()
	b.must(err)
}

// shell runs a line of shell in the folder of this run.
func (b *bench) shell(line string) {
	b.Helper()
	b.do(command{b.work, b.env(), "/bin/sh", []string{"-c", line}})
}

// settle lets nothing of what was done before fall on what is measured next.
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
