// Command bandbench measures snapshots and restores of a large tree, as whole
// processes, beside what others take for the same: restic, borg, cp. Tools that
// aren't installed are left out. A budget is a ratio within one run.
//
// The generated tree is kept in the folder -cache; what a run works on is
// removed. Run it on a machine that does nothing else.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

type options struct {
	bin, cache string
	rows       *regexp.Regexp
	without    []string
	runs       int
	files      int
	megabytes  int
	snapshots  int
	json       bool
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bandbench:", err)
		os.Exit(2) //nolint:mnd // wrong usage
	}
	if err := measure(o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bandbench:", err)
		os.Exit(1)
	}
}

func parse(args []string, usage io.Writer) (options, error) {
	var o options
	var rows, without string
	f := flag.NewFlagSet("bandbench", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&o.bin, "bin", "bin/agentfs", "the program to measure")
	f.StringVar(&o.cache, "cache", filepath.Join(os.TempDir(), "entire-bandbench"), "folder for the tree and for what a run works on")
	f.StringVar(&rows, "rows", "", "measure only rows that match this regular expression")
	f.StringVar(&without, "without", "", "tools to leave out, separated by commas: restic, borg, cp -a, cp -al")
	f.IntVar(&o.runs, "n", 5, "number of measurements of each cell")
	f.IntVar(&o.files, "files", 70000, "files in the tree")                                        //nolint:mnd // the default
	f.IntVar(&o.megabytes, "mb", 600, "size of the tree in MB")                                    //nolint:mnd // the default
	f.IntVar(&o.snapshots, "snapshots", 0, "also take so many snapshots of a small tree in a row") // 10,000 take minutes
	f.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.runs < 1 || o.files < leastFiles || o.megabytes < 1 || f.NArg() > 0 {
		return o, fmt.Errorf("-n and -mb must be positive, -files at least %d, and there are no arguments", leastFiles)
	}
	o.without = strings.Split(without, ",")
	var err error
	if o.rows, err = regexp.Compile(rows); err != nil {
		return o, fmt.Errorf("-rows: %w", err)
	}
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return o, fmt.Errorf("-bin: %w", err)
	}
	if _, err = os.Stat(o.bin); err != nil {
		return o, fmt.Errorf("-bin: %w", err)
	}
	if o.cache, err = filepath.Abs(o.cache); err != nil {
		return o, fmt.Errorf("-cache: %w", err)
	}
	return o, nil
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
	b := &bench{options: o, template: template, work: work, progress: progress, cells: map[string]map[string]*cell{}}
	done := make(chan struct{})
	go func() { // of its own, so that Fatalf can end it and what is deferred still runs
		defer close(done)
		b.all()
	}()
	<-done
	if b.failed != nil {
		return b.failed
	}
	if o.json {
		return b.printJSON(out)
	}
	b.printTable(out)
	return nil
}

// Helper is part of testkit.TB.
func (b *bench) Helper() {}

// Logf reports progress.
func (b *bench) Logf(format string, args ...any) { fmt.Fprintf(b.progress, format+"\n", args...) }

// Fatalf ends the measurement.
func (b *bench) Fatalf(format string, args ...any) {
	if b.failed == nil {
		b.failed = fmt.Errorf(format, args...)
	}
	runtime.Goexit()
}

// must ends the measurement if something failed.
func (b *bench) must(err error) {
	if err != nil {
		b.Fatalf("%w", err)
	}
}
